"""Counts of keys in packages: how many different ones columns of hashes have, and how many occur once.

A key is what the hashes of a set of columns are stirred to. Each batch counts its own keys and sends
those that are alike to one place, so that it matters little how often they repeat.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from shoal.arrays import Ints, Words
from shoal.engines.spark.arrow import Batches
from shoal.engines.spark.packages import Packages, Work, package_of, rows_of

KEYS_TOGETHER = 2_000_000
"""Keys that are counted in one place, about."""
HALF = np.uint64(32)


def keying(sets: tuple[tuple[str, ...], ...], missing: int | None, slots: int) -> Work:
    """The different keys of each set of columns in a batch with the rows of each, in slots by what they
    are; missing: rows with this hash in the first column of the set are left out."""

    def work(batches: Batches) -> Packages:
        from shoal.kernels.hashing import stir

        bounds = np.arange(slots + 1, dtype=np.int64)
        for batch in batches:
            for i, names in enumerate(sets):
                columns = [batch.column(name).to_numpy() for name in names]
                keys = np.zeros(len(batch), np.uint64)
                for column in columns:
                    stir(keys, column.view(np.uint64))
                if missing is not None:
                    keys = keys[columns[0] != missing]
                different, n = counted(keys, None)
                slot = ((different >> HALF) * np.uint64(slots) >> HALF).astype(np.int64)
                ends = np.searchsorted(slot, bounds)
                for at in np.flatnonzero(np.diff(ends)).tolist():
                    mine = slice(ends[at], ends[at + 1])
                    yield package_of(_sent(i, different[mine], n[mine]), at)

    return work


def _sent(i: int, keys: Words, n: Ints) -> pa.Table:
    """Keys of the i-th set and the rows of each, which are left out where every key has one."""
    columns = [keys.view(np.int64)] if (n == 1).all() else [keys.view(np.int64), n]
    return pa.table([pa.array(one) for one in columns], names=[f"{i}", "n"][: len(columns)])


def counted(keys: Words, n: Ints | None) -> tuple[Words, Ints]:
    """Different keys in order, and the sum of n for each; without n the number of times it occurs."""
    order = None if n is None else np.argsort(keys)
    keys = np.sort(keys) if order is None else keys[order]
    starts = np.flatnonzero(np.append(len(keys) > 0, keys[1:] != keys[:-1])[: len(keys)])
    if n is None or order is None:
        return keys[starts], np.diff(starts, append=len(keys))
    return keys[starts], np.add.reduceat(n[order], starts) if len(starts) else n


def uniqueness(batches: Batches) -> Packages:
    """i: the position of a set of columns; d: its keys in this slot, of which all batches are here; n:
    those that one row has; squares: the sum of the squares of their rows."""
    found: dict[int, list[tuple[Words, Ints | None]]] = {}
    for batch in batches:
        keys = batch.column(0).to_numpy().view(np.uint64)
        n = batch.column(1).to_numpy() if batch.num_columns > 1 else None
        found.setdefault(int(batch.schema.names[0]), []).append((keys, n))
    for i, parts in found.items():
        keys = np.concatenate([one for one, _ in parts])
        n = None
        if any(mine is not None for _, mine in parts):
            n = np.concatenate([np.ones(len(k), np.int64) if m is None else m for k, m in parts])
        _, times = counted(keys, n)
        answer = {"d": len(times), "n": int((times == 1).sum()), "squares": int(times @ times)}
        yield package_of(pa.table({name: [one] for name, one in {"i": i, **answer}.items()}))


def uniqueness_of(packages: list[tuple[int, int, bytes, str | None]], sets: int) -> pa.Table:
    """The same of all slots together, also of sets without any key."""
    totals = np.zeros((sets, 3), np.int64)
    for package in packages:
        for one in rows_of(package).to_pylist():
            totals[one["i"]] += [one["d"], one["n"], one["squares"]]
    columns = dict(zip(("d", "n", "squares"), totals.T, strict=True))
    return pa.table({"i": np.arange(sets), **columns})


@dataclass(frozen=True)
class CountKnown:
    """Counts the rows that have another hash than the missing one in each of some columns."""

    columns: tuple[str, ...]
    missing: int

    def __call__(self, batch: pa.RecordBatch, totals: Ints) -> None:
        """Add the rows of a batch."""
        for i, name in enumerate(self.columns):
            totals[i] += np.count_nonzero(batch.column(name).to_numpy() != self.missing)
