"""A hierarchy that a Python function computes from each value."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from shoal.arrays import Codes
from shoal.errors import HierarchyError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.tree import (
    TOP,
    HierarchyTree,
    check_size,
    codes_of,
    from_paths,
    from_starts,
    leaves_of,
)


@dataclass(frozen=True, repr=False)
class FunctionHierarchy(Hierarchy):
    """The label of each value on each level, from a function of the value's text and the level."""

    function: Callable[[str, int], str]
    levels: int = 1
    """Levels between the values and the root."""

    from_values: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise HierarchyError(
                f"from_function: found {type(self.function).__name__}; give a function of a value and "
                "a level."
            )
        if isinstance(self.levels, bool) or not isinstance(self.levels, int) or self.levels < 1:
            raise HierarchyError(
                f"from_function: found levels={self.levels!r}; must be a whole number, 1 or more."
            )

    def build(
        self,
        values: pa.Array,
        column: str,
        folder: Path,  # noqa: ARG002 - the signature of every hierarchy
    ) -> tuple[HierarchyTree, Codes]:
        """The tree over the values, and the leaf of each."""
        leaves = leaves_of(values)
        check_size(len(leaves.texts), self.levels, column)
        texts = leaves.texts.to_pylist()
        if not texts:
            return from_starts([], [], lambda *_: []), leaves.of_value
        paths = [
            (text, *(self._label(text, level, column) for level in range(1, self.levels + 1)))
            for text in texts
        ]
        if any(path[-1] != TOP for path in paths):
            # whatever values there are, the tree has the same height
            paths = [(*path, TOP) for path in paths]
        try:
            tree = from_paths(paths, column)
        except HierarchyError:
            # its message quotes labels, which may be values of the table
            raise HierarchyError(
                f"Column '{column}': {self!r} does not give a tree. Values with the same label on one "
                "level must have the same label on all levels above, and a label may stand on two "
                "levels only where one covers the other."
            ) from None
        return tree, codes_of(values, tree)

    def to_plain(self) -> dict[str, Any]:
        """The function by its name: a policy file cannot contain it."""
        return {"function": self._name(), "levels": self.levels}

    def _name(self) -> str:
        module, name = self.function.__module__, getattr(self.function, "__qualname__", None)
        return f"{module}.{name or type(self.function).__qualname__}"

    def _label(self, text: str, level: int, column: str) -> str:
        try:
            label = self.function(text, level)
        except Exception as error:
            raise HierarchyError(
                f"Column '{column}': {self!r} raised {type(error).__name__} for one of its values on "
                f"level {level}."
            ) from error
        if not isinstance(label, str) or not label:
            raise HierarchyError(
                f"Column '{column}': {self!r} must return text that is not empty; on level {level} it "
                f"returned {'an empty text' if label == '' else f'a {type(label).__name__}'}."
            )
        return label

    def __repr__(self) -> str:
        return f"Hierarchy.from_function({self._name()}, levels={self.levels})"
