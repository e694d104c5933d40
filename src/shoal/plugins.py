"""Methods, models and metrics, found by walking their folders.

The file's name is the plug-in's name everywhere: `methods/least_loss_partition.py` holds the class
`LeastLossPartition` and is called `least-loss-partition` in a policy, on the command line and in
the docs. Nothing has to be registered, so a newcomer adds one file and edits no other.
"""

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import textwrap
import types
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from shoal.errors import PolicyError, listed, nearest

NOT_PLUGINS = {
    "methods": {
        "base",
        "blocks",
        "climbing",
        "clustering",
        "constraints",
        "lattice",
        "partition",
        "partition_histograms",
        "repair",
    },
    "models": {"distances", "requirement", "shares"},
    "metrics": {"base", "entropy", "losses"},
}
"""Per room, the files with what its plug-ins share. A leading `_` marks others of that sort."""

REQUIRED = "required"
"""What `describe` gives as the default of an option that has none."""

Room = Literal["methods", "models", "metrics"]


class Option(NamedTuple):
    """One field of a plug-in, in words."""

    name: str
    type: str
    default: str
    text: str


class Description(NamedTuple):
    """A plug-in in words: what the lists and the docs show."""

    name: str
    summary: str
    options: list[Option]


def methods() -> dict[str, type]:
    """Every method by its policy name."""
    return _every("methods")


def models() -> dict[str, type]:
    """Every privacy model by its policy name."""
    return _every("models")


def metrics() -> dict[str, type]:
    """Every metric by its policy name."""
    return _every("metrics")


def method(name: str) -> type:
    """The method of that name, or a `PolicyError` with the nearest one."""
    return _one("methods", name)


def model(name: str) -> type:
    """The model of that name, or a `PolicyError` with the nearest one."""
    return _one("models", name)


def metric(name: str) -> type:
    """The metric of that name, or a `PolicyError` with the nearest one."""
    return _one("metrics", name)


def names(room: Room) -> list[str]:
    """The policy names in a room, sorted, without importing the plug-ins."""
    folders = importlib.import_module(f"shoal.{room}").__path__
    files = _files(tuple(folders), _stamps(folders))
    return sorted(
        file.replace("_", "-")
        for file in files
        if not file.startswith("_") and file not in NOT_PLUGINS[room]
    )


def _stamps(folders: Iterable[str]) -> tuple[int, ...]:
    """When each folder last changed, as Python's own finder asks; 0 inside an archive."""
    return tuple(each.stat().st_mtime_ns if each.is_dir() else 0 for each in map(Path, folders))


@cache
def _files(folders: tuple[str, ...], stamps: tuple[int, ...]) -> list[str]:  # noqa: ARG001
    return [module.name for module in pkgutil.iter_modules(folders)]


def name_of(plugin: type) -> str:
    """The policy name of a plug-in's class: its file's name."""
    return plugin.__module__.rpartition(".")[2].replace("_", "-")


def describe(plugin: type) -> Description:
    """Name, first docstring line and options of a plug-in."""
    summary = (inspect.getdoc(plugin) or "").partition("\n")[0]
    return Description(name_of(plugin), summary, _options(plugin))


def _every(room: Room) -> dict[str, type]:
    return {name: _load(room, name) for name in names(room)}


def _one(room: Room, name: str) -> type:
    known = names(room)
    if name not in known:
        kind = room.removesuffix("s")
        raise PolicyError(
            f"there is no {kind} '{name}'; allowed: {listed(known, 30)}.{nearest(name, known)}"
        )
    return _load(room, name)


def _load(room: str, name: str) -> type:
    module = importlib.import_module(f"shoal.{room}.{name.replace('-', '_')}")
    return _class_in(module, name)


@cache
def _class_in(module: types.ModuleType, name: str) -> type:
    """The module's one public class. A plug-in that breaks this is a bug, not a user's mistake."""
    wanted = "".join(word.capitalize() for word in name.split("-"))
    found = vars(module).get(wanted)
    if not inspect.isclass(found) or found.__module__ != module.__name__:
        raise TypeError(
            f"{module.__file__} must define the class {wanted} (its file's name in CamelCase)"
        )
    return found


def _options(plugin: type) -> list[Option]:
    if not dataclasses.is_dataclass(plugin):
        return []
    hints = get_type_hints(plugin, include_extras=True)
    texts = _texts_under_fields(plugin)
    return [
        Option(
            _spelled(f, plugin), type_words(hints[f.name]), _default_words(f), texts.get(f.name, "")
        )
        for f in dataclasses.fields(plugin)
        if f.init
    ]


def _spelled(field: "dataclasses.Field[Any]", plugin: type) -> str:
    """As a policy writes it: a model's own figure goes by the model's name."""
    own = field.name.replace("_", "-")
    return own if own == name_of(plugin) else field.name


def _texts_under_fields(plugin: type) -> dict[str, str]:
    """The docstring under each field, on one line; Python drops them, so read from the source."""
    texts: dict[str, str] = {}
    for owner in reversed(plugin.__mro__[:-1]):
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
        except (OSError, TypeError):  # made without a source file
            continue
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for field, under in pairwise(body):
            match field, under:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    texts[name] = " ".join(text.split())
    return texts


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
    """A type in plain words, with its bounds: 'whole number, 1 or more'."""
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
    """The bounds in `Annotated[...]`, given bare or inside a pydantic `Field`."""
    found = {}
    for each in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        for part in getattr(each, "metadata", [each]):
            for bound in ("ge", "gt", "le", "lt"):
                if getattr(part, bound, None) is not None:
                    found[bound] = getattr(part, bound)
    return found
