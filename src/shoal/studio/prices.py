"""The price list: single steps from a policy, each of which can be tried and taken."""

from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.studio.columns_text import settings_in, with_role, with_setting
from shoal.studio.constraints import constraints_in, figure_step, with_figure, with_key
from shoal.studio.policy_text import Change
from shoal.studio.words import percent

STRICTER: dict[str, float] = {"k": 1, "l": 1, "t": -0.05}
"""By how much one step makes a guarantee stricter."""
MORE_LEFT_OUT = 0.02
"""The share of rows by which one step changes how many may be left out."""


@dataclass(frozen=True)
class Offer:
    """A step that can be taken."""

    name: str
    """As it is called among the steps: `k 5 → 6`."""
    change: Change
    without: str | None = None
    """The column that is not published any more."""


def offers(text: str, policy: "api.Policy") -> list[Offer]:
    """The steps that lie next to a policy: stricter and looser guarantees, columns that give way."""
    found = []
    for one in constraints_in(text):
        step = STRICTER.get(one.model)
        if step is None or one.figure is None:
            continue
        for figure in (one.figure + step, one.figure - step):
            rounded = round(figure, 4)
            if rounded > (0 if one.model == "t" else 1):
                found.append(Offer(figure_step(one, rounded), with_figure(one, rounded)))
    share = policy.suppression
    if share is not None:
        for other in (round(share + MORE_LEFT_OUT, 4), round(share - MORE_LEFT_OUT, 4)):
            if 0 <= other <= 1:
                name = f"rows left out {percent(share)} → {percent(other)}"
                found.append(Offer(name, with_key("suppression", other)))
    for column in policy.quasi:
        found += _of_column(text, column, several=len(policy.quasi) > 1)
    return found


def _of_column(text: str, column: str, several: bool) -> list[Offer]:
    settings = settings_in(text, column)
    found = []
    hierarchy = settings.get("hierarchy")
    widths = hierarchy.get("intervals") if isinstance(hierarchy, CommentedMap) else None
    if isinstance(hierarchy, CommentedMap) and isinstance(widths, list) and len(widths) > 1:
        coarser = dict(hierarchy) | {"intervals": [_number(width) for width in widths[1:]]}
        if "from" in coarser:
            coarser["from"] = _number(coarser["from"])
        name = f"{column}: steps from {widths[1]}"
        found.append(Offer(name, with_setting(column, "hierarchy", coarser)))
    if several and str(settings.get("importance", "1")) != "0":
        found.append(Offer(f"{column} gives way first", with_setting(column, "importance", 0)))
    if several:
        change = with_role(column, "identifier", settings=False)
        found.append(Offer(f"without {column}", change, without=column))
    return found


def _number(written: object) -> float | int:
    figure = float(str(written))
    return int(figure) if figure.is_integer() else figure
