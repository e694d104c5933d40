"""A hierarchy of categories that can be edited: groups over groups over values."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from shoal.errors import InputError
from shoal.studio.policy_text import is_null

TOP = "*"
SEPARATORS = (";", "\t", ",")


@dataclass(eq=False)
class Node:
    """A value, or a group of values and groups."""

    name: str
    parts: "list[Node] | None" = None
    """None for a value."""
    above: "Node | None" = field(default=None, repr=False)

    @property
    def is_group(self) -> bool:
        """Whether others are below it."""
        return self.parts is not None

    def values(self) -> Iterator[str]:
        """The values below it, or itself."""
        if self.parts is None:
            yield self.name
        for part in self.parts or ():
            yield from part.values()

    def walk(self, depth: int = 0) -> Iterator[tuple["Node", int]]:
        """All below it, depth first, with their depths."""
        for part in self.parts or ():
            yield part, depth
            yield from part.walk(depth + 1)

    def put(self, part: "Node") -> None:
        """Put a node below this one, from wherever it was."""
        if part.above is not None:
            assert part.above.parts is not None
            part.above.parts.remove(part)
        assert self.parts is not None
        self.parts.append(part)
        part.above = self


class Tree:
    """The groups of one column; every change keeps it a tree without empty groups."""

    def __init__(self, written: Any = None) -> None:
        """`written`: as a policy lists it, under `tree`."""
        self.top = Node(TOP, [])
        _read(written, self.top)
        tops = self.top.parts or []
        if len(tops) == 1 and tops[0].name == TOP and tops[0].is_group:  # a root of its own
            self.top = tops[0]
            self.top.above = None

    @classmethod
    def of_lines(cls, text: str) -> "Tree":
        """The tree of a CSV text: a value per line, then its groups up to the top.

        Raises `InputError` where it is none.
        """
        lines = [line for line in text.lstrip("\ufeff").splitlines() if line.strip()]
        if not lines:
            raise InputError(
                "The file is empty. Each line is a value, then its groups: apple;fruit;*."
            )
        separator = max(SEPARATORS, key=lambda one: sum(one in line for line in lines))
        found = cls()
        groups: dict[str, Node] = {TOP: found.top}
        for number, row in enumerate(csv.reader(lines, delimiter=separator), 1):
            path = [row[0], *(cell.strip() for cell in row[1:])]
            if len(path) < 2 or "" in path:
                raise InputError(
                    f"Line {number} has an empty field or no group. Each line is a value, then its "
                    "groups: apple;fruit;*."
                )
            above = found.top
            ended = path[:-1] if path[-1] == TOP else path
            for name in reversed(list(dict.fromkeys(ended[1:]))):
                if name == path[0]:
                    continue  # the value stands for itself on this level
                node = groups.get(name)
                if node is None:
                    node = groups[name] = Node(name, [])
                    above.put(node)
                elif node.above is not above:
                    raise InputError(
                        f"Line {number}: a group is in two places. Give it one name each."
                    )
                above = node
            above.put(Node(path[0]))
        found.require_distinct()
        return found

    def lines(self) -> str:
        """The tree as CSV, one line per value with equally many fields."""
        paths = []
        for node, _ in self.top.walk():
            if not node.is_group:
                path, above = [node.name], node.above
                while above is not None and above is not self.top:
                    path.append(above.name)
                    above = above.above
                paths.append(path)
        longest = max(map(len, paths), default=1)
        out = io.StringIO()
        writer = csv.writer(out, delimiter=";", lineterminator="\n")
        for path in paths:
            writer.writerow([*[path[0]] * (longest - len(path)), *path, TOP])
        return out.getvalue()

    def written(self) -> list[Any]:
        """The tree as a policy lists it."""
        return [_written(part) for part in self.top.parts or ()]

    def require_distinct(self) -> None:
        """Raise `InputError` where a name occurs twice."""
        names = [node.name for node, _ in self.top.walk()]
        if len(set(names)) < len(names):
            raise InputError(
                "A name occurs twice. Every value and every group has a name of its own."
            )

    def cover(self, values: Mapping[str, int]) -> int:
        """Add the values of a table that are in no group yet; returns how many there were."""
        there = set(self.top.values())
        missing = [value for value in values if value not in there]
        for value in missing:
            self.top.put(Node(value))
        return len(missing)

    def groups(self) -> list[Node]:
        """All groups below the top."""
        return [node for node, _ in self.top.walk() if node.is_group]

    def move(self, nodes: list[Node], target: Node) -> None:
        """Put nodes into a group; a value as the target stands for the group it is in."""
        group = target if target.is_group else target.above
        assert group is not None
        moved = _highest(nodes)
        above: Node | None = group
        while above is not None:
            if above in moved:
                raise InputError("A group cannot be put into itself.")
            above = above.above
        for node in moved:
            group.put(node)
        self._prune()

    def group(self, nodes: list[Node], name: str) -> None:
        """Make a group of nodes, where the first of them is."""
        self._require_free(name)
        moved = _highest(nodes)
        place = moved[0].above
        assert place is not None
        if not set(map(id, moved)).isdisjoint(map(id, _chain(place))):
            raise InputError("A group cannot be put into itself.")
        made = Node(name.strip(), [])
        place.put(made)
        for node in moved:
            made.put(node)
        self._prune()

    def raise_up(self, nodes: list[Node]) -> None:
        """Put nodes one level up."""
        for node in _highest(nodes):
            if node.above is not None and node.above.above is not None:
                node.above.above.put(node)
        self._prune()

    def dissolve(self, node: Node) -> None:
        """Remove a group; what is in it moves one level up."""
        assert node.above is not None
        for part in list(node.parts or ()):
            node.above.put(part)
        self._prune()

    def rename(self, node: Node, name: str) -> None:
        """Give a group another name."""
        self._require_free(name)
        node.name = name.strip()

    def _require_free(self, name: str) -> None:
        if not name.strip():
            raise InputError("Give the group a name.")
        if name.strip() == TOP or name.strip() in {node.name for node, _ in self.top.walk()}:
            raise InputError("There is such a name already. Give the group another one.")

    def _prune(self) -> None:
        empty = [node for node in self.groups() if not node.parts]
        for node in empty:
            assert node.above is not None
            assert node.above.parts is not None
            node.above.parts.remove(node)
        if empty:
            self._prune()


def _chain(node: Node) -> Iterator[Node]:
    yield node
    if node.above is not None:
        yield from _chain(node.above)


def _highest(nodes: list[Node]) -> list[Node]:
    """Those that are not below another one of them."""
    return [
        node
        for node in nodes
        if node.above is not None and not any(above in nodes for above in _chain(node.above))
    ]


def _read(written: Any, above: Node) -> None:
    if isinstance(written, Mapping):
        for name, parts in written.items():
            if is_null(parts):  # `primary:` stands for a value without a group
                above.put(Node(str(name)))
            else:
                node = Node(str(name), [])
                above.put(node)
                _read(parts, node)
    elif isinstance(written, list):
        for one in written:
            _read(one, above)
    elif not is_null(written):
        above.put(Node(str(written)))


def _written(node: Node) -> Any:
    if node.parts is None:
        return node.name
    return {node.name: [_written(part) for part in node.parts]}
