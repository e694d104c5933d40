"""What forks Spark's Python processes on this machine: it loads the libraries once, for all of them.

Spark's own loads nothing, so that each process spends over a CPU second on it, half of that on pyspark:
Spark puts an archive of it first, whose modules are compiled anew each time, and which is read again
eighteen times.
"""

import gc
import sys
from importlib import import_module
from pathlib import Path

LOADED = ("pyspark.worker", "shoal.engines.relational", "shoal.engines.spark.session")


def without_archives(path: list[str]) -> list[str]:
    """Where modules are looked for, without the archives of a Spark that is there as a package too."""
    return [place for place in path if not _is_copy(Path(place), path)]


def _is_copy(place: Path, path: list[str]) -> bool:
    if place.suffix != ".zip" or place.parts[-3:-1] != ("python", "lib"):
        return False
    home = place.parents[2]
    return (home / "__init__.py").exists() and str(home.parent) in path


def main() -> None:
    """Fork processes as Spark asks for them; none of the libraries has begun threads that it needs."""
    sys.path[:] = without_archives(sys.path)
    from pyspark import daemon

    from shoal.kernels.compiler import prepare

    for name in LOADED:
        import_module(name)
    prepare()
    gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
