"""A policy: the role of every column, the privacy models, the method.

A policy is one frozen object, whether it came from YAML or from Python. It is validated when it is
created, so code that has one need not validate again; only `check` needs the table's column names.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.functional_validators import ModelWrapValidatorHandler  # pydantic has it from 2.11 on

from shoal.errors import PolicyError
from shoal.io.csv_dialect import CsvOptions
from shoal.models.base import Model
from shoal.policy import canonical, parts, presets, rules
from shoal.policy.about import About
from shoal.policy.column import ROLES, Column
from shoal.policy.messages import Guide, Problem, as_error, found, problems_of, refusal, unknown_key
from shoal.policy.pseudonym import PseudonymKey
from shoal.policy.reading import Reading
from shoal.policy.yaml_source import Source, parse, read
from shoal.seeds import LIMIT

if TYPE_CHECKING:
    from shoal.encoding.columns import ColumnSpec
    from shoal.encoding.reading import ValueReading
    from shoal.encoding.rules import Recoding
    from shoal.hierarchy import Hierarchy
    from shoal.methods.base import Method
    from shoal.metrics.base import Metric
    from shoal.presets.base import Preset
else:  # importing them would load pyarrow
    Method = Metric = Preset = Any

DEFAULT_METHOD = "auto"
EFFORTS = ("quick", "thorough")
"""How much refinement a policy can ask for by name."""
MOST_PASSES = 10_000


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


def _passes(value: Any) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is None or value in EFFORTS or (whole and 1 <= value <= MOST_PASSES):
        return value
    words = (
        f"found {found(value)}; must be {' or '.join(EFFORTS)}, or a number of passes over all rows, "
        f"1 to {MOST_PASSES:,}"
    )
    raise as_error(Problem((), words))


class Policy(BaseModel):
    """What to publish of a table, and which guarantees the release must meet."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: dict[str, Column]
    """Every column of the table with its role. The order of quasi columns breaks ties."""
    constraints: tuple[Annotated[Model, PlainValidator(parts.constraint)], ...]
    """The privacy models that the release must hold, all of them; those of presets included."""
    preset: Annotated[
        tuple[Annotated[Preset, PlainValidator(parts.preset)], ...],
        BeforeValidator(parts.one_or_more),
    ] = ()
    """What authorities ask for: each preset adds constraints and column settings, which the policy may
    only make stricter, and checks of the release."""
    method: Annotated[Method, PlainValidator(parts.method)] = Field(
        default_factory=lambda: parts.method(DEFAULT_METHOD)
    )
    """How rows are put into groups, with the method's options."""
    refine: Annotated[Literal["quick", "thorough"] | int | None, PlainValidator(_passes)] = None
    """Whether the rows of the groups are rearranged afterwards, so that the release loses less: `quick`,
    `thorough`, or how often all rows are looked at. Not done when left out."""
    default: Literal["drop"] | None = None
    """`drop` leaves out the table's columns that are not listed; without it they are an error."""
    suppression: Annotated[float, BeforeValidator(_share)] | None = None
    """The largest share of rows that may be suppressed; no limit when left out."""
    suppressed: Literal["withheld", "starred"] = "withheld"
    """Whether a suppressed row is left out, or published with every cell as `*`."""
    order: Literal["sorted", "kept"] = "sorted"
    """Whether rows leave in an order made from published content alone, or as they came."""
    formulas: Literal["kept", "escaped"] = "kept"
    """Whether texts of CSV files that a spreadsheet would run are written as they are, or with an
    apostrophe in front."""
    publish: Literal["generalised", "anatomy"] = "generalised"
    """Whether quasi-identifiers are made coarser, or stay exact with the sensitive values apart, in
    tables of their own that are linked by a group id."""
    seed: Annotated[int, BeforeValidator(_no_bool), Field(ge=0, lt=LIMIT)] | None = Field(
        default=None, repr=False
    )
    """Where all randomness starts: the same seed gives the same release. Drawn at random when left
    out. Whoever knows it can repeat the run, so it is no part of the fingerprint."""
    target: Annotated[str, BeforeValidator(parts.column_name)] | None = None
    """The column whose classes the metric `cm` counts."""
    predict: Annotated[str, BeforeValidator(parts.column_name)] | None = None
    """The column that analysts will predict: quasi columns count by what they tell about it, so that
    methods keep what it can be predicted from. It is published, and not sensitive."""
    metrics: Annotated[
        tuple[Annotated[Metric, PlainValidator(parts.metric)], ...],
        BeforeValidator(parts.one_or_more),
    ] = ()
    """Metrics to measure beside those that every release is measured by, or with other options."""
    population: Annotated[Any, PlainValidator(parts.population)] = None
    """The table of all people, for `k-map` and `delta-presence`: a file's path, or from Python any
    table. It holds every quasi column."""
    pseudonym: PseudonymKey | None = None
    """Where the secret key of the role `pseudonym` is: `key_file` or `key_env`."""
    read: Reading = Reading()
    """How the table is written: the format of a text file, of numbers and of dates. What is left out is
    detected, or asked where it is ambiguous."""
    about: About = About()
    """What the release is for, who gets it and who answers for it: the words of the report's first
    page."""
    folder: Path = Field(default=Path(), exclude=True)
    """Where relative paths start. Set when a file is read; not a key of the file."""

    _source: Source = PrivateAttr(default_factory=Source)

    @classmethod
    def load(
        cls, source: "Policy | Mapping[str, Any] | str | os.PathLike[str]", **keys: Any
    ) -> "Policy":
        """Read a policy.

        Parameters
        ----------
        source
            A file's path, YAML text of several lines, a mapping, or a policy.
        **keys
            Keys of the policy to replace, such as `seed=7`.

        Returns
        -------
        Policy
            The validated policy.

        Raises
        ------
        PolicyError
            With every mistake on a line of its own, each with its file, line and field.
        """
        if isinstance(source, Policy):
            return source.replace_keys(**keys) if keys else source
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
    def from_text(cls, text: str, name: str, folder: Path) -> "Policy":
        """Read a policy from YAML text; messages call it `name`, relative paths start in `folder`."""
        return cls._from(parse(text, name, folder.absolute()), {})

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
        """Report all mistakes at once, in one `PolicyError`."""
        source = info.context if isinstance(info.context, Source) else Source()
        if isinstance(data, Mapping) and data.get("preset") and "constraints" not in data:
            data = {**data, "constraints": []}  # those of the presets
        elif isinstance(data, Mapping) and data.get("preset") and data["constraints"] is None:
            words = (
                "found nothing; delete the key, so that those of the preset hold, or write at least "
                "one, as in `constraints: [{k: 5}]`"
            )
            raise refusal([Problem(("constraints",), words)], source.where)
        try:
            policy = validated(data)
        except ValidationError as error:
            problems = rules.with_undecided(problems_of(error, GUIDE))
            problems = rules.with_sensitive(problems, data)
            raise refusal(problems, source.where) from None
        policy._source = source
        if refused := presets.problems(policy):
            raise refusal(refused, source.where)
        # a frozen model can be completed only here, before anyone has seen it
        policy.__dict__.update(presets.added(policy))
        for name in ("names_by_role", "_shares"):
            policy.__dict__.pop(name, None)
        if contradictions := rules.problems(policy):
            raise refusal(contradictions, source.where)
        return policy

    @property
    def read_from(self) -> str:
        """The file it was read from, as the user wrote it; empty where there is none."""
        return self._source.name

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers, in the policy's order."""
        return self.columns_with("quasi")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, in the policy's order."""
        return self.columns_with("sensitive")

    @property
    def plain(self) -> tuple[str, ...]:
        """The columns published unchanged, or as pseudonyms, and a weight that is published, in the
        policy's order."""
        roles = ("plain", "pseudonym", "weight")
        return tuple(n for n, c in self.columns.items() if c.role in roles and c.is_published)

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns with the role plain, and a weight that is published, in the policy's order."""
        return tuple(name for name in self.plain if self.columns[name].role != "pseudonym")

    @property
    def pseudonyms(self) -> tuple[str, ...]:
        """The columns published as keyed tokens, in the policy's order."""
        return self.columns_with("pseudonym")

    @property
    def column_rules(self) -> "dict[str, Recoding]":
        """The columns whose values are changed before anything else, with their rules: rounded, coded
        at an end, published by their year, the area of their zip code or their first characters."""
        return {name: rule for name in self.columns if (rule := self._rule_of(name)) is not None}

    def _rule_of(self, name: str) -> "Recoding | None":
        column = self.columns[name]
        if not column.has_rule:
            return None
        from shoal.encoding.characters import FirstCharacters
        from shoal.encoding.rules import rule_of
        from shoal.encoding.zip_areas import ZipAreas, read_large_areas

        reading, missing = self.value_reading(name), self.missing_codes(name)
        if column.zip3 is not None:
            return ZipAreas(name, read_large_areas(self.folder / column.zip3), missing)
        if column.characters is not None:
            return FirstCharacters(name, column.characters, missing)
        ends, year = (column.top, column.bottom, column.round), column.part == "year"
        return rule_of(name, *ends, reading, missing, year)

    def _reading_after_rules(self, name: str) -> "ValueReading":
        """How the values of a column are written once its rule was applied: years are numbers, the
        areas of zip codes and the first characters of others texts."""
        from shoal.encoding.reading import ValueReading

        column = self.columns[name]
        if column.zip3 is not None or column.characters is not None:
            return ValueReading("text")
        return ValueReading() if column.part is not None else self.value_reading(name)

    @property
    def identifiers(self) -> tuple[str, ...]:
        """The columns that identify people and are never published, in the policy's order."""
        return self.columns_with("identifier")

    @property
    def person(self) -> str | None:
        """The column that tells which rows are one person's; None where every row is a person."""
        return next(iter(self.columns_with("person")), None)

    @property
    def weight(self) -> str | None:
        """The column with the sampling weight of each row; None where there is none."""
        return next(iter(self.columns_with("weight")), None)

    @property
    def withholds_weight(self) -> bool:
        """Whether there are weights that the release does not have."""
        return self.weight is not None and not self.columns[self.weight].is_published

    @property
    def checks_hidden_weights(self) -> bool:
        """Whether a constraint is estimated from weights that the release does not have."""
        return self.withholds_weight and any(model.needs_weights for model in self.constraints)

    @property
    def together(self) -> bool:
        """Whether all rows of a person are protected together."""
        return self.person is not None and bool(self.columns[self.person].together)

    def columns_with(self, role: str) -> tuple[str, ...]:
        """The columns with a role, in the policy's order."""
        return self.names_by_role.get(role, ())

    @cached_property
    def names_by_role(self) -> dict[str, tuple[str, ...]]:
        """The columns with each role, in the policy's order; asked for each column of wide tables."""
        found: dict[str, list[str]] = {}
        for name, column in self.columns.items():
            found.setdefault(column.role, []).append(name)
        return {role: tuple(names) for role, names in found.items()}

    def hierarchy_of(self, name: str) -> "Hierarchy | None":
        """The hierarchy by which a column is made coarser: where it has a kind too, only a method that
        generalises along hierarchies alone takes the hierarchy."""
        column = self.columns[name]
        if column.kind is not None and not self.method.along_hierarchies:
            return None
        return column.hierarchy

    def column_spec(self, name: str) -> "ColumnSpec":
        """What the policy says about the values of a quasi-identifier or sensitive column."""
        from shoal.encoding.columns import ColumnSpec  # it loads pyarrow

        column, hierarchy = self.columns[name], self.hierarchy_of(name)
        return ColumnSpec(
            column.kind if hierarchy is None else None,
            column.order if hierarchy is None else None,
            hierarchy,
            column.levels,
            reading=self._reading_after_rules(name),
            rule=self._rule_of(name),
            missing=self.missing_codes(name),
            states_missing=column.missing is not None or self.read.missing == (),
            exact_spelling=column.spelling == "exact",
            exact_codes=column.spelling == "exact",
            labels=column.labels or "range",
            share=self._shares.get(name, 1.0),
        )

    @property
    def has_importance(self) -> bool:
        """Whether some quasi-identifiers count more than others."""
        return len({self._importance(name) for name in self.quasi}) > 1

    def _importance(self, name: str) -> float:
        given = self.columns[name].importance
        return 1.0 if given is None else given

    @cached_property
    def _shares(self) -> dict[str, float]:
        """How much each quasi-identifier counts, the most important one 1; asked for each of them."""
        from shoal.encoding.domain import shares_of

        return shares_of({name: self._importance(name) for name in self.quasi})

    @property
    def both_spellings(self) -> tuple[str, ...]:
        """The sensitive columns of models that must also hold where every spelling is a value."""
        needed = {model.column for model in self.constraints if not model.stricter_when_folded}
        return tuple(name for name in self.sensitive if name in needed)

    def columns_labelled(self, *forms: str) -> tuple[str, ...]:
        """The quasi-identifiers whose labels have one of some forms, in the policy's order."""
        return tuple(name for name in self.quasi if self.columns[name].labels in forms)

    def missing_codes(self, name: str) -> tuple[str, ...]:
        """The codes that stand for a missing value of a column."""
        own = self.columns[name].missing
        return (self.read.missing or ()) if own is None else own

    @property
    def no_ids(self) -> tuple[str, ...]:
        """The texts of the person column that are no ids: the policy's codes for missing values, and
        words such as `NA` unless the column lists its codes."""
        from shoal.encoding.people import NO_IDS

        if self.person is None:
            return ()
        stated = self.columns[self.person].missing is not None or self.read.missing == ()
        return (*self.missing_codes(self.person), *(() if stated else NO_IDS))

    def value_reading(self, name: str) -> "ValueReading":
        """How the values of a column are written, as far as the policy says it."""
        from shoal.encoding.reading import ValueReading

        column, read = self.columns[name], self.read
        kind = column.type or ("date" if column.dates else None)
        return ValueReading(kind, column.dates or read.dates, read.decimal, read.thousands)

    @property
    def preferences(self) -> dict[str, str]:
        """The sensitive columns with personal preferences, each with the column of these."""
        each = ((name, self.columns[name].preference) for name in self.sensitive)
        return {name: preference for name, preference in each if preference is not None}

    def release_options(self, options: CsvOptions) -> CsvOptions:
        """How to read a release of this policy."""
        return replace(options.of_release, formulas=self.formulas == "escaped")

    def needed(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of a table that a run must read, in the table's order."""
        names = tuple(names)
        hidden = {*self.preferences.values(), self.person, self.weight}
        required = {*self.published(names), *hidden}
        return tuple(name for name in names if name in required)

    def published(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of a table that the release has, in the table's order."""
        return tuple(n for n in names if n in self.columns and self.columns[n].is_published)

    def check(self, names: Iterable[str]) -> None:
        """Raise `PolicyError` when the policy does not fit a table with these columns."""
        if problems := list(rules.table_problems(self, list(names))):
            raise refusal(problems, self._source.where)

    def replace_keys(self, **keys: Any) -> "Policy":
        """This policy with some keys replaced, validated again."""
        current = {name: getattr(self, name) for name in type(self).model_fields}
        # mistakes in these keys are on no line of the file, so its source is not passed on
        replaced = type(self).model_validate({**current, **keys})
        replaced._source = self._source
        return replaced

    def with_changes(self, **changes: Any) -> "Policy":
        """This policy with some settings changed, validated again.

        Parameters
        ----------
        k, l, t
            The figure of the policy's k, l or t constraints, whose other options stay. Without such
            a constraint one is added: a k on all quasi-identifiers, an l or t for every sensitive
            column. Refused where it is ambiguous: several k constraints, or l or t constraints with
            different figures.
        columns
            Per column a role or the settings to change, such as `{"age": {"kind": "unordered"}}`.
        quasi, sensitive, identifiers, plain, person, weight
            Columns that take another role.
        hierarchies, kinds, orders, labels, importance
            Per column its hierarchy, its kind, the order of its values, the form of its labels or its
            importance.
        metrics
            Metrics to measure in addition to those of the policy.
        constraints, method, suppression, seed, ...
            Any other key of a policy: it is replaced.

        A setting that is None is not changed.

        Returns
        -------
        Policy
            The changed policy.

        Raises
        ------
        PolicyError
            With every mistake on a line of its own.

        Examples
        --------
        >>> policy = Policy.load({"columns": {"age": "quasi"}, "constraints": [{"k": 5}]})
        >>> policy.with_changes(k=10, method="mondrian", seed=7).constraints
        (K(k=10, on=None),)
        """
        from shoal.policy.keywords import keys_to_replace

        given = {key: value for key, value in changes.items() if value is not None}
        return self.replace_keys(**keys_to_replace(self, given)) if given else self

    def reading(self, **keys: Any) -> "Policy":
        """This policy with other keys of `read` in place of some; None changes nothing."""
        given = {key: value for key, value in keys.items() if value is not None}
        return self.replace_keys(read={**self.read.given(), **given}) if given else self

    def warnings(self) -> list[str]:
        """What is allowed but may be unintended."""
        return rules.warnings(self)

    def to_yaml(self) -> str:
        """The policy as YAML with every option; loading it gives an equal policy.

        A population that is a table in memory is left out, with a comment in its place.
        """
        return canonical.to_yaml(self)

    def fingerprint(self) -> str:
        """SHA-256 of the policy's meaning: the order of quasi columns counts, while the seed, the
        folder and the order of keys do not.
        """
        return canonical.fingerprint(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return False
        return self.seed == other.seed and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())


GUIDE = Guide(
    keys={
        (): [name for name in Policy.model_fields if name != "folder"],
        ("columns", "*"): list(Column.model_fields),
        ("read",): list(Reading.model_fields),
        ("about",): list(About.model_fields),
        ("pseudonym",): list(PseudonymKey.model_fields),
    },
    hints={
        ("columns",): "list every column of the table with its role, as in `age: quasi`",
        ("columns", "*", "role"): f"write one of: {', '.join(ROLES)}",
        ("columns", "*", "preference"): "name a column with the role preference",
        ("constraints",): "write at least one, as in `constraints: [{k: 5}]`",
    },
)
"""The fields above, for the texts of errors."""
