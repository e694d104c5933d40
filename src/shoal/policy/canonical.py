"""The canonical form of a policy: written out in full, and its fingerprint.

Every option is written, even with its default value, so that a file keeps its meaning when a default
changes.
"""

import hashlib
import json
from typing import TYPE_CHECKING, Any

import yaml

from shoal.policy.parts import plain_constraint, plain_named
from shoal.policy.reading import FILE_KEYS
from shoal.policy.yaml_source import add_core_schema

if TYPE_CHECKING:
    from shoal.policy.column import Column
    from shoal.policy.policy import Policy


LONGEST = 100
"""A column or constraint up to about this many characters is written on one line."""
IN_MEMORY = "a table in memory"
"""The population in the canonical form if it has no path."""


def to_data(policy: "Policy", seed: int | None = None) -> dict[str, Any]:
    """The policy as plain data, keys in the order of the fields.

    It leaves with a certificate, so it has no seed unless one is given.
    """
    data = {
        "columns": {name: _column(column) for name, column in policy.columns.items()},
        "constraints": [plain_constraint(model) for model in policy.constraints],
        "preset": [plain_named(preset) for preset in policy.preset] or None,
        "method": plain_named(policy.method),
        "refine": policy.refine,
        "default": policy.default,
        "suppression": policy.suppression,
        "suppressed": policy.suppressed,
        "order": policy.order,
        "formulas": None if policy.formulas == "kept" else policy.formulas,
        "publish": policy.publish,
        "seed": seed,
        "target": policy.target,
        "predict": policy.predict,
        "metrics": [plain_named(metric) for metric in policy.metrics] or None,
        "population": _population(policy),
        "read": policy.read.given() or None,
        "pseudonym": _key(policy),
        "about": policy.about.given() or None,
    }
    return {key: value for key, value in data.items() if value is not None}


def _key(policy: "Policy") -> dict[str, str] | None:
    """Where the key of pseudonyms is."""
    return None if policy.pseudonym is None else policy.pseudonym.model_dump(exclude_none=True)


def _population(policy: "Policy") -> str | None:
    """Its path; a table in memory cannot be written."""
    if policy.population is None or isinstance(policy.population, str):
        return policy.population
    return IN_MEMORY


def to_yaml(policy: "Policy") -> str:
    """The policy as YAML that loads to an equal policy; a population in memory is left out."""
    data = to_data(policy, policy.seed)
    unwritten = ""
    if data.get("population") == IN_MEMORY and not isinstance(policy.population, str):
        del data["population"]
        unwritten = (
            "# population: was a table in memory; name a file here, or give it from Python\n"
        )
    data["columns"] = {name: _short(column) for name, column in data["columns"].items()}
    data["constraints"] = [_short(constraint) for constraint in data["constraints"]]
    data["method"] = _short(data["method"])
    if "preset" in data:
        data["preset"] = [_short(preset) for preset in data["preset"]]
    if "read" in data:
        data["read"] = _short(data["read"])
    if "metrics" in data:
        data["metrics"] = [_short(metric) for metric in data["metrics"]]
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=10**9,
    )
    return text + unwritten


def fingerprint(policy: "Policy", seed: int | None = None) -> str:
    """SHA-256 of the policy's meaning, in hex.

    Without its seed, which could be found by trying. seed: one to include, as in certificates of the
    first format.
    """
    data = to_data(policy, seed)
    # the order of quasi columns breaks ties, that of other columns means nothing; all other keys are
    # in the order of the fields, but those of a tree as given: they order the leaves
    others = sorted(name for name in policy.columns if name not in policy.quasi)
    data["columns"] = [
        [name, _column(policy.columns[name], reasons=False)] for name in (*policy.quasi, *others)
    ]
    # how the file is written does not change what the policy means
    values = {key: value for key, value in data.pop("read", {}).items() if key not in FILE_KEYS}
    if values:
        data["read"] = values
    # what it is for, and why columns have their roles, does not either
    data.pop("about", None)
    if policy.publish == "generalised":
        del data["publish"]  # the key came later, and a fingerprint must stay what it was
    text = json.dumps(data, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _column(column: "Column", reasons: bool = True) -> str | dict[str, Any]:
    """reasons: with the reason why."""
    data = {
        "role": column.role,
        "kind": column.kind,
        "hierarchy": None if column.hierarchy is None else column.hierarchy.to_plain(),
        "order": None if column.order is None else list(column.order),
        "labels": column.labels,
        "levels": column.levels,
        "together": column.together,
        "preference": column.preference,
        "missing": None if column.missing is None else list(column.missing),
        "spelling": column.spelling,
        "type": column.type,
        "dates": column.dates,
        "importance": column.importance,
        "top": column.top,
        "bottom": column.bottom,
        "round": column.round,
        "part": column.part,
        "zip3": column.zip3,
        "characters": column.characters,
        "publish": column.publish,
        "why": column.why if reasons else None,
    }
    given = {key: value for key, value in data.items() if value is not None}
    return column.role if len(given) == 1 else given


class _OnOneLine(dict[str, Any]):
    """A mapping that is written as `{a: 1, b: 2}`, whatever it contains."""


def _short(value: Any) -> Any:
    return _OnOneLine(value) if isinstance(value, dict) and len(repr(value)) < LONGEST else value


class _Dumper(yaml.SafeDumper):
    """Quotes only what the reader would not take for text."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's own name
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # unquoted, some rare characters (U+0085 is one) would be read as line breaks
    style = None if text.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


add_core_schema(_Dumper)
_Dumper.add_representer(str, _text)
_Dumper.add_representer(
    _OnOneLine,
    lambda dumper, data: dumper.represent_mapping(
        "tag:yaml.org,2002:map", data.items(), flow_style=True
    ),
)
