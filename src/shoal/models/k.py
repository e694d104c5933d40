"""k-anonymity: every published combination of quasi-identifiers is shared by at least k rows."""

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from shoal.arrays import Ints
from shoal.encoding.counts import Counts
from shoal.models.base import Model


@dataclass(frozen=True)
class K(Model):
    """k-anonymity: every published combination of quasi-identifiers occurs at least k times.

    Protects against picking out one person's row by what is known of them. Does not protect the
    sensitive value when the whole group shares it.

    Source: Samarati and Sweeney, "Protecting privacy when disclosing information", 1998.
    """

    k: Annotated[int, Field(ge=1)]
    """The fewest rows that may share a combination."""
    on: tuple[str, ...] | None = None
    """The quasi-identifiers that it concerns; all of them when left out."""

    high_is_strong: ClassVar[bool] = True
    holds_when_merged: ClassVar[bool] = True
    holds_when_joined: ClassVar[bool] = True
    merges_with_people: ClassVar[bool] = True
    holds_with_values: ClassVar[bool] = True

    @property
    def quasi(self) -> tuple[str, ...] | None:
        """The quasi-identifiers that it is restricted to."""
        return self.on

    @property
    def min_rows(self) -> int:
        """No group with fewer rows can hold."""
        return self.k

    @property
    def promises_nothing(self) -> bool:
        """With 1, as every class has a row."""
        return self.k == 1

    def strengths(self, counts: Counts) -> Ints:
        """(g,) the rows, or people, of each group; where the rows of a person are protected together,
        the fewest people who share all groups of one of them."""
        return counts.sizes if counts.shared is None else counts.shared

    def advice(self, everyone: Counts) -> str:
        """Explain why not even one group of all rows holds, with the largest k that can."""
        found = self.reached(everyone)
        whom = "people" if everyone.counts_people else "rows"
        return (
            f"The table has {found:,} {whom}, but k = {self.k} was required. "
            f"The largest k it allows is {found}: lower k or add {whom}."
        )
