"""What the user asked for: the role of every column, the guarantees, the method.

A policy is one frozen object, the same whether it came from YAML or from Python. It is checked when
it is made, so whoever holds one need not check again; only `check` needs the table's column names.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from shoal.errors import PolicyError, VerificationFailed, listed, nearest
from shoal.methods.constraints import Constraint, components, union
from shoal.models.base import Model
from shoal.policy import canonical, parts, rules
from shoal.policy.column import ROLES, Column
from shoal.policy.wording import Guide, Problem, as_error, found, problems_of, refusal, unknown_key
from shoal.policy.yaml_source import Source, parse, read

if TYPE_CHECKING:
    pass


if TYPE_CHECKING:
    from shoal.encoding.cells import How
    from shoal.methods.base import Method
    from shoal.metrics.base import Metric
else:  # importing them would load pyarrow
    Method = Metric = Any

DEFAULT_METHOD = "least-loss-partition"


def _share(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        words = f"found {found(value)}; must be a number from 0 to 1 (5 % is 0.05)"
        raise as_error(Problem((), words))
    return value


def _no_bool(value: Any) -> Any:
    # Pydantic would read true as 1.
    if isinstance(value, bool):
        raise as_error(Problem((), f"found {found(value)}; must be a whole number"))
    return value


class Policy(BaseModel):
    """What to publish of a table, and what must hold for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: dict[str, Column]
    """Every column of the table with its role. The order of quasi columns breaks ties."""
    constraints: tuple[Annotated[Model, PlainValidator(parts.constraint)], ...]
    """The privacy models that the release must hold, all of them."""
    method: Annotated[Method, PlainValidator(parts.method)] = Field(
        default_factory=lambda: parts.method(DEFAULT_METHOD)
    )
    """How rows are put into groups, with the method's options."""
    default: Literal["drop"] | None = None
    """`drop` leaves out the table's columns that are not listed; without it they are an error."""
    suppression: Annotated[float, BeforeValidator(_share)] | None = None
    """The largest share of rows that may be suppressed; no limit when left out."""
    suppressed: Literal["withheld", "starred"] = "withheld"
    """Whether a suppressed row is left out, or published with every cell as `*`."""
    order: Literal["sorted", "kept"] = "sorted"
    """Whether rows leave in an order made from published content alone, or as they came."""
    publish: Literal["generalised", "anatomy"] = "generalised"
    """Whether quasi-identifiers are made coarser, or stay exact with the sensitive values apart, in
    tables of their own that are linked by a group id."""
    seed: Annotated[int, BeforeValidator(_no_bool), Field(ge=0, lt=2**63)] = 0
    """Where all randomness starts: the same seed gives the same release."""
    target: Annotated[str, BeforeValidator(parts.column_name)] | None = None
    """The column whose classes the metric `cm` counts."""
    metrics: Annotated[
        tuple[Annotated[Metric, PlainValidator(parts.metric)], ...],
        BeforeValidator(parts.one_or_more),
    ] = ()
    """Metrics to measure beside those that every release is measured by, or with other options."""
    population: Annotated[Any, PlainValidator(parts.population)] = None
    """The table of all people, for `k-map` and `delta-presence`: a file's path, or from Python any
    table. It holds every quasi column."""
    folder: Path = Field(default=Path(), exclude=True)
    """Where relative paths start. Set when a file is read; not a key of the file."""

    _source: Source = PrivateAttr(default_factory=Source)

    @classmethod
    def load(
        cls, source: "Policy | Mapping[str, Any] | str | os.PathLike[str]", **keys: Any
    ) -> "Policy":
        """A policy from a file, from plain data, or from itself; `keys` replace keys of it.

        A text that spans several lines is taken as YAML, any other as a file's path.
        """
        if isinstance(source, Policy):
            return source.changed(**keys) if keys else source
        if isinstance(source, Mapping):
            return cls.model_validate({**source, **keys})
        if isinstance(source, str) and "\n" in source:
            return cls._from(parse(source, "policy", Path()), keys)
        if isinstance(source, str | os.PathLike):
            return cls._from(read(Path(source)), keys)
        raise PolicyError(
            f"policy: found {found(source)}; give a file's path, a mapping or a Policy."
        )

    @classmethod
    def _from(cls, source: Source, keys: Mapping[str, Any]) -> "Policy":
        if "folder" in source.data:
            words = unknown_key("folder", GUIDE.keys[()])
            raise refusal([Problem(("folder",), words)], source.where)
        data = {"folder": source.folder, **source.data, **keys}
        return cls.model_validate(data, context=source.with_keys(keys))

    @model_validator(mode="wrap")
    @classmethod
    def _explained(
        cls, data: Any, validated: ModelWrapValidatorHandler[Self], info: ValidationInfo
    ) -> Self:
        """Every mistake becomes one `PolicyError` that lists them all."""
        source = info.context if isinstance(info.context, Source) else Source()
        try:
            policy = validated(data)
        except ValidationError as error:
            told = rules.with_sensitive(problems_of(error, GUIDE), data)
            raise refusal(told, source.where) from None
        policy._source = source
        if broken := rules.problems(policy):
            raise refusal(broken, source.where)
        return policy

    @property
    def read_from(self) -> str:
        """The file it was read from, as the user wrote it; empty where there is none."""
        return self._source.name

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the policy's order."""
        return self.having("quasi")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, in the policy's order."""
        return self.having("sensitive")

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns published as they are, in the policy's order."""
        return self.having("plain")

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that name people and are never published, in the policy's order."""
        return self.having("identifier")

    def having(self, role: str) -> tuple[str, ...]:
        """The columns with a role, in the policy's order."""
        return tuple(name for name, column in self.columns.items() if column.role == role)

    def how(self, name: str) -> "How":
        """How a quasi-identifier or sensitive column is to be read."""
        from shoal.encoding.cells import How  # it loads pyarrow

        column = self.columns[name]
        return How(column.kind, column.order, column.hierarchy, column.levels)

    @property
    def preferences(self) -> dict[str, str]:
        """The sensitive columns in which people's own wishes count, each with the column of these."""
        each = ((name, self.columns[name].preference) for name in self.sensitive)
        return {name: wish for name, wish in each if wish is not None}

    def needed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of a table's columns that a run must read, in the table's order."""
        every = tuple(names)
        wanted = {*self.published(every), *self.preferences.values()}
        return tuple(name for name in every if name in wanted)

    def published(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of a table's columns that the release holds, in the table's order."""
        return tuple(n for n in names if n in self.columns and self.columns[n].is_published)

    def dropped(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of a table's columns that the release does not hold, in the table's order."""
        every = tuple(names)
        kept = set(self.published(every))
        return tuple(name for name in every if name not in kept)

    def check(self, names: Iterable[str]) -> None:
        """Raise `PolicyError` when the policy does not fit a table with these columns."""
        if wrong := problems(self, list(names)):
            raise refusal(wrong, self._source.where)

    def changed(self, **keys: Any) -> "Policy":
        """This policy with other values for some keys, checked again."""
        same = {name: getattr(self, name) for name in type(self).model_fields}
        # what is wrong with these keys is not on any line of the file
        changed = type(self).model_validate({**same, **keys})
        changed._source = self._source
        return changed

    def warnings(self) -> list[str]:
        """What is allowed but may not be meant."""
        return rules.warnings(self)

    def to_yaml(self) -> str:
        """The policy as text, everything written out; loading it gives an equal policy.

        A population that is a table in memory is left out, with a comment in its place.
        """
        return canonical.to_yaml(self)

    def fingerprint(self) -> str:
        """SHA-256 of what is asked. The folder and the order of keys do not count, the order of
        quasi columns does.
        """
        return canonical.fingerprint(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())


GUIDE = Guide(
    keys={
        (): [name for name in Policy.model_fields if name != "folder"],
        ("columns", "*"): list(Column.model_fields),
    },
    hints={
        ("columns",): "list every column of the table with its role, as in `age: quasi`",
        ("columns", "*", "role"): f"write one of: {', '.join(ROLES)}",
        ("columns", "*", "preference"): "name a column with the role preference",
        ("constraints",): "write at least one, as in `constraints: [{k: 5}]`",
    },
)
"""What the wording of errors must know of the fields above."""


# Which columns of a release a policy speaks of, and which of its rows are exempt from the models.


def exempt(policy: Policy, columns: Sequence[str], names: Sequence[str]) -> list[str]:
    """The columns in which an exempt row reads `*`; none where there can be no such rows.

    Exempt are rows suppressed in the part of the constraints that `columns` belong to, with their
    sensitive and plain cells hidden too. Nothing else is ever left out.
    """
    for part in exempt_parts(policy):
        if columns[0] in part:
            return [*part, *_others(policy, names)]
    return []


def exempt_parts(policy: Policy) -> list[list[str]]:
    """The sets of columns in which a row may be suppressed; none where it would be withheld."""
    place = {name: j for j, name in enumerate(policy.quasi)}
    asked = [
        Constraint(tuple(place[name] for name in model.quasi_of(policy.quasi)), 1)
        for model in policy.constraints
    ]
    parts = [[policy.quasi[j] for j in union(part).columns] for part in components(asked)]
    return parts if len(parts) > 1 or policy.suppressed == "starred" else []


def _others(policy: Policy, names: Sequence[str]) -> list[str]:
    """The published columns beside the quasi-identifiers."""
    return [name for name in names if name in policy.columns and name not in policy.quasi]


def needed(names: Sequence[str], policy: Policy) -> list[str]:
    """The columns that any model or exemption speaks of."""
    others = _others(policy, names) if exempt_parts(policy) else policy.sensitive
    speaks = {*policy.quasi, *others}
    return [name for name in names if name in speaks]


def check_columns(names: Sequence[str], policy: Policy) -> None:
    """Refuse a release without columns that the policy speaks of, or with others than it lets out."""
    wanted = [*policy.quasi, *policy.sensitive]
    missing = [name for name in wanted if name not in names]
    if len(missing) == len(wanted):
        raise PolicyError(
            f"The release has none of the columns the policy speaks of ({listed(wanted)}), but "
            f"{len(names)} others. Is this the policy it was made by, and has the file a line of "
            "column names?"
        )
    if missing:
        raise PolicyError(
            f"The release has no column {listed(repr(name) for name in missing)}, which the policy "
            f"speaks of; it has {listed(names)}. Is this the policy it was made by?"
        )
    hidden = [name for name in names if name not in policy.published(names)]
    if hidden:
        raise VerificationFailed(
            f"The release holds {listed(repr(name) for name in hidden)}, which the policy does not "
            "let be published."
        )


# Whether a policy and a table belong together: every column listed, every listed column there.


def problems(policy: "Policy", names: Sequence[str]) -> list[Problem]:
    """All that keeps the policy from being applied to a table with these columns."""
    if not any(name in policy.columns for name in names):
        return [Problem(("columns",), _stranger(policy, names))]
    return [*_unknown(policy, names), *_forgotten(policy, names)]


def _stranger(policy: "Policy", names: Sequence[str]) -> str:
    # the names are not shown: of a file without a header they would be somebody's row
    return (
        f"none of them is in the table, which has {len(names)} other columns. Is this the policy of "
        f"another table, or has the file no line of column names, or another separator? The policy "
        f"lists {listed(policy.columns)}"
    )


def _unknown(policy: "Policy", names: Sequence[str]) -> Iterator[Problem]:
    free = [name for name in names if name not in policy.columns]
    for name in policy.columns:
        if name not in names:
            # A column that no line of the policy speaks of is the likeliest to be meant.
            meant = nearest(name, free) or nearest(name, names)
            words = "the table has no such column"
            words += f".{meant}" if meant else f"; it has {listed(names, 30)}"
            yield Problem(("columns", name), words)


def _forgotten(policy: "Policy", names: Sequence[str]) -> Iterator[Problem]:
    left = [name for name in names if name not in policy.columns]
    if left and policy.default != "drop":
        yield Problem(
            ("columns",),
            f"the table also has {listed(left, 30)}; list each under `columns` with a role, or set "
            "`default: drop` to leave such columns out",
        )


# A policy from a few keywords, for the one-line call in a notebook.


Names = str | Iterable[str]


def simple(
    names: Iterable[str],
    *,
    quasi: Names,
    sensitive: Names = (),
    identifiers: Names = (),
    plain: Names = (),
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the field's own letter
    hierarchies: Mapping[str, Any] | None = None,
    **options: Any,
) -> Policy:
    """A policy for a table with the columns `names`.

    `l` is asked of every sensitive column, `hierarchies` gives quasi or sensitive columns their
    trees, and `options` are the other keys of a policy: method, seed, suppression, default and so
    on. A column without a role is an error unless `default="drop"` is given.
    """
    if taken := [key for key in ("columns", "constraints") if key in options]:
        raise PolicyError(f"{taken[0]}: cannot stand beside `quasi`; give a whole policy instead.")
    table = list(names)
    roles = {
        "quasi": _list(quasi),
        "sensitive": _list(sensitive),
        "identifiers": _list(identifiers),
        "plain": _list(plain),
    }
    _check(table, roles, hierarchies or {}, drops=options.get("default") == "drop")
    constraints: list[dict[str, Any]] = [] if k is None else [{"k": k}]
    if l is not None:
        if not roles["sensitive"]:
            raise PolicyError("l: needs a sensitive column; give `sensitive`, or leave `l` out.")
        constraints += [{"l": l, "of": column} for column in roles["sensitive"]]
    if not constraints:
        raise PolicyError("k: missing; give k, l or both, such as k=5.")
    columns = {
        column: {"role": "identifier" if role == "identifiers" else role}
        for role, given in roles.items()
        for column in given
    }
    for column, tree in (hierarchies or {}).items():
        columns[column]["hierarchy"] = tree
    return Policy.load({"columns": columns, "constraints": constraints, **options})


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _check(
    table: list[str], roles: Mapping[str, list[str]], trees: Mapping[str, Any], *, drops: bool
) -> None:
    """Everything that is wrong with the lists, in the keywords' own words."""
    lines: list[str] = []
    seen: dict[str, str] = {}
    for role, given in roles.items():
        for name in given:
            if name not in table:
                meant = nearest(str(name), table)
                lines.append(
                    f"{role}: the table has no column '{name}'; it has {listed(table, 30)}.{meant}"
                )
            elif name in seen:
                lines.append(
                    f"{role}: '{name}' is in `{seen[name]}` already; a column has one role."
                )
            seen.setdefault(name, role)
    for name in trees:
        if name not in (*roles["quasi"], *roles["sensitive"]):
            lines.append(f"hierarchies: '{name}' is neither in `quasi` nor in `sensitive`.")
    left = [name for name in table if name not in seen]
    if left and not drops:
        lines.append(
            f"no role for {listed(left, 30)}; put each into quasi, sensitive, identifiers or "
            'plain, or give default="drop" to leave such columns out.'
        )
    if lines:
        raise PolicyError("\n".join(lines))
