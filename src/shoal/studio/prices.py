"""The price list: single steps from a policy, what each would buy and cost, and a button to take it."""

from collections.abc import Mapping
from dataclasses import dataclass

from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import ShoalError
from shoal.studio.columns_text import settings_in, with_role, with_setting
from shoal.studio.constraints import constraints_in, figure_step, with_figure, with_key
from shoal.studio.page import box, button, edit, text
from shoal.studio.policy_text import Change
from shoal.studio.session import Session
from shoal.studio.tasks import NoPrice, Price, longest_texts, price
from shoal.studio.words import percent
from shoal.studio.workers import CallCancelledError

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
    words: str = ""
    """What it means, where its name has a term of the field."""


def offers(
    text: str, policy: "api.Policy", lengths: Mapping[str, int] | None = None
) -> list[Offer]:
    """The steps that lie next to a policy: stricter and looser guarantees, columns that give way.

    lengths: of columns whose characters are hidden from the end, those of the longest value.
    """
    found = []
    for one in constraints_in(text):
        step = STRICTER.get(one.model)
        if step is None or one.figure is None:
            continue
        for figure in (one.figure + step, one.figure - step):
            rounded = round(figure, 4)
            if rounded > (0 if one.model == "t" else 1):
                name = figure_step(one, rounded)
                words = _words(one.model, one.of, rounded)
                found.append(Offer(name, with_figure(one, rounded), words=words))
    share = policy.suppression
    if share is not None:
        for other in (round(share + MORE_LEFT_OUT, 4), round(share - MORE_LEFT_OUT, 4)):
            if 0 <= other <= 1:
                name = f"rows left out {percent(share)} → {percent(other)}"
                found.append(Offer(name, with_key("suppression", other)))
    for column in policy.quasi:
        length = (lengths or {}).get(column, 0)
        found += _of_column(text, column, len(policy.quasi) > 1, length)
    return found


def _words(model: str, of: str | None, figure: float) -> str:
    """A guarantee in a few words."""
    match model:
        case "k":
            return f"everyone is like at least {figure - 1:g} others"
        case "l":
            return f"at least {figure:g} values of {of} in every group"
        case "t":
            return f"{of} in every group within {figure:.0%} of the table"
    return ""


def masked_columns(text: str, policy: "api.Policy") -> tuple[str, ...]:
    """The columns whose characters are hidden from the end."""
    found = []
    for column in policy.quasi:
        hierarchy = settings_in(text, column).get("hierarchy")
        if isinstance(hierarchy, CommentedMap) and str(hierarchy.get("mask")) == "right":
            found.append(column)
    return tuple(found)


def _of_column(text: str, column: str, several: bool, length: int) -> list[Offer]:
    settings = settings_in(text, column)
    found = []
    left = min(length, int(_number(settings.get("characters", length)))) - 1
    if left > 0 and settings.get("zip3") is None:
        name = f"{column}: one character coarser, {left} left"
        found.append(Offer(name, with_setting(column, "characters", left)))
    hierarchy = settings.get("hierarchy")
    widths = hierarchy.get("intervals") if isinstance(hierarchy, CommentedMap) else None
    if isinstance(hierarchy, CommentedMap) and isinstance(widths, list) and len(widths) > 1:
        coarser = dict(hierarchy) | {"intervals": [_number(width) for width in widths[1:]]}
        if "from" in coarser:
            coarser["from"] = _number(coarser["from"])
        name = f"{column}: steps from {widths[1]}"
        found.append(Offer(name, with_setting(column, "hierarchy", coarser)))
    levels = hierarchy.get("date") if isinstance(hierarchy, CommentedMap) else None
    if isinstance(hierarchy, CommentedMap) and isinstance(levels, list) and len(levels) > 1:
        name = f"{column}: {levels[1]} at the finest"
        coarser = dict(hierarchy) | {"date": [str(level) for level in levels[1:]]}
        found.append(Offer(name, with_setting(column, "hierarchy", coarser)))
    if (step := settings.get("round")) is not None:
        wider = 2 * _number(step)
        name = f"{column}: rounded to {step} → {wider:g}"
        found.append(Offer(name, with_setting(column, "round", wider)))
    if several and str(settings.get("importance", "1")) != "0":
        words = f"{column} is made coarser before the others"
        change = with_setting(column, "importance", 0)
        found.append(Offer(f"{column} gives way first", change, words=words))
    if several:
        change = with_role(column, "identifier", settings=False)
        words = f"{column} is not published"
        found.append(Offer(f"without {column}", change, without=column, words=words))
    return found


def _number(written: object) -> float | int:
    figure = float(str(written))
    return int(figure) if figure.is_integer() else figure


STEADY = 0.0005
"""A change below this is none."""


class PriceList:
    """The steps next to the policy, with what each would change; filled in one by one.

    A line that is there stays as it is, so that nobody who is about to press it misses it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._computed_for = ""

    def build(self) -> None:
        """Create the list."""
        with box("details", "card stack-3", id="prices"):
            text("What would one step buy?", "strong", "summary")
            text(
                "Each line is the policy with one change, tried in the background. A lower chance of "
                "being found is what a step buys; lost information is what it costs. Press one to take "
                "it; it can be undone. Blue is better than now, orange is worse.",
                "why",
                "p",
            )
            # a line of its own from the start, so that the list below does not move
            self._best = text("", "small", "p", id="best-steps")
            self._lines = box(
                "div", "prices", role="table", aria_label="What one step would buy and cost"
            )
            self._idle = text("", "small muted", "p")
            self._state = text(
                "Waiting its turn: the release and the cost curves come first.",
                "tiny muted",
                "p",
                role="status",
            )

    async def compute(self) -> None:
        """Try every step, unless that was done for this policy."""
        workspace, policy = self._session.workspace, self._session.policy
        if workspace is None or policy is None or self._computed_for == workspace.text:
            return
        here = workspace.text
        listed = offers(here, policy, await self._lengths(masked_columns(here, policy)))
        self._computed_for = ""
        self._lines.clear()
        self._idle.set_text("")
        self._best.set_text("")
        self._state.set_text("Trying the first step …")
        base = await self._price(here, policy.quasi)
        if not isinstance(base, Price):
            self._state.set_text("There is no release to start from.")
            return
        self._head(base)
        self._best.set_text("Steps that are safer and lose less are named here.")
        where = f"on a sample of {base.sampled:,} rows" if base.sampled else "on the whole table"
        idle, best = [], []
        for number, offer in enumerate(listed, 1):
            one = await self._price(workspace.preview(offer.change), policy.quasi)
            if one is not None and _changes_nothing(base, one):
                idle.append(offer.name)
                self._idle.set_text(f"Tried, and no difference: {', '.join(idle)}.")
            elif isinstance(one, Price) or (one is not None and one.impossible):
                with self._lines:
                    self._line(base, offer, one)
                if isinstance(one, Price) and is_better(base, one):
                    best.append(offer.name)
                    self._best.set_text(f"Safer, and loses less: {'; '.join(best)}.")
            left = len(listed) - number
            self._state.set_text(f"Computed {where}" + (f"; {left} more to try." if left else "."))
        if not best:
            self._best.set_text("No single step is safer and loses less.")
        self._computed_for = here

    async def _lengths(self, columns: tuple[str, ...]) -> dict[str, int]:
        if not columns:
            return {}
        try:
            found: dict[str, int] = await self._session.background.call(longest_texts, columns)
        except (ShoalError, CallCancelledError):
            return {}
        return found

    async def _price(self, there: str, columns: tuple[str, ...]) -> Price | NoPrice | None:
        session = self._session
        try:
            found: Price | NoPrice = await session.background.call(
                price, session.policy_text(), there, columns
            )
        except (ShoalError, CallCancelledError):
            return None
        return found

    def _head(self, base: Price) -> None:
        with self._lines:
            with box("div", "line", role="row"):
                for head in ("One step", "highest chance", "average chance", "information lost"):
                    classes = "tiny muted strong" + ("" if head == "One step" else " r")
                    text(head, classes, role="columnheader")
            with box("div", "line", role="row"):
                text("your policy now", "strong", role="cell")
                for figure in (base.highest, base.average, base.lost):
                    text(percent(figure), "r strong", role="cell")

    def _line(self, base: Price, offer: Offer, one: Price | NoPrice) -> None:
        def take() -> None:
            edit(self._session, offer.name, offer.change)

        with box("div", "line", role="row"):
            with box("div", "", role="cell"):
                button(offer.name, take, "price", data_price=offer.name)
                if isinstance(one, Price) and is_better(base, one):
                    text("safer, and loses less", "tiny better strong", "div")
                if offer.words:
                    text(offer.words, "tiny muted", "div")
            if isinstance(one, NoPrice):
                text("cannot be met", "small muted span3 r", title=one.reason, role="cell")
                return
            for before, after in _pairs(base, one):
                self._change(before, after)

    def _change(self, before: float, after: float) -> None:
        kind = "muted" if not _moved(before, after) else "better" if after < before else "warn"
        said = {"muted": "as now", "better": "better than now", "warn": "worse than now"}[kind]
        with box("span", f"r {kind}", title=said, role="cell"):
            text(_change(before, after), "", aria_hidden="true")
            text(f"{percent(after)}, {said}", "visually-hidden")


def _pairs(base: Price, one: Price) -> tuple[tuple[float, float], ...]:
    """Every figure now and after a step."""
    return (base.highest, one.highest), (base.average, one.average), (base.lost, one.lost)


def is_better(base: Price, one: Price) -> bool:
    """Whether a step makes people safer and loses less too."""
    highest, average, lost = (after - before for before, after in _pairs(base, one))
    safer = min(highest, average) <= -STEADY and max(highest, average) < STEADY
    return safer and lost <= -STEADY


def _changes_nothing(base: Price, one: Price | NoPrice) -> bool:
    return isinstance(one, Price) and not any(_moved(*pair) for pair in _pairs(base, one))


def _moved(before: float, after: float) -> bool:
    """Whether the figures differ as they are shown."""
    return percent(before) != percent(after)


def _change(before: float, after: float) -> str:
    """The figure after a step, with the direction in which it moved."""
    if not _moved(before, after):
        return "same"
    return f"{'▲' if after > before else '▼'} {percent(after)}"
