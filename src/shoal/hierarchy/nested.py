"""A hierarchy that is written out: names over their parts, or a path per leaf."""

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
from pydantic.dataclasses import dataclass

from shoal.arrays import Codes
from shoal.errors import HierarchyError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.text import text_of
from shoal.hierarchy.tree import HierarchyTree, codes_of, from_paths

NAME = "tree"
FORM = "write names over their parts, such as {any: {fruit: [apple, pear], nut: [almond]}}"


@dataclass(frozen=True, repr=False)
class NestedTree(Hierarchy):
    """A hierarchy of nested names: `{any: {a: [x, y], b: [z]}}`.

    Leaves may be at different depths; one at a higher level stands for itself on the levels below.
    Several names at the top get a root `*`.
    """

    tree: Any
    """Mappings of a name to its parts, lists of leaves or of further mappings, single leaves."""

    policy_keys: ClassVar = {"tree": "tree"}
    allowed: ClassVar = FORM

    def __post_init__(self) -> None:
        # no table is needed, so mistakes are reported when the policy is read
        self._build()

    def build(
        self,
        values: pa.Array,
        column: str,  # noqa: ARG002 - the signature of every hierarchy
        folder: Path,  # noqa: ARG002
    ) -> tuple[HierarchyTree, Codes]:
        """The tree, and the leaf of each value or -1."""
        tree = self._build()
        return tree, codes_of(values, tree)

    def __repr__(self) -> str:
        tree = self._build()
        return f"Hierarchy.from_dict(<{tree.n_leaves} leaves, {tree.height} levels above them>)"

    def _build(self) -> HierarchyTree:
        if not isinstance(self.tree, Mapping | list | tuple) or not self.tree:
            raise HierarchyError(f"{NAME}: found {_shortened(self.tree)}; {FORM}.")
        paths = list(_walk(self.tree, (), ()))
        longest = max(map(len, paths))
        return from_paths([(path[0],) * (longest - len(path)) + path for path in paths], NAME)


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a table of any kind."""
    from shoal.io.frames import wrap  # with it all that frames need

    table = wrap(frame)
    columns = [text_of(table.column(name)).to_pylist() for name in table.names]
    return list(zip(*columns, strict=True))


def nest(rows: Iterable[Sequence[Any]], source: str) -> dict[str, Any]:
    """Nested names from one path per leaf, the leaf first; `source` is for messages."""
    paths = [[_cell(text, number, source) for text in row] for number, row in enumerate(rows, 1)]
    if not paths:
        raise HierarchyError(f"{source}: there is no leaf; give at least one row.")
    if uneven := [n for n, path in enumerate(paths, 1) if len(path) != len(paths[0])]:
        raise HierarchyError(
            f"{source}: row {uneven[0]} has {len(paths[uneven[0] - 1])} labels, the first row "
            f"{len(paths[0])}; give every leaf equally many ancestors."
        )
    if len(paths[0]) < 2:
        raise HierarchyError(f"{source}: found leaves alone; give each its ancestors too.")
    from_paths(paths, source)  # reports what is not a tree
    tree: dict[str, Any] = {}
    for leaf, *above in paths:
        node = tree
        for name in reversed(above[1:]):
            node = node.setdefault(name, {})
        leaves = node.setdefault(above[0], [])
        if leaf not in leaves[-1:]:
            leaves.append(leaf)
    return tree


def _cell(value: Any, number: int, source: str) -> str:
    if value is None or value == "":
        raise HierarchyError(f"{source}: row {number} has an empty label; fill it in.")
    return _text(value)


def _walk(
    part: object, above: tuple[str, ...], enclosing: tuple[int, ...]
) -> Iterator[tuple[str, ...]]:
    """Each leaf's path, leaf first. above: the names over `part`; enclosing: the objects around it."""
    if id(part) in enclosing:
        # an alias in YAML can put a mapping inside itself
        chain = " under ".join(f"'{name}'" for name in above)
        raise HierarchyError(
            f"{NAME}: the hierarchy has a cycle: {chain}. No part may contain itself."
        )
    if isinstance(part, Mapping | list | tuple) and not part:
        raise HierarchyError(f"{NAME}: '{above[0]}' has an empty list of parts; {FORM}.")
    if isinstance(part, Mapping):
        for name, parts in part.items():
            if parts is None:  # `name:` with nothing after it
                yield (_text(name), *above)
            else:
                yield from _walk(parts, (_text(name), *above), (*enclosing, id(part)))
    elif isinstance(part, list | tuple):
        for item in part:
            if isinstance(item, list | tuple):
                raise HierarchyError(f"{NAME}: found a list inside a list, without a name; {FORM}.")
            if isinstance(item, Mapping):
                yield from _walk(item, above, (*enclosing, id(part)))
            else:
                yield (_text(item), *above)
    else:
        yield (_text(part), *above)


def _text(name: object) -> str:
    """A name as the text of a value."""
    if isinstance(name, str) and name:
        return name
    if isinstance(name, bool | int | float | datetime.date):
        return str(text_of(pa.array([name]))[0])
    raise HierarchyError(f"{NAME}: found {_shortened(name)} as a name; {FORM}.")


def _shortened(value: object) -> str:
    if value is None:
        return "nothing"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
