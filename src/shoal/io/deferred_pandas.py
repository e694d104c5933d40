"""pandas is loaded with the first frame of it that somebody gives, and not before.

pyarrow imports pandas, where it is installed, at its first conversion of any value, to be able to
recognise frames. That takes longer than a small run. Here pyarrow looks for pandas once while it cannot
be found; when somebody imports pandas later, pyarrow is made to look again.
"""

import importlib.util
import sys
import threading
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

import pyarrow as pa

NAME = "pandas"


class _Hidden(MetaPathFinder):
    """Finds no pandas for the thread in which pyarrow looks for it."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Refuse pandas; leave all else to others."""
        if name == NAME and threading.get_ident() == self.thread:
            raise ModuleNotFoundError("not needed yet", name=NAME)
        return None


class _Awaited(MetaPathFinder):
    """Lets pyarrow know of pandas when it is imported; until then others may look for it too."""

    def __init__(self) -> None:
        self.searching = threading.local()

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> ModuleSpec | None:
        """Find pandas as usual, and look on while it is loaded."""
        if name != NAME or vars(self.searching):
            return None
        self.searching.busy = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            del self.searching.busy
        if spec is not None and spec.loader is not None:
            spec.loader = _Noticing(spec.loader, self)
        return spec


class _Noticing(Loader):
    """Loads as another loader does, then makes pyarrow look for pandas again."""

    def __init__(self, loader: Loader, finder: MetaPathFinder) -> None:
        self.loader, self.finder = loader, finder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave the module to the other loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """Load pandas; from then on pyarrow knows it."""
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        pa.table({}).to_pandas()


def defer_pandas() -> None:
    """Keep pyarrow from importing pandas before somebody else does."""
    if NAME in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(hidden)
    sys.meta_path.insert(0, _Awaited())
