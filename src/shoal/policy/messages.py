"""Messages about mistakes in a policy.

Pydantic finds the mistakes; its own texts are about types and classes. Here each one becomes a line
with its field, what was found, what is allowed and the nearest spelling.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic_core import InitErrorDetails, PydanticCustomError, ValidationError

from shoal.errors import PolicyError, listed, nearest

FieldPath = tuple[str | int, ...]
"""Keys and list places from the top of the policy down to a field."""

MOST_SHOWN = 10

OWN = "shoal"
"""The type of pydantic errors that have our own text already."""

SYNONYMS = {
    "identifying": "identifier",
    "id": "identifier",
    "direct": "identifier",
    "qi": "quasi",
    "qid": "quasi",
    "quasi-identifier": "quasi",
    "quasi-identifying": "quasi",
    "quasi_identifier": "quasi",
    "sa": "sensitive",
    "insensitive": "plain",
    "non-sensitive": "plain",
    "numeric": "ordered",
    "number": "ordered",
    "ordinal": "ordered",
    "categorical": "unordered",
    "nominal": "unordered",
}
"""Synonyms in the field: closer in meaning than the nearest spelling."""


class Problem(NamedTuple):
    """One mistake and where it is."""

    path: FieldPath
    text: str


class Guide(NamedTuple):
    """The structure of a policy, for messages. Paths use '*' for any name or index."""

    keys: Mapping[FieldPath, Sequence[str]]
    """The keys allowed in each mapping."""
    hints: Mapping[FieldPath, str]
    """What to write in a field that is missing or of the wrong shape."""


NO_GUIDE = Guide({}, {})


def refusal(problems: Sequence[Problem], where: Callable[[FieldPath], str]) -> PolicyError:
    """All problems as one error, a line each; `where` gives the file and line of a path."""
    lines = [f"{where(p.path)}{_prefix(p.path)}{p.text}" for p in problems[:MOST_SHOWN]]
    if len(problems) > MOST_SHOWN:
        lines.append(f"... and {len(problems) - MOST_SHOWN} more problems")
    return PolicyError("\n".join(lines))


def as_error(*problems: Problem) -> ValidationError:
    """Problems as pydantic's error, so that a validator can raise several at once."""
    details: list[InitErrorDetails] = [
        {
            "type": PydanticCustomError(OWN, "{words}", {"words": problem.text}),
            "loc": problem.path,
            "input": None,
        }
        for problem in problems
    ]
    return ValidationError.from_exception_data("policy", details)


def problems_of(error: ValidationError, guide: Guide = NO_GUIDE) -> list[Problem]:
    """The problems that pydantic found, with our texts."""
    return [_problem(each, guide) for each in error.errors(include_url=False)]


def path_text(path: FieldPath) -> str:
    """`columns.age.kind`, `constraints[0].k`; a name that is not one word is quoted."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + (step if re.fullmatch(r"[\w-]+", step) else f"'{step}'")
    return text


def found(value: Any) -> str:
    """A value as the user would write it, or its shape when it is not a single value."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() | float():
            text = str(value)
            return text if len(text) <= 60 else f"{text[:60]}..."
        case str():
            return f"'{value}'" if len(value) <= 60 else f"'{value[:60]}...'"
        case Mapping():
            return "a mapping" if value else "an empty mapping"
        case list() | tuple() | set() | frozenset():
            return "a list" if value else "an empty list"
        case type():
            return f"the class {value.__name__}"
    return f"a Python object of type {type(value).__name__}"


def choice(value: Any, allowed: Iterable[str]) -> str:
    """'found x; allowed: a, b. Did you mean 'a'?'."""
    words = list(allowed)
    return f"found {found(value)}; allowed: {listed(words, 30)}.{_meant(value, words)}"


def unknown_key(key: Any, allowed: Iterable[str], owner: str = "") -> str:
    """The text for an unknown key."""
    words = list(allowed)
    what = f"not an option of {owner}" if owner else "unknown key"
    if not words:
        return f"{what}, which has none"
    return f"{what}; allowed: {listed(words, 30)}.{_meant(key, words)}"


def _meant(value: Any, allowed: list[str]) -> str:
    if not isinstance(value, str):
        return ""
    same = SYNONYMS.get(value.lower())
    if same in allowed:
        return f" Did you mean '{same}'?"
    return nearest(value, allowed)


def _prefix(path: FieldPath) -> str:
    return f"{path_text(path)}: " if path else ""


def _problem(error: Any, guide: Guide) -> Problem:
    path: FieldPath = error["loc"]
    if path and path[-1] == "[key]":
        return Problem(path[:-2], f"found {found(error['input'])} as a name; a name must be text")
    return Problem(path, _text(error, path, guide))


def _text(error: Any, path: FieldPath, guide: Guide) -> str:
    kind, value, more = error["type"], error["input"], error.get("ctx", {})
    if kind == OWN:
        return str(more["words"])
    if kind == "missing":
        return _hinted("missing", path, guide)
    if kind == "extra_forbidden":
        return unknown_key(path[-1], _at(guide.keys, path[:-1], ()))
    if kind == "invalid_key":
        return f"found {found(value)} as a key; a key must be text"
    if kind in ("literal_error", "enum"):
        return choice(value, _choices(more["expected"]))
    if kind in ("value_error", "assertion_error"):
        return str(more["error"])
    if kind in BOUNDS:
        bound, words = BOUNDS[kind]
        return _hinted(
            f"found {found(value)}; must be {words.format(_number(more[bound]))}", path, guide
        )
    shape = SHAPES.get(kind) or SHAPES.get(kind.partition("_")[0])
    if shape == "text" and isinstance(value, int | float):
        shape = "text (put it in quotes)"
    if shape:
        return _hinted(f"found {found(value)}; must be {shape}", path, guide)
    return f"found {found(value)}; {error['msg'][:1].lower()}{error['msg'][1:]}"


BOUNDS = {
    "greater_than_equal": ("ge", "{} or more"),
    "greater_than": ("gt", "above {}"),
    "less_than_equal": ("le", "{} or less"),
    "less_than": ("lt", "below {}"),
    "too_short": ("min_length", "a list of {} or more"),
    "too_long": ("max_length", "a list of {} or fewer"),
    "string_too_short": ("min_length", "text of {} or more characters"),
    "string_too_long": ("max_length", "text of {} or fewer characters"),
}

SHAPES = {
    "int": "a whole number",
    "float": "a number",
    "finite_number": "a finite number",
    "bool": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "model_type": "a mapping",
    "dataclass_type": "a mapping",
    "path_type": "a path",
}


def _number(value: Any) -> Any:
    """1 for 1.0: pydantic turns the bounds of a float into floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _hinted(text: str, path: FieldPath, guide: Guide) -> str:
    hint = _at(guide.hints, path, "")
    return f"{text}; {hint}" if hint else text


def _at(table: Mapping[FieldPath, Any], path: FieldPath, default: Any) -> Any:
    """The entry whose path matches, '*' being any one step."""
    for pattern, entry in table.items():
        if len(pattern) == len(path) and all(
            p in ("*", s) for p, s in zip(pattern, path, strict=True)
        ):
            return entry
    return default


def _choices(expected: str) -> list[str]:
    """Pydantic gives the choices as one text: `'a', 'b' or 'c'`."""
    return [each.strip("'") for each in re.split(r", | or ", expected)]
