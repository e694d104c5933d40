"""The three questions of opinion 05/2014: singling out, linkability and inference, measured.

The Article 29 Working Party asks of an anonymised table whether somebody can still be singled out in it,
whether records of one person can be linked, and whether something can be inferred about a person. Here
each question has figures, and a list of what these do not show. None of them is a verdict: the opinion
sets no limits, and neither do these figures.

- Singling out: who is alone in a class of rows that look alike, by the quasi-identifiers, with the plain
  columns, and with all published columns.
- Linkability: the share of records that somebody links to the right row who holds another table with the
  same columns and picks a row of the class at random (the marketer's risk); the share that somebody
  links who holds two tables of the same people, each with every other column, and the release between
  them; with the raw table, how many of its people have one candidate row only. Pseudonyms link rows by
  intent.
- Inference: the share of people of whom one sensitive value has at least `LIKELY` of the known values of
  their class, beside the share whom the commonest value of the whole release fits.

Source: Article 29 Data Protection Working Party, opinion 05/2014 on anonymisation techniques (WP 216),
sections 2.2 and 3, 2014; Dankar and El Emam, "A method for evaluating marketer re-identification risk",
2010; Giomi, Boenisch, Wehmeyer and Tasnadi, "A unified framework for quantifying privacy risk in
synthetic data", 2023, for the two tables with the release between them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from shoal.engines.release_table import ReleaseTable
from shoal.errors import percent
from shoal.policy import Policy
from shoal.results import Record, Result
from shoal.risk.attack import Attack
from shoal.verification.verification import ROWS_ONLY

LIKELY = 0.9
"""From this share of a class on, a value is taken to be deduced."""

DECIMALS = 9

Unit = Literal["row", "person"]


@dataclass(frozen=True)
class SinglingOut:
    """Who is alone in the release."""

    alone_on_quasi: int
    """Alone by the labels of the quasi-identifiers."""
    alone_with_plain: int
    """Alone by these and the plain columns."""
    alone_with_all: int
    """Alone by all published columns, sensitive ones included."""
    smallest_class: int | None
    """Rows, or people, of the smallest class by the quasi-identifiers."""
    guaranteed: int | None
    """The size that the policy guarantees; None without a k on all quasi-identifiers."""
    limits: tuple[str, ...] = (
        "It counts who is alone among the published rows, not among all people: somebody who is alone "
        "here may have look-alikes elsewhere.",
        "It takes the columns as they are: what others know beyond them is not counted.",
    )


@dataclass(frozen=True)
class Linkability:
    """How well records of one person can be put together."""

    linked_on_quasi: float
    """The share of records linked to the right row by the labels of the quasi-identifiers, picking at
    random in a class."""
    linked_with_plain: float
    """The same, with the plain columns."""
    linked_across: float | None
    """The share of records of one table that are linked to those of the same person in another, where
    each has every other one of the quasi and plain columns as the release publishes them: a row of the
    release with the first record's labels is picked at random, then a record of the other table with
    that row's labels. None where there are fewer than two columns."""
    by_chance: float
    """The same without the release: 1 / rows."""
    pseudonyms: tuple[str, ...]
    """Columns whose tokens link all rows of a person, here and in other releases with the same key."""
    pinned: int | None = None
    """Of the raw table's people: those with one candidate row in the release; None without it."""
    known: int | None = None
    """People of the raw table."""
    highest: float | None = None
    """The highest chance to pick the right row of one of them."""
    limits: tuple[str, ...] = (
        "It links by equal labels. A person whose values are known elsewhere with errors, or at another "
        "time, is linked less well; one with rare values outside the shared columns better.",
        "It does not compare this release with other releases of the same people.",
    )


@dataclass(frozen=True)
class Inferred:
    """What can be deduced about one sensitive column."""

    known: int
    """People, or rows, with a known value."""
    likely: int
    """Those in a class in which one value has at least 90 % of the known ones."""
    certain: int
    """Those in a class in which all known values are one."""
    likely_with_plain: int
    """The same as `likely`, in classes by the plain columns too."""
    base_rate: float
    """How often guessing the commonest value of the whole release is right."""
    best_guess: float
    """How often guessing the commonest value of the own class is right."""


@dataclass(frozen=True)
class Inference:
    """What can be deduced about people's sensitive values."""

    columns: dict[str, Inferred] = field(default_factory=dict)
    not_measured: str = ""
    """Why there are no figures; empty where there are."""
    limits: tuple[str, ...] = (
        "It counts exact values. Values that differ but mean nearly the same, such as two salaries or "
        "two kinds of one disease, are counted as different.",
        "What follows for everybody of a kind, such as smokers and lung cancer, is knowledge about the "
        "world and is not counted as a disclosure by the release.",
    )


@dataclass(frozen=True, repr=False)
class Criteria(Result):
    """Singling out, linkability and inference in a release."""

    unit: Unit
    """What is counted: rows, or people where the policy has a person column and its key is known."""
    published: int
    """Published rows or people."""
    singling_out: SinglingOut
    linkability: Linkability
    inference: Inference
    notes: tuple[str, ...] = ()
    """What the figures do not say: that rows were counted where the policy means people."""

    @property
    def units(self) -> str:
        """`rows` or `people`."""
        return "people" if self.unit == "person" else "rows"

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        found = asdict(self)
        for name in ("singling_out", "linkability", "inference"):
            found[name]["limits"] = list(found[name]["limits"])
        found["linkability"]["pseudonyms"] = list(self.linkability.pseudonyms)
        found["notes"] = list(self.notes)
        return found

    def _records(self) -> Sequence[Record]:
        out, link = self.singling_out, self.linkability
        n = max(1, self.published)
        figures = [
            ("singling out", "alone on quasi columns", out.alone_on_quasi / n),
            ("singling out", "alone with plain columns", out.alone_with_plain / n),
            ("singling out", "alone on all columns", out.alone_with_all / n),
            ("linkability", "linked on quasi columns", link.linked_on_quasi),
            ("linkability", "linked with plain columns", link.linked_with_plain),
        ]
        if link.linked_across is not None:
            figures.append(("linkability", "linked between two tables", link.linked_across))
        if link.pinned is not None and link.known:
            figures.append(("linkability", "one candidate row", link.pinned / link.known))
        for name, one in self.inference.columns.items():
            figures.append(("inference", f"{name} likely", one.likely / max(1, one.known)))
            figures.append(("inference", f"{name} base rate", one.base_rate))
        return [{"question": q, "figure": f, "share": share} for q, f, share in figures]

    def _headline(self) -> str:
        n = max(1, self.published)
        likely = max(
            (one.likely / max(1, one.known) for one in self.inference.columns.values()), default=0
        )
        return (
            f"of {self.published:,} {self.units}, "
            f"{percent(self.singling_out.alone_with_plain / n)} alone, "
            f"{percent(self.linkability.linked_with_plain)} linked, {percent(likely)} inferred"
        )


def criteria_of(table: ReleaseTable, policy: Policy, attacked: Attack | None = None) -> Criteria:
    """The three questions, asked of a published table.

    attacked: an attack with the raw table as what is known.
    """
    quasi = [name for name in policy.quasi if name in table.names]
    plain = [name for name in policy.unchanged if name in table.names]
    every = [*quasi, *plain, *(name for name in policy.sensitive if name in table.names)]
    on_quasi = _Sizes.of(table, quasi)
    with_plain = _Sizes.of(table, [*quasi, *plain]) if plain else on_quasi
    with_all = _Sizes.of(table, every)
    return Criteria(
        unit=on_quasi.unit,
        published=on_quasi.total,
        singling_out=SinglingOut(
            alone_on_quasi=on_quasi.alone,
            alone_with_plain=with_plain.alone,
            alone_with_all=with_all.alone,
            smallest_class=on_quasi.smallest,
            guaranteed=_guaranteed(policy),
        ),
        linkability=Linkability(
            linked_on_quasi=on_quasi.linked,
            linked_with_plain=with_plain.linked,
            linked_across=_across(table, [*quasi, *plain]),
            by_chance=1 / table.n_rows if table.n_rows else 0.0,
            pseudonyms=policy.pseudonyms,
            pinned=None if attacked is None else attacked.release.pinned,
            known=None if attacked is None else attacked.people,
            highest=None if attacked is None else attacked.highest_risk,
        ),
        inference=_inference(table, policy, quasi, plain),
        notes=(ROWS_ONLY,) if policy.person is not None and on_quasi.unit == "row" else (),
    )


def _guaranteed(policy: Policy) -> int | None:
    """The k that a policy promises on all of its quasi-identifiers."""
    if policy.publish == "anatomy":
        return None
    every = [int(m.figure) for m in policy.constraints if m.name == "k" and m.quasi is None]
    return max(every, default=None)


@dataclass(frozen=True)
class _Sizes:
    """The classes of a published table by some columns: sizes, and rows or people of each size."""

    unit: Unit
    sizes: dict[int, int]

    @classmethod
    def of(cls, table: ReleaseTable, columns: Sequence[str]) -> "_Sizes":
        people = table.people_sizes(columns)
        if people is not None:
            return cls("person", dict(people.smallest))
        return cls("row", {size: size * times for size, times in table.class_sizes(columns)})

    @property
    def total(self) -> int:
        return sum(self.sizes.values())

    @property
    def alone(self) -> int:
        return self.sizes.get(1, 0)

    @property
    def smallest(self) -> int | None:
        return min(self.sizes, default=None)

    @property
    def linked(self) -> float:
        """The mean of 1 / size over all rows or people."""
        return sum(n / size for size, n in sorted(self.sizes.items())) / max(1, self.total)


def _across(table: ReleaseTable, columns: Sequence[str]) -> float | None:
    """The share that is linked between two tables that have every other column each; rounded, because
    engines add in different orders."""
    if len(columns) < 2:
        return None
    return round(table.linked_through(columns[::2], columns[1::2]), DECIMALS)


def _inference(
    table: ReleaseTable, policy: Policy, quasi: Sequence[str], plain: Sequence[str]
) -> Inference:
    if policy.publish == "anatomy":
        return Inference(
            not_measured="With `publish: anatomy` classes are the groups of the sensitive tables: the "
            "share of the best guess is among the findings of the release."
        )
    columns = [
        name for name in policy.sensitive if name in table.names and name not in policy.preferences
    ]
    on_quasi = table.guesses(policy, quasi, columns)
    with_plain = table.guesses(policy, [*quasi, *plain], columns) if plain else on_quasi
    return Inference(
        {
            name: Inferred(
                known=on_quasi[name].known,
                likely=on_quasi[name].rows_from(LIKELY),
                certain=on_quasi[name].rows_from(1.0),
                likely_with_plain=with_plain[name].rows_from(LIKELY),
                base_rate=on_quasi[name].base_rate,
                best_guess=on_quasi[name].best_guess,
            )
            for name in columns
            if name in on_quasi
        }
    )
