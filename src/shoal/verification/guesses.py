"""How well the sensitive value of a person is guessed by the commonest value of the person's class."""

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints
from shoal.encoding.counts import Counts
from shoal.models.shares import commonest, known


@dataclass(frozen=True)
class ClassGuesses:
    """The classes of a release, each with its rows, or people, and how many have its commonest value."""

    sizes: Ints
    """(g,) rows, or people, with a known value."""
    right: Ints
    """(g,) those with the commonest value of the class."""
    commonest: int
    """Rows, or people in every class that they are in, with the commonest value of the whole
    release."""

    @property
    def known(self) -> int:
        """Rows, or people in every class that they are in, with a known value."""
        return int(self.sizes.sum())

    @property
    def base_rate(self) -> float:
        """How often guessing the commonest value of the release is right."""
        return self.commonest / self.known if self.known else 0.0

    @property
    def best_guess(self) -> float:
        """How often guessing the commonest value of the own class is right."""
        return int(self.right.sum()) / self.known if self.known else 0.0

    def rows_from(self, share: float) -> int:
        """Rows, or people, of classes in which one value has at least this share of the known ones."""
        some = self.sizes > 0
        # a quotient of whole numbers is rounded correctly: nine of ten are 0.9
        return int(self.sizes[some][self.right[some] / self.sizes[some] >= share].sum())


def guesses_of(counts: Counts) -> ClassGuesses:
    """What the histograms of classes say about guesses."""
    everywhere = np.bincount(counts.values, counts.counts, minlength=1).astype(np.int64)
    return ClassGuesses(known(counts), commonest(counts), int(everywhere.max(initial=0)))
