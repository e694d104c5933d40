"""What is counted of a release for its evidence, in sums that parts of a release add up to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.cells.domain import Domain
from shoal.evidence.bars import Bars, bars_of
from shoal.evidence.generality import rows_of_levels, rows_of_words
from shoal.evidence.spread import spread_quasi, spread_sensitive
from shoal.metrics.base import Parts, Sums
from shoal.threads import each

Ints = npt.NDArray[np.int64]
BARS, WORDS = "bar", "word"


@dataclass(frozen=True)
class Counting:
    """Which bar each value of each column belongs to; it can travel to where the rows are."""

    quasi: dict[str, Bars]
    sensitive: dict[str, Bars]

    def __call__(self, parts: Parts) -> Sums:
        """Published rows of every bar, and of every word for how coarse they are."""
        places = [(i, j) for i, one in enumerate(parts.groupings) for j in range(len(one.columns))]

        def quasi(place: tuple[int, int]) -> Sums:
            i, j = place
            domain = parts.cells.domains[parts.groupings[i].columns[j]]
            after = self.quasi[domain.name].rows(spread_quasi(domain, parts.spans[i], j))
            words = rows_of_words(domain, parts.spans[i], j)
            return told(BARS, domain.name, after) | told(WORDS, domain.name, words)

        def secret(name: str) -> Sums:
            after = self.sensitive[name].rows(spread_sensitive(parts, name))
            return told(BARS, name, after) | told(WORDS, name, rows_of_levels(parts, name))

        found = each(quasi, places)
        found += each(secret, [name for name in self.sensitive if name in parts.cells.sensitive])
        return {key: rows for one in found for key, rows in one.items()}


def counting_of(
    domains: Sequence[Domain],
    rows_of_values: Sequence[Ints],
    sensitive: Mapping[str, tuple[Domain, Ints]],
) -> Counting:
    """What is counted of a table; sensitive: per column what it means, and rows with each value."""
    quasi = zip(domains, rows_of_values, strict=True)
    return Counting(
        {d.name: bars for d, bars in zip(domains, each(lambda q: bars_of(*q), quasi), strict=True)},
        {name: bars_of(*of, sensitive=True) for name, of in sensitive.items()},
    )


def told(what: str, name: str, rows: npt.NDArray[np.number]) -> Sums:
    """The sums of one column."""
    return {f"{what}:{i}:{name}": count for i, count in enumerate(rows.tolist()) if count}


def rows_told(sums: Sums, what: str, name: str, many: int) -> list[float]:
    """(many,) back from the sums."""
    return [sums.get(f"{what}:{i}:{name}", 0) for i in range(many)]
