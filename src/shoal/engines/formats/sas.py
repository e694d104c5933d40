"""SAS files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from shoal.engines.formats.labelled import LabelledFormat
from shoal.io.paths import ending_of


class Sas(LabelledFormat):
    """SAS files (.sas7bdat) and transport files (.xpt), which are read and not written.

    SAS keeps value labels in a catalogue apart from the table, so values are read by their codes.
    """

    endings: ClassVar[tuple[str, ...]] = (".sas7bdat", ".xpt")
    written: ClassVar[tuple[str, ...]] = ()
    title: ClassVar[str] = "a SAS file"
    counts_seconds: ClassVar[bool] = True
    in_parts: ClassVar[tuple[str, ...]] = (".sas7bdat", ".xpt")

    def reader(self, path: Path) -> Callable[..., Any]:
        """The function of the library that reads a file."""
        import pyreadstat

        xpt = ending_of(path) == ".xpt"
        return pyreadstat.read_xport if xpt else pyreadstat.read_sas7bdat
