"""The classes of a node of the lattice: how many rows they have, and with which sensitive values.

The classes of a node come from those of any node it generalises: a class is the sum of the classes it
takes in, so the rows themselves are counted once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from shoal.cells.cells import Cells
from shoal.cells.counts import Counts
from shoal.methods._lattice import Lattice, Levels
from shoal.models.requirement import POPULATION, SIZES_ONLY

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Histogram = tuple[Ints, npt.NDArray[np.int32], Ints]
"""Entry starts, values and counts, as in `Counts`."""
MOST_KEPT = 1 << 24
"""Classes that may be kept at a time."""
NO_ENTRIES = np.zeros(0, np.int32), np.zeros(0, np.int64)


@dataclass(frozen=True)
class Classes:
    """The classes of one node."""

    levels: Levels
    words: npt.NDArray[np.uint64]
    """(words, classes) the nodes of each class, a field of bits for every column."""
    sizes: Ints
    """(classes,) rows of each."""
    histograms: Mapping[str, Histogram]
    """Per sensitive column that is asked about."""
    people: Ints | None = None
    """(classes,) rows of the population that equal rows of each, where the policy names one."""

    def __len__(self) -> int:
        return len(self.sizes)


@dataclass(frozen=True)
class Counting:
    """Counts the classes of any node."""

    cells: Cells
    lattice: Lattice
    columns: tuple[str, ...]
    """The sensitive columns whose values are counted."""

    @cached_property
    def fields(self) -> tuple[tuple[int, np.uint64, np.uint64], ...]:
        """Per column its word, the place of its bits there and as many ones."""
        found, word, used = [], 0, 0
        for domain in self.cells.domains:
            bits = max(1, (domain.size - 1).bit_length())
            if used + bits > 64:
                word, used = word + 1, 0
            found.append((word, np.uint64(used), np.uint64((1 << bits) - 1)))
            used += bits
        return tuple(found)

    @cached_property
    def raw(self) -> Classes:
        """The node of the raw table, its classes being the cells."""
        from shoal.kernels.histograms import count_runs

        words = np.zeros((self.fields[-1][0] + 1, self.cells.n_cells), np.uint64)
        for j, (word, shift, _) in enumerate(self.fields):
            words[word] |= self.cells.codes[:, j].astype(np.uint64) << shift
        histograms = {}
        for name in self.columns:
            domain = self.cells.sensitive_domains[name]
            histograms[name] = count_runs(
                self.cells.sensitive[name], self.cells.starts, domain.size, domain.missing
            )
        people = self.cells.population
        if people is not None:
            people = np.add.reduceat(people, self.cells.starts[:-1])
        return Classes((0,) * len(self.fields), words, self.cells.counts, histograms, people)

    def projected(self, columns: frozenset[int]) -> Classes:
        """The raw table over some of the columns: the node with the others at their top.

        Each comes from that over one column more, where there is room to keep them.
        """
        if columns not in self._projections:
            shape, n = self.lattice.shape, len(self.raw)
            left = [j for j in range(len(shape)) if j not in columns]
            source = self.raw
            if len(left) > 1 and n << len(shape) <= MOST_KEPT:
                fewest = min(left, key=lambda j: (self.cells.domains[j].size, j))
                source = self.projected(columns | {fewest})
            levels = tuple(0 if j in columns else self.lattice.top[j] for j in range(len(shape)))
            found = self.roll(source, levels) if left else source
            if n << len(shape) > MOST_KEPT:
                return found
            self._projections[columns] = found
        return self._projections[columns]

    @cached_property
    def _projections(self) -> dict[frozenset[int], Classes]:
        return {}

    def roll(self, source: Classes, levels: Levels) -> Classes:
        """The classes of a node that generalises the source's."""
        return self.numbered(source, levels)[1]

    def numbered(self, source: Classes, levels: Levels) -> tuple[npt.NDArray[np.int32], Classes]:
        """(source's classes,) the new class of each; and the new classes."""
        from shoal.kernels.rolling import lift, merge_equal, merge_histograms

        words = source.words.copy()
        for j, (low, high) in enumerate(zip(source.levels, levels, strict=True)):
            if low != high:
                word, shift, mask = self.fields[j]
                lift(words[word], shift, mask, self.lattice.lift(j, low, high))
        numbers, merged, sizes = merge_equal(words, source.sizes)
        histograms = {}
        for name, (starts, values, counts) in source.histograms.items():
            size = self.cells.sensitive_domains[name].size
            histograms[name] = merge_histograms(numbers, len(sizes), starts, values, counts, size)
        people = source.people
        if people is not None:
            people = np.bincount(numbers, people, len(sizes)).astype(np.int64)
        return numbers, Classes(levels, merged, sizes, histograms, people)

    def counts(self, classes: Classes, kept: Flags | None = None) -> Mapping[str, Counts]:
        """What the models are asked about; with `kept`, of these classes alone, and compared with the
        rows of these alone."""
        sizes = classes.sizes if kept is None else classes.sizes[kept]
        found = {SIZES_ONLY: Counts(sizes, np.zeros(len(sizes) + 1, np.int64), *NO_ENTRIES)}
        if classes.people is not None:
            people = classes.people if kept is None else classes.people[kept]
            found[POPULATION] = replace(found[SIZES_ONLY], population=people)
        for name, (starts, values, counts) in classes.histograms.items():
            domain, totals = self.cells.sensitive_domains[name], self.cells.totals[name]
            if kept is not None:
                lengths = np.diff(starts)
                entries = np.repeat(kept, lengths)
                starts = np.concatenate([[0], np.cumsum(lengths[kept])])
                values, counts = values[entries], counts[entries]
                totals = np.bincount(values, counts, domain.size).astype(np.int64)
            found[name] = Counts(sizes, starts, values, counts, domain, totals)
        return found

    def rows_by_node(self, classes: Classes, column: int, chosen: Flags) -> Ints:
        """(nodes of its level,) rows of the chosen classes under each node of one column."""
        word, shift, mask = self.fields[column]
        nodes = ((classes.words[word][chosen] >> shift) & mask).astype(np.int64)
        size = len(self.lattice.trees[column].labels[classes.levels[column]])
        return np.bincount(nodes, classes.sizes[chosen], size).astype(np.int64)
