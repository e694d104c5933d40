"""What `incognito` and `optimal` share: refusing what they cannot honour, and reporting."""

from dataclasses import replace

from shoal import plugins
from shoal.cells.cells import Cells
from shoal.cells.grouping import Grouping
from shoal.errors import Infeasible, PolicyError, listed
from shoal.methods._classes import Counting
from shoal.methods._families import climbs
from shoal.methods._judging import Judge
from shoal.methods._lattice import Levels, lattice_of
from shoal.methods._nodes import Measuring
from shoal.methods.base import QuasiColumns, check_feasible
from shoal.models.requirement import Requirement, name_of


def check_full_domain(method: str, requirement: Requirement, columns: QuasiColumns) -> None:
    """Raise unless every column has a hierarchy and every constraint speaks of all of them."""
    bare = [name for name, has_tree in columns.items() if not has_tree]
    if bare:
        raise PolicyError(
            f"method: {method} searches levels of hierarchies, but {listed(bare)} "
            f"{'has' if len(bare) == 1 else 'have'} none. Give each a `hierarchy`, or use "
            "least-loss-partition."
        )
    for model in requirement.models:
        on = getattr(model, "on", None)
        if on is not None and set(on) != set(columns):
            raise PolicyError(
                f"method: {method} judges classes over all quasi columns, but {name_of(model)} speaks "
                f"of {listed(on)} alone. Leave its `on` out, or use datafly or classfly-plus, which "
                "treat such constraints apart."
            )


def measuring(method: str, metric: str, cells: Cells, requirement: Requirement) -> Measuring:
    """All that a search needs, or an error where it cannot begin."""
    lattice = lattice_of(cells, method)
    judge = Judge(Counting(cells, lattice, requirement.columns), requirement)
    if judge.monotone:
        check_feasible(cells, requirement)
    found = Measuring(judge, plugins.metric(metric)())
    found.check()
    return found


def infeasible(cells: Cells, requirement: Requirement) -> Infeasible:
    """Why no node is valid."""
    try:
        check_feasible(cells, requirement)
    except Infeasible as error:
        return error
    return Infeasible(
        "No combination of levels meets the constraints. Loosen them, or raise `suppression`."
    )


def told(measured: Measuring, chosen: Levels, cost: float, words: str) -> Grouping:
    """The grouping of the chosen node, with a note on how it was chosen and how columns climbed."""
    grouping = measured.grouping(chosen)
    metric = measured.metric
    figure = -cost if metric.high_is_good else cost
    names = [domain.name for domain in measured.counting.cells.domains]
    head = f"{words} by {plugins.name_of(type(metric))} ({figure:.6g}). How columns climbed:"
    return replace(grouping, notes=("\n".join([head, *climbs(grouping, names)]),))
