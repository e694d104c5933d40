"""Run a paper's experiments, and write down the findings."""

import importlib
import os
import pkgutil
import platform
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path

from shoal.errors import InputError, counted, listed, nearest
from shoal.progress import ProgressCallback, ProgressEvent, ignore_event
from shoal.reproduction.base import Experiment, Reproduction

PACKAGES = ("numpy", "numba", "pyarrow")
OWN_TABLE = "A table that the experiment makes up by the paper's description, from fixed seeds"


@cache
def experiments() -> dict[str, type[Experiment]]:
    """Every subclass of `Experiment` in the modules of this package, by name."""
    package = importlib.import_module("shoal.reproduction")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"shoal.reproduction.{module.name}")
    return {cls.name: cls for cls in sorted(Experiment.__subclasses__(), key=lambda c: c.name)}


def names() -> list[str]:
    """The names of all experiments."""
    return list(experiments())


def experiment(name: str) -> Experiment:
    """The experiment of that name, or an `InputError` with the nearest one."""
    if name not in names():
        raise InputError(
            f"there is no experiment '{name}'; allowed: {listed(names())}.{nearest(name, names())}"
        )
    return experiments()[name]()


def reproduce(
    name: str,
    adult: str | Path | None = None,
    quick: bool = False,
    folder: str | Path | None = None,
    progress: ProgressCallback | None = None,
    *,
    force: bool = False,
) -> Reproduction:
    """Run the experiments of one paper.

    Parameters
    ----------
    name
        Of the experiment: `classfly-plus`, `flexible-partition`, `further-questions`, `l-clustering` or
        `personalised`.
    adult
        The Adult table, for papers that use it; without it a similar table is made up.
    quick
        Use less data, for about a minute; claims are then judged on less, too.
    folder
        Where to write the page, the figures and the tables; nothing is written when left out.
    progress
        Called with a `ProgressEvent` now and then.
    force
        Replace files that are in the folder.

    Returns
    -------
    Reproduction
    """
    from datetime import date

    from shoal.reproduction.page import check_folder, write

    chosen, report = experiment(name), progress or ignore_event
    target = None if folder is None else Path(folder)
    if target is not None:
        check_folder(target, force)
    table, data = None, OWN_TABLE
    if chosen.uses_adult:
        from shoal.reproduction.adult import adult_table

        report(ProgressEvent("read", 0.0))
        place = None if adult is None else Path(adult)
        table, data = adult_table(place, columns=chosen.adult_columns)
    began = time.process_time()
    findings = chosen.run(table, quick, lambda step, share: report(ProgressEvent(step, share)))
    found = Reproduction(
        name=name,
        title=chosen.title,
        source=chosen.source,
        data=data,
        quick=quick,
        seconds=round(time.process_time() - began, 1),
        made=date.today().isoformat(),
        machine=machine(),
        versions=versions(),
        result=findings,
        is_paper=chosen.is_paper,
    )
    if target is not None:
        report(ProgressEvent("draw", 0.0))
        write(found, target, force)
    return found


def machine() -> str:
    """The processor, its usable cores and the system; never whose machine it is."""
    from shoal.threads import workers

    system = f"{platform.system()} {platform.machine()}"
    return f"{_processor()}, {counted(workers(), 'core')}{_memory()}, {system}"


def versions() -> dict[str, str]:
    """Of Shoal, Python and the numerical packages."""
    from shoal.version import __version__

    own = {"shoal": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in PACKAGES}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8", errors="replace") if info.exists() else ""
    for line in lines.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name" and value.strip():
            return value.strip()
    return platform.processor() or "unknown processor"


def _memory() -> str:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not available on this system
        return ""
    return f", {size / 2**30:.0f} GB"
