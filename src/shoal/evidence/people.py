"""The classes of a table counted in people, where a person may have several rows and be in several."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.evidence.evidence import Histogram, histogram


@dataclass(frozen=True)
class PeopleSizes:
    """How many people share a class, class by class and person by person."""

    rows: int
    """Rows of all classes."""
    alone_rows: int
    """Rows of classes that hold one person only."""
    classes: Histogram
    """How many classes hold each number of people."""
    smallest: Histogram
    """How many people are in a class of each number of people, each counted in the smallest class that
    she has a row in: there she is found most easily."""

    @property
    def people(self) -> int:
        """How many people there are."""
        return sum(times for _, times in self.smallest)


def people_sizes(group: npt.NDArray[np.integer], people: npt.NDArray[np.integer]) -> PeopleSizes:
    """The classes of rows, given (n,) the class and (n,) the person of each row.

    Classes and people are numbered 0, 1, 2, …
    """
    n_people = int(people.max(initial=-1)) + 1
    pairs = np.unique(group.astype(np.int64) * max(1, n_people) + people)
    owner, person = np.divmod(pairs, max(1, n_people))
    rows = np.bincount(group)
    sizes = np.bincount(owner, minlength=len(rows))
    smallest = np.full(n_people, np.iinfo(np.int64).max)
    np.minimum.at(smallest, person, sizes[owner])
    seen = np.bincount(person, minlength=n_people) > 0
    return PeopleSizes(
        rows=len(group),
        alone_rows=int(rows[sizes == 1].sum()),
        classes=histogram(sizes[sizes > 0]),
        smallest=histogram(smallest[seen]),
    )
