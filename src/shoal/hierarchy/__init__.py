"""Hierarchies: which value is a part of what. One file for each way to give one.

`parse_spec` reads what a policy says; what it returns has
`build(values, column, folder) -> (Hierarchy, codes)`. Both names load on first use, since `tree`
alone needs far less than they do.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.hierarchy.spec import HierarchySpec, parse_spec

__all__ = ["HierarchySpec", "parse_spec"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from shoal.hierarchy import spec

        return getattr(spec, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
