"""From raw columns to cells: number the values, hash the rows, sort, and count equal rows."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.cells import Cells
from shoal.cells.domain import Domain
from shoal.cells.rowhash import hash_rows
from shoal.kernels.hashing import stir
from shoal.kernels.sorting import radix_argsort, run_starts, sort_runs

Codes = npt.NDArray[np.int32]


def build_cells(
    quasi: Sequence[tuple[Domain, Codes]],
    sensitive: Mapping[str, tuple[Domain, Codes]],
    plain: Sequence[pa.Array],
    seed: int,
) -> Cells:
    """The cells of a table whose columns are numbered; `plain` are the other published columns."""
    n = len(quasi[0][1])
    hashes = hash_rows(n, [codes for _, codes in sensitive.values()], plain, seed)
    keys = pack([codes for _, codes in quasi], [domain.size for domain, _ in quasi])
    order = np.arange(n, dtype=np.int64)
    for word, bits in reversed(keys):
        order = radix_argsort(word, bits, order)
    begins = run_starts(np.stack([word for word, _ in keys]), order)
    starts = np.append(np.flatnonzero(begins), n).astype(np.int64)
    sort_runs(order, starts, hashes)
    sort_runs(order, starts, spread(order, starts, hashes))
    heads = order[starts[:-1]]
    codes = np.empty((len(heads), len(quasi)), np.int32)
    for j, (_, column) in enumerate(quasi):
        codes[:, j] = column[heads]
    return Cells(
        domains=tuple(domain for domain, _ in quasi),
        codes=codes,
        starts=starts,
        rows=order,
        hashes=hashes[order],
        sensitive={name: column[order] for name, (_, column) in sensitive.items()},
        sensitive_domains={name: domain for name, (domain, _) in sensitive.items()},
    )


def spread(
    order: npt.NDArray[np.int64], starts: npt.NDArray[np.int64], hashes: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """(n,) keys that scatter equal rows of a cell among its others.

    Rows with one hash stand together in `order`. Were they handed out so, a cell that is split would
    part people by their sensitive values; so each is hashed again with its number among its equals.
    """
    ordered = hashes[order]
    begins = np.ones(len(ordered), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    begins[starts[:-1]] = True
    first = np.flatnonzero(begins)
    nth = np.arange(len(ordered)) - np.repeat(first, np.diff(np.append(first, len(ordered))))
    stir(ordered, nth.astype(np.uint64))
    keys = np.empty_like(hashes)
    keys[order] = ordered
    return keys


def pack(
    columns: Sequence[Codes], sizes: Sequence[int]
) -> list[tuple[npt.NDArray[np.uint64], int]]:
    """The columns side by side in as few 64-bit words as will do: (word, bits used), first columns
    highest, so that comparing words compares rows."""
    words: list[tuple[npt.NDArray[np.uint64], int]] = []
    for column, size in zip(columns, sizes, strict=True):
        bits = max(1, (size - 1).bit_length())
        if words and words[-1][1] + bits <= 64:
            word, used = words[-1]
            word <<= np.uint64(bits)
            word |= column.astype(np.uint64)
            words[-1] = word, used + bits
        else:
            words.append((column.astype(np.uint64), bits))
    return words
