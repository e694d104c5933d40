"""Cells of a release that a spreadsheet would run: counted, and refused where they should be escaped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.formats.base import format_of
from shoal.engines.formats.csv import Csv
from shoal.engines.release_table import ReleaseTable
from shoal.engines.sessions import NOT_IN_SPARK
from shoal.errors import PolicyError, VerificationFailed, counted, listed
from shoal.io.csv_dialect import CsvOptions
from shoal.io.formulas import is_run
from shoal.policy import Policy
from shoal.presets.base import ValueCheck

BATCH = 1 << 16
BEGINS = np.array([is_run(chr(i)) for i in range(256)])
"""(256,) whether a text that begins with a byte may be run; all such characters are ASCII."""


@dataclass(frozen=True)
class NoFormula(ValueCheck):
    """No text of a column would be run by a spreadsheet."""

    rule: str
    column: str

    def broken(self, texts: Sequence[str]) -> list[bool]:
        """Whether each of some different texts would be run."""
        return [is_run(text) for text in texts]

    def may_break(self, texts: pa.Array) -> bool:
        """Whether the first byte of some text is one of those that formulas begin with."""
        _, offsets, data = texts.buffers()
        if data is None or not len(texts):
            return False
        ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
        first = np.frombuffer(data, np.uint8)[ends[:-1][ends[:-1] < ends[1:]]]
        return bool(BEGINS[first].any())

    @property
    def words(self) -> str:
        """What is wrong with such texts."""
        return "texts that a spreadsheet would run as formulas"


def check_formulas(
    table: ReleaseTable, policy: Policy, files: Sequence[Path], options: CsvOptions
) -> list[str]:
    """Warnings about cells and names in CSV files that a spreadsheet would run.

    Where the policy has them escaped, the files are read as they are: raises `VerificationFailed` for
    one that is not.
    """
    tables = [table, *table.sensitive_tables.values()]
    csv = [
        (one, file)
        for one, file in zip(tables, files, strict=False)
        if isinstance(format_of(file), Csv)
    ]
    if policy.formulas == "escaped":
        if any(file.is_dir() for _, file in csv):
            raise PolicyError(NOT_IN_SPARK)
        found = [formulas_in(file, options) for _, file in csv]
        if left := {name: n for one in found for name, n in one.items() if n}:
            raise VerificationFailed(
                f"Cells of {listed(map(repr, left))} would be run by a spreadsheet, although the policy "
                "has `formulas: escaped`."
            )
        return []
    cells: dict[str, int] = {}
    for one, _ in csv:
        checks = [NoFormula("formulas", name) for name in one.names]
        for check, rows in one.broken_rows(checks).items():
            if rows:
                cells[check.column] = cells.get(check.column, 0) + rows
    names = sum(is_run(name) for one, _ in csv for name in one.names)
    return _warnings(cells, names)


def formulas_in(file: Path, options: CsvOptions) -> Mapping[str, int]:
    """Per column of a CSV file as any program reads it, the cells that a spreadsheet would run, and its
    name."""
    kind, plain = format_of(file), replace(options, formulas=False)
    names = kind.names(file, plain)
    found = {name: int(is_run(name)) for name in names}
    for batch in kind.batches(file, plain, names, BATCH):
        for name in names:
            counts = pc.value_counts(batch.column(name).drop_null())
            for text, times in zip(*(counts.field(i).to_pylist() for i in (0, 1)), strict=True):
                found[name] += times * is_run(text)
    return found


def _warnings(cells: Mapping[str, int], names: int) -> list[str]:
    if not cells and not names:
        return []
    where = [f"{n:,} in '{name}'" for name, n in cells.items()]
    heads = [counted(names, "column name")] if names else []
    return [
        "A spreadsheet that opens the release would run cells that begin with = + - @, a tab or a "
        f"return: {listed([*where, *heads])}. Write them as texts with `formulas: escaped` in the "
        "policy, or with --escape-formulas."
    ]
