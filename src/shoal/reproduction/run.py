"""Run a paper's experiments, and write down what was found.

Light to import: the command line asks it for the names alone.
"""

import importlib
import pkgutil
import time
from pathlib import Path

from shoal.errors import InputError, listed, nearest
from shoal.reproduction.base import Experiment, Progress, Reproduction

NOT_EXPERIMENTS = {"base", "run"}
"""Files here that hold none. A leading `_` marks others of that sort."""

OWN_TABLE = "A table that the experiment makes up by the paper's description, from fixed seeds"


def names() -> list[str]:
    """Every experiment, named after its method, without importing it."""
    folder = importlib.import_module("shoal.reproduction").__path__
    files = (module.name for module in pkgutil.iter_modules(folder))
    return sorted(
        file.replace("_", "-")
        for file in files
        if not file.startswith("_") and file not in NOT_EXPERIMENTS
    )


def experiment(name: str) -> Experiment:
    """The experiment of that name, or an `InputError` with the nearest one."""
    known = names()
    if name not in known:
        raise InputError(
            f"there is no experiment '{name}'; allowed: {listed(known)}.{nearest(name, known)}"
        )
    module = importlib.import_module(f"shoal.reproduction.{name.replace('-', '_')}")
    made: Experiment = getattr(module, name.title().replace("-", ""))()
    return made


def reproduce(
    name: str,
    adult: str | Path | None = None,
    quick: bool = False,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> Reproduction:
    """Run the experiments of one paper; with a folder, write its page, figures and tables there.

    adult: the Adult table, for papers that use it; without it one that is like it is made up.
    quick: on less data, in about a minute; claims are then judged on less, too.
    force: replace files that are in the folder.
    """
    from datetime import date

    from shoal.reproduction._page import check_folder, machine, versions, write

    asked, watch = experiment(name), progress or _nobody
    where = None if folder is None else Path(folder)
    if where is not None:
        check_folder(where, force)
    table, data = None, OWN_TABLE
    if asked.uses_adult:
        from shoal.reproduction._adult import adult_table

        watch("read", 0.0)
        table, data = adult_table(None if adult is None else Path(adult))
    began = time.monotonic()
    result = asked.run(table, quick, watch)
    found = Reproduction(
        name=name,
        title=asked.title,
        source=asked.source,
        data=data,
        quick=quick,
        seconds=round(time.monotonic() - began, 1),
        made=date.today().isoformat(),
        machine=machine(),
        versions=versions(),
        result=result,
    )
    if where is not None:
        watch("draw", 0.0)
        write(found, where, force)
    return found


def _nobody(step: str, share: float) -> None:
    """Nobody waits."""
