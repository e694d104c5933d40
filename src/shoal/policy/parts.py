"""Constraints, methods, metrics, presets and hierarchies of a policy as objects, and back as plain data.

A constraint names its model by a key (`{k: 5}`), a method by `name`, a hierarchy by its kind. Each
becomes a frozen dataclass whose fields are the allowed options. Objects of these classes are accepted
as they are.
"""

import dataclasses
import os
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import ValidationError

from shoal import plugins
from shoal.errors import InputError, PolicyError, listed, nearest
from shoal.io.address import Address, place_of
from shoal.policy.messages import (
    FieldPath,
    Problem,
    as_error,
    choice,
    found,
    problems_of,
    unknown_key,
)

COLUMN_LISTS = ("on",)
COLUMN_NAMES = ("on", "of")
"""Constraint keys whose values are columns: a column may be called 2020."""


def constraint(value: Any) -> Any:
    """A model from `{k: 5, on: [age, zip]}`; a model object is returned unchanged."""
    if not isinstance(value, Mapping):
        return _object(value, "models", "a mapping with a model as a key, as in {k: 5}")
    name = _model_name(value)
    plugin = plugins.model(name)
    fields = dataclasses.fields(plugin)
    options = {fields[0].name if key == name else key: _columns(key, value[key]) for key in value}
    return _build(plugin, options)


def method(value: Any) -> Any:
    """A method from its name or `{name: mondrian, strict: false}`; objects are unchanged."""
    return _named(value, "methods", "a method's name, as in `method: mondrian`")


def metric(value: Any) -> Any:
    """A metric from its name or `{name: query-error, queries: 500}`; objects are unchanged."""
    return _named(value, "metrics", "a metric's name, as in `metrics: [query-error]`")


def preset(value: Any) -> Any:
    """A preset from its name or `{name: hipaa-safe-harbor, zip_codes: zip3.csv}`; objects are
    unchanged."""
    return _named(value, "presets", "a preset's name, as in `preset: cell-size-11`")


def one_or_more(value: Any) -> Any:
    """A list from a list, or from a single entry."""
    return [value] if isinstance(value, str | Mapping | plugins.Plugin) else value


def population(value: Any) -> Any:
    """A file's path or a database's address as text, or a table of Python."""
    if value is None:
        return value
    if isinstance(value, str):
        try:
            place = place_of(value)
        except InputError as error:
            raise as_error(Problem((), str(error))) from None
        if isinstance(place, Address) and place.secrets:
            words = "an address in a policy has no password; set PGPASSWORD, or use ~/.pgpass"
            raise as_error(Problem((), words))
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if not (hasattr(value, "columns") or hasattr(value, "column_names")):
        raise as_error(Problem((), f"found {found(value)}; must be a file's path, or a table"))
    return value


def hierarchy(value: Any) -> Any:
    """A hierarchy from a CSV path or a mapping; a `Hierarchy` object is returned unchanged."""
    from shoal.hierarchy import parse_hierarchy

    if value is None:
        return None
    try:
        return parse_hierarchy(value)
    except PolicyError as error:
        # the field's name precedes every problem already
        raise as_error(Problem((), str(error).removeprefix("hierarchy: "))) from None


def plain(part: Any) -> dict[str, Any]:
    """The fields of a plug-in object as plain data, without those left at None."""
    data = TypeAdapter(type(part)).dump_python(part, mode="json")
    fields = zip(dataclasses.fields(part), data.items(), strict=True)
    return {key: value for field, (key, value) in fields if (value, field.default) != (None, None)}


def plain_constraint(model: Any) -> dict[str, Any]:
    """A model as a policy writes it, its name first."""
    fields = plain(model)
    own = dataclasses.fields(model)[0].name
    return {plugins.name_of(type(model)): fields.pop(own), **fields}


def plain_named(chosen: Any) -> str | dict[str, Any]:
    """A method or metric as a policy writes it: its name alone, or with its options."""
    name, options = plugins.name_of(type(chosen)), plain(chosen)
    for field in dataclasses.fields(chosen):
        if field.name in chosen.later_options and options.get(field.name) == field.default:
            del options[field.name]
    return {"name": name, **options} if options else name


def _named(value: Any, room: plugins.Kind, wanted: str) -> Any:
    """A plug-in of a room from its name, alone or in a mapping with its options."""
    if isinstance(value, str):
        value = {"name": value}
    elif not isinstance(value, Mapping):
        return _object(value, room, wanted)
    known, one = plugins.names(room), room.removesuffix("s")
    if "name" not in value:
        words = f"names no {one}; write `name: ...` with one of: {listed(known, 30)}"
        raise as_error(Problem((), words))
    if value["name"] not in known:
        raise as_error(Problem((), choice(value["name"], known)))
    options = {key: value[key] for key in value if key != "name"}
    return _build(plugins.find(room, value["name"]), options)


def _object(value: Any, kind: plugins.Kind, wanted: str) -> Any:
    """A plug-in object of a kind, or an error."""
    if isinstance(value, type):
        words = f"found {found(value)}; make an object of it, as in {value.__name__}(...)"
        raise as_error(Problem((), words))
    if not (isinstance(value, plugins.Plugin) and value.kind == kind):
        raise as_error(Problem((), f"found {found(value)}; must be {wanted}"))
    return value


def _model_name(value: Mapping[Any, Any]) -> str:
    known = plugins.names("models")
    named = [key for key in value if key in known]
    if not named:
        raise as_error(Problem((), _no_model(value, known)))
    # A model may have an option that is called like another model.
    owners = [n for n in named if set(named) <= {n, *_field_names(plugins.model(n))}]
    if len(owners) != 1:
        each = ", ".join(f"{{{name}: ...}}" for name in named)
        words = f"holds {len(named)} models, {listed(named)}; write each on its own: {each}"
        raise as_error(Problem((), words))
    return str(owners[0])


def _no_model(value: Mapping[Any, Any], known: list[str]) -> str:
    keys = [str(key) for key in value]
    if not keys:
        return f"is empty; name a model, as in {{k: 5}}; allowed: {listed(known, 30)}"
    meant = next((m for key in keys if key not in COLUMN_NAMES and (m := nearest(key, known))), "")
    which = f"the key '{keys[0]}'" if len(keys) == 1 else f"the keys {listed(keys)}"
    return (
        f"found {which} and no model; write the model as a key, as in {{k: 5}}; "
        f"allowed: {listed(known, 30)}.{meant}"
    )


def _columns(key: Any, value: Any) -> Any:
    """Column names as text; a single one need not be in a list."""
    if key not in COLUMN_NAMES or value is None:
        return value
    if key in COLUMN_LISTS and not isinstance(value, list | tuple):
        value = [value]
    if isinstance(value, list | tuple):
        return [column_name(each) for each in value]
    return column_name(value)


def column_name(value: Any) -> Any:
    """The name of a column such as 2020, which need not be quoted."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


@cache
def _hints(plugin: type) -> dict[str, Any]:
    return get_type_hints(plugin, include_extras=True)


@cache
def _adapter(plugin: type) -> TypeAdapter[Any]:
    return TypeAdapter(plugin)


def _field_names(plugin: type) -> list[str]:
    return [f.name for f in dataclasses.fields(plugin) if f.init]


def _build(plugin: type, options: Mapping[Any, Any]) -> Any:
    """The plug-in with these options; all mistakes in them are reported at once."""
    allowed, name = _field_names(plugin), plugins.name_of(plugin)
    hints, problems, good = _hints(plugin), [], {}
    for key, value in options.items():
        if key not in allowed:
            spelled = [_spelled(plugin, each) for each in allowed]
            problems.append(Problem((str(key),), unknown_key(key, spelled, name)))
        elif isinstance(value, bool) and not _takes_bool(hints[key]):
            # Pydantic would read true as 1.
            problems.append(Problem((key,), _of_type(value, hints[key])))
            good[key] = value
        else:
            good[key] = value
    made: Any = None
    try:
        made = _adapter(plugin).validate_python(good)
    except ValidationError as error:
        problems += _worded(error, plugin, hints, {p.path for p in problems})
    if problems:
        raise as_error(*(Problem(_place(plugin, path), words) for path, words in problems))
    return made


def _spelled(plugin: type, field: str) -> str:
    """A field as a policy writes it: a model's own figure goes by the model's name."""
    name = plugins.name_of(plugin)
    return name if field == name.replace("-", "_") else field


def _place(plugin: type, path: FieldPath) -> FieldPath:
    return (_spelled(plugin, str(path[0])), *path[1:]) if path else path


def _worded(
    error: ValidationError, plugin: type, hints: Mapping[str, Any], reported: set[tuple[Any, ...]]
) -> list[Problem]:
    """One problem per field; a missing field is explained by its docstring."""
    texts = {option.name: option.text for option in plugins.describe(plugin).options}
    problems: dict[tuple[Any, ...], Problem] = {}
    for problem, detail in zip(problems_of(error), error.errors(), strict=True):
        path, words = problem
        field = str(path[0]) if path else ""
        text = texts.get(_spelled(plugin, field))
        if detail["type"] == "missing" and text:
            words = f"missing. {text}"
        elif field in hints and _is_choice_of_types(hints[field]):
            # Pydantic reports every type it tried, under paths of its own making.
            path, words = path[:1], _of_type(detail["input"], hints[field])
        elif (
            detail["type"].startswith(("greater_", "less_"))
            and len(plugins.bounds_of(hints[field])) > 1
        ):
            words = _of_type(detail["input"], hints[field])
        if path not in reported:
            problems.setdefault(path, Problem(path, words))
    return list(problems.values())


def _of_type(value: Any, hint: Any) -> str:
    wanted = plugins.type_words(hint)
    article = "a " if wanted.startswith(("whole number", "number", "list")) else ""
    return f"found {found(value)}; must be {article}{wanted}"


def _is_choice_of_types(hint: Any) -> bool:
    inside = [each for each in get_args(hint) if each is not type(None)]
    return len(inside) > 1 and "Union" in str(get_origin(hint) or "")


def _takes_bool(hint: Any) -> bool:
    return hint in (bool, Any) or any(_takes_bool(each) for each in get_args(hint))
