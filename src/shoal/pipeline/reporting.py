"""Where a report goes; what it holds is the release's own to tell."""

from collections.abc import Sequence
from pathlib import Path

from shoal.drawing.needs import require_drawing
from shoal.errors import InputError
from shoal.io.beside import is_page, report_files
from shoal.policy import Policy


def check_report(path: str | Path | None, policy: Policy) -> list[Path]:
    """The files of a report, none where none is asked for; to be asked before any work."""
    if path is None:
        return []
    files = report_files(Path(path))
    for file in files:
        if file.exists() and Path(policy.read_from).exists() and file.samefile(policy.read_from):
            raise InputError(f"{file} is the policy itself. Write the report to another file.")
    if is_page(files[0]):
        require_drawing("A report as a page (a certificate alone, as a .json file, does not)")
    return files


def write_texts(paths: Sequence[Path], texts: Sequence[str]) -> None:
    """Write the files of a report; `paths` are where they wait for their places."""
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
