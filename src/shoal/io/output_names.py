"""The names of a release's further files: sensitive tables, report and certificate."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.errors import InputError
from shoal.io.address import Place, TableName
from shoal.io.paths import ending_of

PAGES, CERTIFICATE = (".html", ".htm"), ".json"
LONGEST = 60
"""Characters of a column's name that are used in a file's name."""


def sensitive_places(place: Place, columns: Iterable[str]) -> Mapping[str, Place]:
    """Per sensitive column the file or table of its values, for a release in `place`.

    The table `out` is accompanied by `out_sensitive`, or with several columns by `out_disease` and so
    on.
    """
    if isinstance(place, Path):
        return sensitive_paths(place, columns)
    names = list(columns)
    if place.table is None:
        raise InputError(f"{place}: a release of several tables has a name, and is not a query.")
    words = _words(names)
    schema, name = place.table
    return {each: place.beside(TableName(schema, f"{name}_{words[each]}")) for each in names}


def sensitive_paths(path: Path, columns: Iterable[str]) -> dict[str, Path]:
    """Per sensitive column the file of its values, for a release in `path`.

    `out.csv` is accompanied by `out.sensitive.csv`, or with several columns by `out.disease.csv` and
    so on. Other characters than letters, digits, `-` and `_` in a column's name are written as `_`;
    where two names are then equal, the later one gets a number.
    """
    names = list(columns)
    ending = path.name[len(path.name) - len(ending_of(path)) :]
    stem = path.name.removesuffix(ending)
    words = _words(names)
    return {name: path.with_name(f"{stem}.{words[name]}{ending}") for name in names}


def report_files(path: Path) -> list[Path]:
    """The files of a report: a page and its certificate, or a certificate alone."""
    ending = path.suffix.lower()
    if ending not in (*PAGES, CERTIFICATE):
        found = f"has the extension '{path.suffix}'" if path.suffix else "has no extension"
        raise InputError(
            f"{path}: the name of a report {found}. Allowed: .html (the page, with its certificate "
            "next to it as .json) or .json (the certificate alone)."
        )
    return [path, path.with_suffix(CERTIFICATE)] if ending in PAGES else [path]


def is_page(path: Path) -> bool:
    """Whether a report's file is its page."""
    return path.suffix.lower() in PAGES


def _words(names: list[str]) -> dict[str, str]:
    return {names[0]: "sensitive"} if len(names) == 1 else _distinct_names(sorted(names))


def _distinct_names(names: list[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for name in names:
        short = re.sub(r"[^\w-]", "_", name)[:LONGEST]
        word, number = short, 1
        # some file systems do not distinguish names that differ in case only
        while word.lower() in {other.lower() for other in words.values()}:
            number += 1
            word = f"{short}-{number}"
        words[name] = word
    return words
