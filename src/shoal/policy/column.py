"""A column of a policy: its role, how its values generalise, and how sensitive they are."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, model_validator

from shoal.errors import listed
from shoal.policy import parts
from shoal.policy.about import Reason
from shoal.policy.messages import FieldPath, Problem, as_error, found
from shoal.policy.missing import MissingCodes, code_of, read_codes
from shoal.policy.reading import Dates

FORMS = "write a level per value, as in {flu: 1, HIV: 4}, or values per level, as in {1: [flu]}"

NO_OPEN_END = "cannot be combined with `hierarchy`, whose nodes would not say that an end is open"

MOST_IMPORTANT = 1000
"""A column can count so many times as much as the others."""
HIGHEST_LEVEL = 100
"""Sensitivity levels correspond to those of a hierarchy, and none needs more."""

if TYPE_CHECKING:
    from shoal.hierarchy import Hierarchy
else:  # importing it would load pyarrow
    Hierarchy = Any

Role = Literal[
    "identifier", "pseudonym", "person", "quasi", "sensitive", "plain", "preference", "weight"
]
ROLES: tuple[str, ...] = get_args(Role)
UNDECIDED = "undecided"
"""What a draft writes in place of a role that only a person can choose."""
HOW_TO_DECIDE = (
    "write plain if nobody else knows its values, quasi if others may, sensitive if they must not be "
    "learnt, or identifier to leave it out"
)
DECIDE = f"is undecided: {HOW_TO_DECIDE}"


def read_levels(value: Any) -> dict[str, int] | None:
    """The level of each value by its text, from `{value: level}` or `{level: [values]}`."""
    if value is None:
        return None
    if not isinstance(value, Mapping) or not value:
        raise as_error(Problem((), f"found {found(value)}; {FORMS}"))
    pairs = list(_by_level(value) if _has_lists(value) else _by_value(value))
    known: dict[str, int] = {}
    problems = []
    for path, label, level in pairs:
        if not isinstance(level, int) or isinstance(level, bool) or not 1 <= level <= HIGHEST_LEVEL:
            words = (
                f"found {found(level)} as a level; must be a whole number from 1 to {HIGHEST_LEVEL}"
            )
            problems.append(Problem(path[:1], words))
        elif not isinstance(label, str):
            problems.append(Problem(path, f"found {found(label)}; must be a single value"))
        elif label in known:
            problems.append(Problem(path, f"'{label}' has a level already: {known[label]}"))
        else:
            known[label] = level
    if problems:
        raise as_error(*dict.fromkeys(problems))
    return dict(sorted(known.items()))


def _has_lists(value: Mapping[Any, Any]) -> bool:
    return any(isinstance(each, list | tuple) for each in value.values())


def _by_value(value: Mapping[Any, Any]) -> Iterator[tuple[FieldPath, Any, Any]]:
    for key, level in value.items():
        yield (str(key),), label_of(key), level


def _by_level(value: Mapping[Any, Any]) -> Iterator[tuple[FieldPath, Any, Any]]:
    for level, values in value.items():
        if not isinstance(values, list | tuple) or not values:
            words = f"found {found(values)}; must be a list of values, as in [flu, cold]"
            raise as_error(Problem((str(level),), words))
        for place, each in enumerate(values):
            # the keys of a YAML mapping are text
            number = int(level) if isinstance(level, str) and level.isdecimal() else level
            yield (str(level), place), label_of(each), number


label_of = code_of
"""A value of a policy as the text of a table's value."""


def read_figure(value: Any) -> Any:
    """A finite number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise as_error(Problem((), f"found {found(value)}; must be a number"))
    return value


def _importance(value: Any) -> Any:
    """A number that a column can be weighed by."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isfinite(value) or not 0 <= value <= MOST_IMPORTANT:
        words = (
            f"found {found(value)}; must be a number from 0, for a column that is given up first, to "
            f"{MOST_IMPORTANT}; columns without one count 1"
        )
        raise as_error(Problem((), words))
    return value


def _characters(value: Any) -> Any:
    """How many characters of a text stay."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        words = f"found {found(value)}; must be a whole number, 1 or more"
        raise as_error(Problem((), words))
    return value


def _path(value: Any) -> Any:
    """The path of a file as text."""
    return os.fspath(value) if isinstance(value, os.PathLike) else value


Figure = Annotated[int | float | None, PlainValidator(read_figure)]


class Column(BaseModel):
    """What a column is, and for a quasi-identifier how it generalises."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    """`identifier`: identifies people, dropped. `pseudonym`: identifies people, published as a keyed
    token that links their rows. `person`: tells which rows are one person's, so that
    people are counted; dropped. `quasi`: known to others, generalised. `sensitive`: to
    be protected, published. `plain`: published unchanged. `preference`: read, never published.
    `weight`: the sampling weight of a survey, by which the population is estimated; published only
    if `publish` says so."""
    kind: Literal["ordered", "unordered"] | None = None
    """Quasi or sensitive. An `ordered` quasi column generalises to `[a~b]`, an `unordered` one to
    `{a, b}`; decided from the data when left out. A sensitive column is `unordered` when left out."""
    hierarchy: Annotated[Hierarchy | None, PlainValidator(parts.hierarchy)] = None
    """Quasi or sensitive. The tree of more general values. A quasi column may have a `kind` too:
    full-domain methods then take the hierarchy, and all others the kind."""
    order: Annotated[
        tuple[Annotated[str, BeforeValidator(label_of)], ...] | None, Field(min_length=1)
    ] = None
    """Quasi or sensitive. The values of an ordered text column, lowest first."""
    labels: Literal["range", "midpoint", "mean", "median", "mode", "uniform"] | None = None
    """Quasi only. The form of its labels. `range`: what covers the values of a group, as `[a~b]`,
    `{a, b}` or a node; this is the default. `midpoint`, `mean`, `median` or `mode`: a value that stands
    for the group. `uniform`: one set of labels for the whole table that never overlap."""
    levels: Annotated[dict[str, int] | None, PlainValidator(read_levels)] = None
    """Sensitive only. How sensitive each value is, 1 being the least; kept as value to level."""
    together: bool | None = None
    """Person only. Whether all rows of a person are protected together, against an attacker who knows
    several of them."""
    preference: Annotated[str, BeforeValidator(parts.column_name)] | None = None
    """Sensitive only. The column with the level of protection that each person prefers."""
    missing: Annotated[MissingCodes, BeforeValidator(read_codes)] = None
    """The codes that stand for a missing value, in place of those of `read`; none of the values where
    the list is empty."""
    spelling: Literal["folded", "exact"] | None = None
    """Sensitive only. `folded`: spellings that differ in case, spaces or Unicode form, and equal
    numbers and dates, are one value; this is the default. `exact`: every spelling is a value."""
    type: Literal["number", "date", "text"] | None = None
    """How texts of the column are read; decided from them when left out. As `text`, codes such as 007
    and 7 stay different and have no order."""
    dates: Dates = None
    """The format of its dates, such as `%d/%m/%Y`, in place of that of `read`."""

    importance: Annotated[float | None, PlainValidator(_importance)] = None
    """Quasi only. How much its detail counts beside that of the other quasi columns, which count 1: with
    3 it counts three times; with 0 it is given up first."""

    top: Figure = None
    """Quasi, sensitive or plain. Numbers from here on are published together, as `90+`."""
    bottom: Figure = None
    """Quasi, sensitive or plain. Numbers up to here are published together, as `≤18`."""
    round: Figure = None
    """Quasi, sensitive, plain or weight. Numbers are rounded to multiples of this."""
    part: Literal["year"] | None = None
    """Quasi, sensitive or plain. Dates are published by this part of them: `1964`. The years can be
    rounded and coded at an end as numbers are."""
    zip3: Annotated[str, BeforeValidator(_path)] | None = None
    """Quasi, sensitive or plain. US zip codes are published by their first three digits where these
    cover more than 20,000 people, all others as `000`: the path of a CSV file with the people of every
    such area."""
    characters: Annotated[int | None, PlainValidator(_characters)] = None
    """Quasi, sensitive or plain. Texts are published by so many of their first characters: 02138 as
    0213 with 4."""
    publish: Literal["withheld", "rounded", "exact"] | None = None
    """Weight only. `withheld`: it is read and not published; this is the default. `rounded`: it is
    published rounded to multiples of `round`. `exact`: it is published as it is."""

    why: Reason = None
    """Why the column has its role and settings, for the report's first page; changes nothing."""

    @property
    def has_rule(self) -> bool:
        """Whether its values are changed before anything else: rounded, coded at an end, published by
        their year, by the area of their zip code or by their first characters."""
        rules = (self.top, self.bottom, self.round, self.part, self.zip3, self.characters)
        return any(one is not None for one in rules)

    @property
    def is_published(self) -> bool:
        """Whether the release has the column."""
        if self.role == "weight":
            return self.publish not in (None, "withheld")
        return self.role in ("quasi", "sensitive", "plain", "pseudonym")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        """`age: quasi` for `age: {role: quasi}`; an `order` says that the kind is ordered, and `round`
        that a weight is published rounded."""
        role = data.get("role") if isinstance(data, Mapping) else data
        if role == UNDECIDED:
            raise as_error(Problem((), DECIDE))
        if isinstance(data, str):
            return {"role": data}
        if not isinstance(data, Mapping):
            words = f"found {found(data)}; give it a role, one of: {', '.join(ROLES)}"
            raise as_error(Problem((), words))
        if data.get("order") is not None and data.get("kind") is None:
            return {**data, "kind": "ordered"}
        if role == "weight" and data.get("publish") is None and data.get("round") is not None:
            return {**data, "publish": "rounded"}
        return data

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        if problems := [*self._settings_of_other_roles(), *self._contradictions()]:
            raise as_error(*problems)
        return self

    def _settings_of_other_roles(self) -> list[Problem]:
        allowed = {
            "kind": ("quasi", "sensitive"),
            "hierarchy": ("quasi", "sensitive"),
            "order": ("quasi", "sensitive"),
            "labels": ("quasi",),
            "levels": ("sensitive",),
            "preference": ("sensitive",),
            "spelling": ("sensitive",),
            "together": ("person",),
            "importance": ("quasi",),
            "top": ("quasi", "sensitive", "plain"),
            "bottom": ("quasi", "sensitive", "plain"),
            "round": ("quasi", "sensitive", "plain", "weight"),
            "part": ("quasi", "sensitive", "plain"),
            "zip3": ("quasi", "sensitive", "plain"),
            "characters": ("quasi", "sensitive", "plain"),
            "publish": ("weight",),
        }
        given = [key for key in allowed if getattr(self, key) is not None]
        if self.order is not None:  # it implies the kind
            given = [key for key in given if key != "kind" or self.kind != "ordered"]
        return [
            Problem(
                (key,),
                f"found on a column with the role {self.role}; only a {' or '.join(allowed[key])} "
                f"column has {'them' if key in ('labels', 'levels') else 'one'}",
            )
            for key in given
            if self.role not in allowed[key]
        ]

    def _contradictions(self) -> list[Problem]:
        return [
            *self._rule_problems(),
            *self._weight_problems(),
            *self._label_problems(),
            *self._other_contradictions(),
        ]

    def _label_problems(self) -> Iterator[Problem]:
        """A midpoint, mean or median needs numbers or dates; a median at least an order."""
        if self.labels not in ("midpoint", "mean", "median"):
            return
        what = "numbers and dates"
        if self.labels == "median":
            what = "numbers, dates and ordered values"
        by_text = self.hierarchy is not None and self.hierarchy.reads == "text"
        codes = self.zip3 is not None or self.characters is not None
        unordered = self.kind == "unordered" or self.type == "text" or codes
        has_order = self.order is not None and self.labels == "median"
        ends = [key for key in ("top", "bottom") if getattr(self, key) is not None]
        if not has_order and (unordered or self.order is not None or (by_text and not self.kind)):
            words = (
                f"`{self.labels}` is for {what}, and this column has none according to the policy; "
                "allowed here: range, mode, uniform"
            )
            yield Problem(("labels",), words)
        elif ends:
            words = (
                f"`{self.labels}` cannot be combined with `{ends[0]}`: beyond that end nobody knows the "
                "values; allowed here: range, mode"
            )
            yield Problem(("labels",), words)

    def _weight_problems(self) -> Iterator[Problem]:
        """A weight is rounded if, and only if, it is published so."""
        if self.role != "weight":
            return
        if self.publish == "rounded" and self.round is None:
            words = "needs `round`, the step that weights are rounded to, as in `round: 10`"
            yield Problem(("publish",), words)
        elif self.publish != "rounded" and self.round is not None:
            words = f"cannot be combined with `publish: {self.publish}`; choose one of the two"
            yield Problem(("round",), words)
        if self.type in ("date", "text") or self.dates is not None:
            key = "dates" if self.dates is not None else "type"
            yield Problem((key,), "a weight is a number; leave this out")

    def _rule_problems(self) -> Iterator[Problem]:
        if self.round is not None and self.round <= 0:
            yield Problem(("round",), f"found {self.round:g}; must be above 0")
        if self.top is not None and self.bottom is not None and self.bottom >= self.top:
            yield Problem(("bottom",), f"found {self.bottom:g}; must be below `top`, {self.top:g}")
        ends = [key for key in ("top", "bottom") if getattr(self, key) is not None]
        if ends and self.hierarchy is not None and self.kind is None:
            yield Problem((ends[0],), NO_OPEN_END)
        for_numbers = [k for k in ("top", "bottom", "round") if getattr(self, k) is not None]
        is_date = self.type == "date" or bool(self.dates)
        if for_numbers and (
            self.order is not None or self.type == "text" or (is_date and self.part is None)
        ):
            yield Problem(
                (for_numbers[0],), "is for numbers; this column holds none according to the policy"
            )
        if self.has_rule and self.preference is not None:
            rule = "`top`, `bottom` or `round`" if for_numbers else "`part`, `zip3` or `characters`"
            yield Problem(("preference",), f"cannot be combined with {rule}")
        if self.part is not None:
            yield from self._part_problems()
        for key in ("zip3", "characters"):
            if getattr(self, key) is not None:
                yield from self._code_problems(key, for_numbers)

    def _part_problems(self) -> Iterator[Problem]:
        """Dates that are published by their year are numbers from then on."""
        if self.order is not None or self.type in ("number", "text"):
            yield Problem(("part",), "is for dates; this column holds none according to the policy")
        if self.hierarchy is not None and self.hierarchy.reads == "date":
            words = (
                "leaves years, for which a hierarchy of dates is too fine; leave the hierarchy out, or "
                "write `hierarchy: {intervals: [5, 10]}`"
            )
            yield Problem(("part",), words)

    def _code_problems(self, key: str, for_numbers: list[str]) -> Iterator[Problem]:
        """Codes that are cut off are texts without an order."""
        others = [*for_numbers, *(k for k in ("part", "order", "dates") if getattr(self, k))]
        if key == "characters" and self.zip3 is not None:
            others = ["zip3"]
        if others:
            yield Problem((others[0],), f"cannot be combined with `{key}`; choose one of the two")
        if self.kind == "ordered" or self.type in ("number", "date"):
            yield Problem((key,), "leaves texts without an order; leave `kind` and `type` out")

    def _other_contradictions(self) -> list[Problem]:
        if self.dates is not None and self.type in ("number", "text"):
            words = f"cannot be combined with `type: {self.type}`; choose one of the two"
            return [Problem(("dates",), words)]
        if self.type == "text" and self.kind == "ordered" and self.order is None:
            words = "texts have no order; write their `order`, or leave `type` out"
            return [Problem(("type",), words)]
        if self.preference is not None and (self.levels is None or self.hierarchy is None):
            needed = [key for key in ("levels", "hierarchy") if getattr(self, key) is None]
            words = f"needs {' and '.join(f'`{key}`' for key in needed)} too"
            return [Problem(("preference",), words)]
        if self.hierarchy is not None and self.role != "quasi":
            both = [key for key in ("order", "kind") if getattr(self, key) is not None]
            words = "cannot be combined with `hierarchy`; choose one of the two"
            if both:
                return [Problem((both[0],), words)]
        if self.order is None:
            return []
        if self.kind == "unordered":
            return [
                Problem(
                    ("order",), "cannot be combined with `kind: unordered`; choose one of the two"
                )
            ]
        twice = [label for label, times in Counter(self.order).items() if times > 1]
        return [Problem(("order",), f"found more than once: {listed(twice)}")] if twice else []
