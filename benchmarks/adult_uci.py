"""The complete rows of the Adult table as its archive ships it, for L-clustering.

`SHOAL_ADULT_UCI` names the folder with `adult.data` and `adult.test`.
"""

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.encoding.cells import Cells, build_cells
from shoal.encoding.columns import ColumnSpec, encode_quasi, encode_sensitive

PLACES = {
    "age": 0,
    "sex": 9,
    "race": 8,
    "marital-status": 5,
    "education": 3,
    "native-country": 13,
    "workclass": 1,
    "salary-class": 14,
}
SENSITIVE = ("occupation", 6)


def rows() -> pa.Table:
    """45,222 rows: the eight quasi-identifiers in the paper's order, and occupation."""
    named = os.environ.get("SHOAL_ADULT_UCI", "")
    if not (Path(named) / "adult.data").exists():
        sys.exit("Set SHOAL_ADULT_UCI to the folder that holds adult.data and adult.test.")
    found = []
    for name in ("adult.data", "adult.test"):
        with (Path(named) / name).open(newline="") as file:
            found += [
                [cell.strip().rstrip(".") for cell in line]
                for line in csv.reader(file)
                if len(line) == 15
            ]
    found = [line for line in found if "?" not in line]
    columns = {name: pa.array([line[at] for line in found]) for name, at in PLACES.items()}
    columns["age"] = columns["age"].cast(pa.int64())
    columns[SENSITIVE[0]] = pa.array([line[SENSITIVE[1]] for line in found])
    return pa.table(columns)


def like(table: pa.Table, n: int, seed: int = 0) -> pa.Table:
    """n rows drawn from a table: with replacement where it has fewer, and then each value of a row is
    drawn anew one time in ten, so that rows do not just repeat."""
    rng = np.random.default_rng(seed)
    if n <= table.num_rows:
        return table.take(pa.array(np.sort(rng.permutation(table.num_rows)[:n])))
    picked = rng.integers(0, table.num_rows, n)
    columns = {}
    for name in table.column_names:
        anew = rng.random(n) < 0.1
        at = np.where(anew, rng.integers(0, table.num_rows, n), picked)
        columns[name] = table[name].take(pa.array(at))
    return pa.table(columns)


def cells_of(table: pa.Table, d: int) -> Cells:
    """The first d columns as quasi-identifiers, age ordered, the others as sets."""
    quasi = [
        encode_quasi(
            name,
            table[name].combine_chunks(),
            ColumnSpec("ordered" if name == "age" else "unordered"),
        )
        for name in list(PLACES)[:d]
    ]
    sensitive = {SENSITIVE[0]: encode_sensitive(SENSITIVE[0], table[SENSITIVE[0]].combine_chunks())}
    return build_cells(quasi, sensitive, [], 0)


def plain_input(cells: Cells) -> tuple[np.ndarray, ...]:
    """What `plain_clusters.l_clusters` takes: flags, values, sensitive codes and their number."""
    codes = np.repeat(cells.codes, cells.counts, axis=0).astype(np.float64)
    ordered = np.array([domain.units is not None for domain in cells.domains])
    for j in np.flatnonzero(ordered):
        codes[:, j] = cells.domains[j].units[codes[:, j].astype(np.int64)]
    sensitive = cells.sensitive[SENSITIVE[0]].astype(np.int64)
    return ordered, codes, sensitive, cells.sensitive_domains[SENSITIVE[0]].size
