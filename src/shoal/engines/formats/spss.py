"""SPSS files."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.formats.labelled import LabelledFormat, refuse_names
from shoal.io.paths import ending_of

RESERVED = frozenset(
    ["ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"]
)
NAME = re.compile(r"[^\W\d_][\w.$#@]*(?<![._])")
LONGEST_NAME, LONGEST_LABEL = 64, 120
TIME_AT, NO_TIME = 92, b"01 Jan 0000:00:00"
"""Where the header has the day and the time, and what is written there."""


class Spss(LabelledFormat):
    """SPSS files (.sav, .zsav, .por), with variable labels, value labels and missing codes."""

    endings: ClassVar[tuple[str, ...]] = (".sav", ".zsav", ".por")
    written: ClassVar[tuple[str, ...]] = (".sav", ".zsav")
    title: ClassVar[str] = "an SPSS file"
    counts_seconds: ClassVar[bool] = True
    in_parts: ClassVar[tuple[str, ...]] = (".sav", ".zsav")

    def reader(self, path: Path) -> Callable[..., Any]:
        """The function of the library that reads a file."""
        import pyreadstat

        return pyreadstat.read_por if ending_of(path) == ".por" else pyreadstat.read_sav

    def longest_label(self) -> int:
        """The most bytes of a value label."""
        return LONGEST_LABEL

    def text_as_written(self, texts: pa.Array) -> pa.Array:
        """SPSS fills texts up with blanks, so none are left at their end."""
        return pc.utf8_rtrim(texts, " ")

    def check_columns(self, path: Path, names: Sequence[str], rows: int | None = None) -> None:  # noqa: ARG002
        """Raise `InputError` for names that SPSS does not allow."""
        folded = [name.casefold() for name in names]
        bad = [
            name
            for name in names
            if not NAME.fullmatch(name)
            or len(name.encode()) > LONGEST_NAME
            or name.upper() in RESERVED
            or folded.count(name.casefold()) > 1
        ]
        rule = (
            "a name has up to 64 bytes of letters, digits and . _ $ # @, begins with a letter, is no "
            "word of SPSS's, and differs from others in more than upper and lower case."
        )
        refuse_names(path, bad, "SPSS", rule)

    def write_frame(
        self,
        path: Path,
        frame: Any,
        labels: dict[str, str],
        values: dict[str, dict[int, str]],
    ) -> None:
        """Write a frame with variable labels and value labels."""
        import pyreadstat

        pyreadstat.write_sav(
            frame,
            str(path),
            column_labels=labels,
            compress=ending_of(path) == ".zsav",
            row_compress=ending_of(path) == ".sav",
            variable_value_labels=values,
        )
        # the same release is the same file, whenever it is written
        with path.open("r+b") as stream:
            stream.seek(TIME_AT)
            stream.write(NO_TIME)
