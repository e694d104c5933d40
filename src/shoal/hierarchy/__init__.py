"""Hierarchies: which value is part of which more general one. One file for each kind.

`Hierarchy` is the base class of all kinds and the way to create one in Python; `parse_hierarchy`,
which is loaded on first use since it needs pyarrow, reads one from a policy.
"""

from typing import TYPE_CHECKING, Any

from shoal.hierarchy.base import Hierarchy

if TYPE_CHECKING:
    from shoal.hierarchy.parsing import parse_hierarchy

__all__ = ["Hierarchy", "parse_hierarchy"]


def __getattr__(name: str) -> Any:
    if name == "parse_hierarchy":
        from shoal.hierarchy.parsing import parse_hierarchy

        return parse_hierarchy
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
