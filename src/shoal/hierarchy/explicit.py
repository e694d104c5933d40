"""A tree written out in the policy: names over lists of names."""

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes
from shoal.errors import HierarchyError
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import Hierarchy, codes_of, from_paths

NAME = "tree"
HOW = "write names over their parts, such as {any: {fruit: [apple, pear], nut: [almond]}}"


@dataclass(frozen=True)
class Tree:
    """A hierarchy given as nested names: `{any: {a: [x, y], b: [z]}}`.

    Leaves may lie at different depths; one that lies high stands for itself on the levels below.
    Several tops get a root `*`.
    """

    tree: Any
    """Mappings of a name to its parts, lists of leaves or of further mappings, single leaves."""

    def __post_init__(self) -> None:
        # a tree needs no table: what is wrong with it shows when the policy is read
        self._hierarchy()

    def _hierarchy(self) -> Hierarchy:
        if not isinstance(self.tree, Mapping | list | tuple) or not self.tree:
            raise HierarchyError(f"{NAME}: found {_shown(self.tree)}; {HOW}.")
        paths = list(_walk(self.tree, (), ()))
        longest = max(map(len, paths))
        return from_paths([(path[0],) * (longest - len(path)) + path for path in paths], NAME)

    def build(
        self,
        values: pa.Array,
        column: str,  # noqa: ARG002 - every kind of hierarchy is asked the same way
        folder: Path,  # noqa: ARG002
    ) -> tuple[Hierarchy, Codes]:
        """The tree, and the leaf of each value or -1."""
        hierarchy = self._hierarchy()
        return hierarchy, codes_of(values, hierarchy)


def _walk(
    part: object, above: tuple[str, ...], inside: tuple[int, ...]
) -> Iterator[tuple[str, ...]]:
    """Each leaf's path, leaf first. above: the names over `part`; inside: the objects around it."""
    if id(part) in inside:
        # an alias in YAML can put a mapping inside itself
        chain = " under ".join(f"'{name}'" for name in above)
        raise HierarchyError(
            f"{NAME}: the hierarchy runs in a circle: {chain}. Let no part hold itself."
        )
    if isinstance(part, Mapping | list | tuple) and not part:
        raise HierarchyError(f"{NAME}: '{above[0]}' has an empty list of parts; {HOW}.")
    if isinstance(part, Mapping):
        for name, parts in part.items():
            yield from _walk_named(_text(name), parts, above, (*inside, id(part)))
    elif isinstance(part, list | tuple):
        for item in part:
            if isinstance(item, list | tuple):
                raise HierarchyError(f"{NAME}: found a list inside a list, without a name; {HOW}.")
            if isinstance(item, Mapping):
                yield from _walk(item, above, (*inside, id(part)))
            else:
                yield (_text(item), *above)
    else:
        yield (_text(part), *above)


def _walk_named(
    name: str, parts: object, above: tuple[str, ...], inside: tuple[int, ...]
) -> Iterator[tuple[str, ...]]:
    if parts is None:  # `name:` with nothing after it
        yield (name, *above)
    else:
        yield from _walk(parts, (name, *above), inside)


def _text(name: object) -> str:
    """The text of a name as a value of a table would have it."""
    if isinstance(name, str) and name:
        return name
    if isinstance(name, bool | int | float | datetime.date):
        return str(text_of(pa.array([name]))[0])
    raise HierarchyError(f"{NAME}: found {_shown(name)} as a name; {HOW}.")


def _shown(found: object) -> str:
    if found is None:
        return "nothing"
    text = repr(found)
    return text if len(text) <= 60 else f"{text[:57]}..."
