"""The names of files that belong together."""

import re
from collections.abc import Iterable
from pathlib import Path

from shoal.errors import InputError
from shoal.io.formats import ending_of

PAGES, CERTIFICATE = (".html", ".htm"), ".json"
LONGEST = 60
"""Characters of a column's name that go into a file's name."""


def beside(path: Path, columns: Iterable[str]) -> dict[str, Path]:
    """Per sensitive column the file of its values, for a release in `path`.

    `out.csv` has `out.sensitive.csv` beside it, or with several columns `out.disease.csv` and so on.
    What is no letter, digit, `-` or `_` in a column's name is written as `_`; where two names then
    agree, the later one gets a number.
    """
    names = list(columns)
    ending = path.name[len(path.name) - len(ending_of(path)) :]
    stem = path.name.removesuffix(ending)
    words = {names[0]: "sensitive"} if len(names) == 1 else _told_apart(sorted(names))
    return {name: path.with_name(f"{stem}.{words[name]}{ending}") for name in names}


def report_files(path: Path) -> list[Path]:
    """The files of a report: a page and its certificate beside it, or a certificate alone."""
    ending = path.suffix.lower()
    if ending not in (*PAGES, CERTIFICATE):
        found = f"ends in '{path.suffix}'" if path.suffix else "has no ending"
        raise InputError(
            f"{path}: the name of a report {found}. Allowed: .html (the page, with its certificate "
            "beside it as .json) or .json (the certificate alone)."
        )
    return [path, path.with_suffix(CERTIFICATE)] if ending in PAGES else [path]


def is_page(path: Path) -> bool:
    """Whether a report's file is its page."""
    return path.suffix.lower() in PAGES


def _told_apart(names: list[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for name in names:
        short = re.sub(r"[^\w-]", "_", name)[:LONGEST]
        word, number = short, 1
        # some disks take names that differ in case only for one
        while word.lower() in {other.lower() for other in words.values()}:
            number += 1
            word = f"{short}-{number}"
        words[name] = word
    return words
