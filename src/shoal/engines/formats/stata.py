"""Stata files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from shoal.engines.formats.labelled import LabelledFormat, refuse_names

RESERVED = frozenset(
    [
        "_all",
        "_b",
        "_coef",
        "_cons",
        "_n",
        "_N",
        "_pi",
        "_pred",
        "_rc",
        "_skip",
        "aggregate",
        "byte",
        "double",
        "float",
        "if",
        "in",
        "int",
        "long",
        "numeric",
        "str",
        "strL",
        "using",
        "with",
    ]
)
NAME = re.compile(r"[^\W\d]\w{0,31}")
VERSION = 15
"""Files that Stata 14 and later read; names and labels are UTF-8."""
STAMP, NO_TIME = b"<timestamp>", b"01 Jan 2000 00:00"


class Stata(LabelledFormat):
    """Stata files (.dta), with variable labels and value labels."""

    endings: ClassVar[tuple[str, ...]] = (".dta",)
    title: ClassVar[str] = "a Stata file"
    in_parts: ClassVar[tuple[str, ...]] = (".dta",)

    def reader(self, path: Path) -> Callable[..., Any]:  # noqa: ARG002
        """The function of the library that reads a file."""
        import pyreadstat

        return pyreadstat.read_dta

    def check_columns(self, path: Path, names: Sequence[str], rows: int | None = None) -> None:  # noqa: ARG002
        """Raise `InputError` for names that Stata does not allow."""
        bad = [
            name
            for name in names
            if not NAME.fullmatch(name) or name in RESERVED or re.fullmatch(r"str\d+", name)
        ]
        rule = (
            "a name has up to 32 letters, digits and _, begins with no digit, and is no word of "
            "Stata's."
        )
        refuse_names(path, bad, "Stata", rule)

    def write_frame(
        self,
        path: Path,
        frame: Any,
        labels: dict[str, str],
        values: dict[str, dict[int, str]],
    ) -> None:
        """Write a frame with variable labels and value labels."""
        import pyreadstat

        pyreadstat.write_dta(
            frame,
            str(path),
            column_labels=labels,
            version=VERSION,
            variable_value_labels=values,
        )
        # the same release is the same file, whenever it is written
        with path.open("r+b") as stream:
            head = stream.read(4096)
            at = head.find(STAMP)
            if at >= 0 and head[at + len(STAMP)] == len(NO_TIME):
                stream.seek(at + len(STAMP) + 1)
                stream.write(NO_TIME)
