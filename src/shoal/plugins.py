"""The registry of methods, models, metrics, presets and file formats.

A plug-in is a concrete subclass of `Method`, `Model`, `Metric`, `Preset` or `FileFormat`. Those that
belong to Shoal are found by walking the folders `methods/`, `models/`, `metrics/`, `presets/` and
`engines/formats/`: a new file is picked up by itself. Other distributions declare theirs as entry points
of the groups `shoal.methods`, `shoal.models`, `shoal.metrics`, `shoal.presets` and `shoal.formats`::

    [project.entry-points."shoal.methods"]
    grid-cells = "acme.grid:GridCells"

A plug-in is named after its class: `LeastLossPartition` is `least-loss-partition` in a policy, on the
command line and in the docs.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import re
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from shoal.errors import PolicyError, listed, nearest

REQUIRED = "required"
"""What `describe` gives as the default of an option that has none."""

Kind = Literal["methods", "models", "metrics", "presets", "formats"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FOLDERS: dict[Kind, str] = {
    "methods": "shoal.methods",
    "models": "shoal.models",
    "metrics": "shoal.metrics",
    "presets": "shoal.presets",
    "formats": "shoal.engines.formats",
}
"""The package of each kind."""
BASES: dict[Kind, str] = {
    "methods": "Method",
    "models": "Model",
    "metrics": "Metric",
    "presets": "Preset",
    "formats": "FileFormat",
}
"""The base class of each kind."""

WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a CamelCase name is cut into words."""


class Plugin:
    """The base class of `Method`, `Model`, `Metric`, `Preset` and `FileFormat`.

    A plug-in is a frozen pydantic dataclass: its fields are the options of the plug-in, and the
    docstring under a field describes the option.
    """

    kind: ClassVar[Kind]
    name: ClassVar[str]
    """The name in policies, on the command line and in the docs: that of the class in kebab case,
    unless the class states another one."""
    on_request: ClassVar[bool] = False
    """Whether it takes long, so that it is used only where a policy names it."""
    later_options: ClassVar[frozenset[str]] = frozenset()
    """Options that were added to a plug-in in use. Policies leave them out where they have their
    defaults, so that the fingerprints in older certificates stay as they are."""
    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = kebab_case(cls.__name__)


class Option(NamedTuple):
    """One option of a plug-in, in words."""

    name: str
    type: str
    default: str
    text: str


class Description(NamedTuple):
    """A plug-in in words, as the lists and the docs show it."""

    name: str
    summary: str
    options: list[Option]
    on_request: bool = False


def methods() -> dict[str, type[Any]]:
    """Return every method by its name, without those that `problems` reports."""
    return _every("methods")


def models() -> dict[str, type[Any]]:
    """Return every privacy model by its name, without those that `problems` reports."""
    return _every("models")


def metrics() -> dict[str, type[Any]]:
    """Return every metric by its name, without those that `problems` reports."""
    return _every("metrics")


def presets() -> dict[str, type[Any]]:
    """Return every preset by its name, without those that `problems` reports."""
    return _every("presets")


def formats() -> dict[str, type[Any]]:
    """Return every file format by its name, without those that `problems` reports."""
    return _every("formats")


def method(name: str) -> type[Any]:
    """Return the method of that name."""
    return find("methods", name)


def model(name: str) -> type[Any]:
    """Return the model of that name."""
    return find("models", name)


def metric(name: str) -> type[Any]:
    """Return the metric of that name."""
    return find("metrics", name)


def preset(name: str) -> type[Any]:
    """Return the preset of that name."""
    return find("presets", name)


def find(kind: Kind, name: str) -> type[Any]:
    """Return the plug-in of a kind and name; only the file of that name is imported, if there is one.

    Raises
    ------
    PolicyError
        If there is no such plug-in, if two have that name, or if it cannot be loaded. The message
        names the allowed names, or the modules and distributions involved.
    """
    declared = [point for point in _declared(kind) if point.name == name]
    own = _in_file(kind, name) or [cls for cls in _in_tree(kind) if name_of(cls) == name]
    if len(own) + len(declared) > 1:
        raise PolicyError(_clash(kind, name, own, declared))
    if own:
        return own[0]
    if declared:
        return _load(kind, declared[0])
    known = names(kind)
    raise PolicyError(
        f"there is no {_one(kind)} '{name}'; allowed: {listed(known, 30)}.{nearest(name, known)}"
    )


def names(kind: Kind) -> list[str]:
    """Return the names of all plug-ins of a kind, sorted; those that cannot be loaded included."""
    return sorted(_candidates(kind))


def problems(kind: Kind) -> dict[str, str]:
    """Return, by name, why a plug-in cannot be used: a broken distribution, or a name used twice."""
    found = {}
    for name in _candidates(kind):
        try:
            find(kind, name)
        except PolicyError as error:
            found[name] = str(error)
    return found


def name_of(plugin: type) -> str:
    """Return the name of a plug-in's class."""
    return plugin.name if issubclass(plugin, Plugin) else kebab_case(plugin.__name__)


def kebab_case(class_name: str) -> str:
    """Return a CamelCase name in kebab case: `KMap` becomes `k-map`."""
    return WORDS.sub("-", class_name).lower()


def describe(plugin: type) -> Description:
    """Return name, first docstring line and options of a plug-in."""
    summary = (inspect.getdoc(plugin) or "").partition("\n")[0] if plugin.__doc__ else ""
    on_request = issubclass(plugin, Plugin) and plugin.on_request
    return Description(name_of(plugin), summary, list(_options(plugin)), on_request)


def _every(kind: Kind) -> dict[str, type[Any]]:
    found: dict[str, type[Any]] = {}
    for name, origins in sorted(_candidates(kind).items()):
        try:
            found[name] = origins[0]() if len(origins) == 1 else find(kind, name)
        except PolicyError:
            continue
    return found


def _candidates(kind: Kind) -> dict[str, list[Callable[[], type[Any]]]]:
    """By name, how to load each plug-in that claims it."""
    found: dict[str, list[Callable[[], type[Any]]]] = {}
    for cls in _in_tree(kind):
        found.setdefault(name_of(cls), []).append(partial(_itself, cls))
    for point in _declared(kind):
        found.setdefault(point.name, []).append(partial(_load, kind, point))
    return found


def _itself(cls: type) -> type[Any]:
    return cls


def _in_tree(kind: Kind) -> list[type[Any]]:
    """Every plug-in in the folder of a kind."""
    package = importlib.import_module(FOLDERS[kind])
    files = _files(tuple(package.__path__), _stamps(package.__path__))
    return [cls for file in files for cls in _plugins_in(f"{FOLDERS[kind]}.{file}", kind)]


def _in_file(kind: Kind, name: str) -> list[type[Any]]:
    """The plug-in in the file of its own name, if there is one."""
    package, file = importlib.import_module(FOLDERS[kind]), name.replace("-", "_")
    if file not in _files(tuple(package.__path__), _stamps(package.__path__)):
        return []
    return [cls for cls in _plugins_in(f"{FOLDERS[kind]}.{file}", kind) if name_of(cls) == name]


def _plugins_in(name: str, kind: Kind) -> tuple[type[Any], ...]:
    """The public, concrete plug-ins that a module defines."""
    return _defined_in(importlib.import_module(name), kind)


@cache
def _defined_in(module: types.ModuleType, kind: Kind) -> tuple[type[Any], ...]:
    return tuple(
        cls
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and cls.__module__ == module.__name__
        if not name.startswith("_") and _is_plugin(cls, kind)
    )


def _is_plugin(cls: type, kind: Kind) -> bool:
    return issubclass(cls, Plugin) and cls.kind == kind and not inspect.isabstract(cls)


def _stamps(folders: Iterable[str]) -> tuple[int, ...]:
    """When each folder last changed; 0 inside an archive."""
    return tuple(each.stat().st_mtime_ns if each.is_dir() else 0 for each in map(Path, folders))


@cache
def _files(folders: tuple[str, ...], stamps: tuple[int, ...]) -> list[str]:  # noqa: ARG001
    return [module.name for module in pkgutil.iter_modules(folders)]


@cache
def _declared(kind: Kind) -> tuple[EntryPoint, ...]:
    """The entry points of a kind, each once."""
    found = {
        (point.name, _distribution(point)): point for point in entry_points(group=f"shoal.{kind}")
    }
    return tuple(found.values())


def _load(kind: Kind, point: EntryPoint) -> type[Any]:
    """The plug-in that a distribution declares. What is wrong with it is no bug of Shoal's."""
    try:
        found = point.load()
    except Exception as error:  # third-party code may raise anything
        raise PolicyError(_broken(kind, point, f"{type(error).__name__}: {error}")) from error
    if not (inspect.isclass(found) and _is_plugin(found, kind)):
        wanted = BASES[kind]
        raise PolicyError(_broken(kind, point, f"it is not a concrete subclass of {wanted}"))
    if name_of(found) != point.name:
        words = f"its class is named '{name_of(found)}', and the entry point must be too"
        raise PolicyError(_broken(kind, point, words))
    return found


def _broken(kind: Kind, point: EntryPoint, reason: str) -> str:
    return (
        f"the {_one(kind)} '{point.name}' of the distribution {_distribution(point)} "
        f"({point.value}) cannot be loaded: {reason}. Repair or uninstall that distribution."
    )


def _clash(kind: Kind, name: str, own: list[type], declared: list[EntryPoint]) -> str:
    origins = [f"the module {cls.__module__}" for cls in own]
    origins += [f"the distribution {_distribution(p)} ({p.value})" for p in declared]
    return f"two {kind} are named '{name}': {' and '.join(origins)}. Rename or uninstall one."


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else "of unknown name"


def _one(kind: Kind) -> str:
    return kind.removesuffix("s")


def _options(plugin: type) -> Iterator[Option]:
    if not dataclasses.is_dataclass(plugin):
        return
    hints = get_type_hints(plugin, include_extras=True)
    texts = describe_fields(plugin)
    for field in dataclasses.fields(plugin):
        if field.init:
            kebab = field.name.replace("_", "-")
            # a model's own figure goes by the model's name
            shown = kebab if kebab == name_of(plugin) else field.name
            text = texts.get(field.name, "")
            yield Option(shown, type_words(hints[field.name]), _default_words(field), text)


def describe_fields(cls: type) -> dict[str, str]:
    """Return the docstrings under the fields of a class, each on one line, those of its bases first."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        found |= {name: " ".join(text.split()) for name, text in _field_docstrings(owner).items()}
    return found


@cache
def _field_docstrings(cls: type) -> dict[str, str]:
    """The docstrings under the fields of a class: read from its source when somebody asks, because
    having pydantic keep them (`use_attribute_docstrings`) parses every class at every start."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    except (OSError, TypeError):  # made by a program: there is no source
        return {}
    body = tree.body if isinstance(tree, ast.ClassDef) else []
    found = {}
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(docstring))):
                found[name] = docstring
    return found


def _default_words(field: "dataclasses.Field[Any]") -> str:
    default: Any = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    # A pydantic `Field(default=...)` stands where the plain default would.
    default = getattr(default, "default", default)
    if default is dataclasses.MISSING or repr(default) == "PydanticUndefined":
        return REQUIRED
    if default is None:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def type_words(hint: Any) -> str:
    """Return a type in plain words, with its bounds: 'whole number, 1 or more'."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _bounded(type_words(inside[0]), bounds_of(hint))
    if origin is Literal:
        return " | ".join(str(choice) for choice in inside)
    if origin in (Union, types.UnionType):
        return " | ".join(type_words(each) for each in inside if each is not type(None))
    if origin in (tuple, list, set, frozenset):
        return f"list of {type_words(inside[0])}"
    plain = {int: "whole number", float: "number", bool: "true | false", str: "text"}
    return plain.get(hint, getattr(hint, "__name__", str(hint)))


def _bounded(words: str, found: Mapping[str, Any]) -> str:
    """A kind of number with its bounds."""
    if {"ge", "le"} <= found.keys():
        return f"{words} from {found['ge']} to {found['le']}"
    texts = {"ge": "{} or more", "gt": "above {}", "le": "{} or less", "lt": "below {}"}
    each = [text.format(found[bound]) for bound, text in texts.items() if bound in found]
    return f"{words} {' and '.join(each)}" if len(each) > 1 else ", ".join([words, *each])


def bounds_of(hint: Any) -> dict[str, Any]:
    """Return the bounds in `Annotated[...]`, given bare or inside a pydantic `Field`."""
    found = {}
    for each in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        for part in getattr(each, "metadata", [each]):
            for bound in ("ge", "gt", "le", "lt"):
                if getattr(part, bound, None) is not None:
                    found[bound] = getattr(part, bound)
    return found
