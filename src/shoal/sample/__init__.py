"""The sample: a made-up hospital table, a policy that explains itself, and the hierarchy it uses."""

import csv
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from shoal.errors import InputError, listed

ROWS = 10_000
SEED = 7


@dataclass(frozen=True)
class SamplePaths:
    """The files of a sample."""

    table: Path
    """The hospital table."""
    policy: Path
    """Its policy, with hierarchies in files beside it."""
    personal: Path
    """Another one, which respects people's own preferences."""
    hierarchies: tuple[Path, ...]
    """The hierarchy files that the policy names."""

    def __iter__(self) -> Iterator[Path]:
        return iter((self.table, self.policy, self.personal, *self.hierarchies))


def paths_in(folder: Path) -> SamplePaths:
    """The paths of the files that `write_sample` writes into a folder."""
    return SamplePaths(
        folder / "hospital.csv",
        folder / "policy.yaml",
        folder / "personal.yaml",
        (folder / "hierarchies" / "education.csv",),
    )


def write_sample(
    folder: str | Path, rows: int = ROWS, seed: int = SEED, *, force: bool = False
) -> SamplePaths:
    """Write the hospital table, its policy and the policy's hierarchies into a folder.

    The folder is created if it does not exist. Files of an earlier sample are replaced only with
    `force`, and each is written completely or not at all.
    """
    folder = Path(folder)
    paths = paths_in(folder)
    _check_free(folder, paths, force)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sample-", dir=folder) as scratch:
        made = paths_in(Path(scratch))
        with as_file(files(__name__)) as package:
            shipped = paths_in(package)
            for copy, original in zip(made, shipped, strict=True):
                copy.parent.mkdir(exist_ok=True)
                if original != shipped.table:
                    shutil.copyfile(original, copy)
        _write_table(made.table, rows, seed)
        for final, finished in zip(paths, made, strict=True):
            final.parent.mkdir(exist_ok=True)
            finished.replace(final)
    return paths


def _check_free(folder: Path, paths: SamplePaths, force: bool) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; a sample needs a folder. Name another place.")
    there = [path.name for path in paths if path.exists()]
    if there and not force:
        raise InputError(
            f"{folder} already holds {listed(there)}. Name another folder (--folder), or overwrite "
            "what is there (--force)."
        )


def _write_table(path: Path, rows: int, seed: int) -> None:
    # imported here, so that the paths of the sample can be asked for without loading pyarrow
    from shoal.sample.hospital import hospital

    table = hospital(rows, seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))
