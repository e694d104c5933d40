"""Compare: methods and k as points of loss and risk; a click loads that policy."""

import asyncio
import re
from typing import Any

from nicegui import ui
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import ShoalError
from shoal.studio.charts import frontier_chart, pairs_chart
from shoal.studio.constraints import constraints_in
from shoal.studio.figures import Figures
from shoal.studio.page import box, button, edit, notice, on_press, text
from shoal.studio.policy_text import Change, scalar
from shoal.studio.remedies import explained
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.tasks import Candidate, try_candidate, usefulness
from shoal.studio.words import percent, screen_words
from shoal.studio.workers import CallCancelledError

METHODS = ("least-loss-partition", "mondrian", "flexible-partition")
"""What is compared first: quick, and different in kind."""
FOR_K_ALONE = "datafly"
"""Compared too where no other guarantee is asked for."""
KS = (3, 5, 8, 11, 20)
NO_TARGET = "none"
NOW = "the policy now"
HEADS = ("lost", "exact", "highest chance", "left out")
COUNTS = "Cross tables you need"
NOT_COMPARED = re.compile(r"Column '(.+?)' is not compared: its labels do not list the")
BETWEEN = re.compile(r",|×|\s[xX*]\s")
"""What stands between the columns of a cross table."""
MOST_BARS = 11
"""Values of a column whose counts are drawn."""


class Compare(Screen):
    """See the frontier, and choose a point of it."""

    path = "compare"
    title = "Compare"
    next_words = "Then: try to find somebody in the release yourself."
    question = "Is there a better bargain?"
    lead = (
        "Every point is a release: further left less information is lost, further down the chance to be "
        "found is smaller. Points on the line cannot be beaten in both. Click one to take it."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._found: list[Candidate] = []
        self._pinned: list[str] = []
        self._methods = list(METHODS)
        if session.policy is not None:
            asked = {model.name for model in session.policy.constraints}
            more = [FOR_K_ALONE] if asked == {"k"} else []
            own = session.policy.method.name
            self._methods = list(dict.fromkeys([own, *METHODS, *more]))
        self._running: asyncio.Task[None] | None = None
        self._target: str | None = None
        self._counts = ""
        self._useful: dict[str, api.Utility] = {}
        """What releases are good for, by the name of the candidate."""
        self._looked_at = ""
        self._problem = ""
        self._stopped = False

    def build(self) -> None:
        """Create the choice of methods, the chart and the pinned candidates."""
        self._list = ui.refreshable(self._table)
        with box("div", "stack-5"):
            with box("section", "card stack-3"):
                with box("div", "bar"):
                    self._state = text(
                        "Each method is tried with several sizes of groups, beside your work.",
                        "small muted",
                        "p",
                        role="status",
                    )
                    self._start = button("Compare", self._toggle, "quiet push", id="compare")
                self._verdict = text("", "sentence", "p", role="status", id="verdict")
                self._chart = ui.echart(
                    frontier_chart([], self._now(), self.session.dark), on_point_click=self._clicked
                ).style("height:340px;width:100%")
                self._chart.props["role"] = "img"
                self._chart.props["aria-label"] = "Releases by information lost and chance"
                text(
                    "The number at a point is the smallest size of its groups; grey points are beaten "
                    "by another one. Dashed: limits of authorities; the live figures say whose.",
                    "why",
                    "p",
                )
                with box("details", "small"):
                    text("Which methods are tried", "muted", "summary")
                    names = [one.name for one in api.list_methods().entries]

                    def choose(event: Any) -> None:
                        self._methods = list(event.value or [])

                    ui.select(
                        names, value=self._methods, label="Methods", multiple=True, on_change=choose
                    ).props("outlined dense options-dense use-chips")
            with box("div") as listed:
                self._list()
            self._use = ui.refreshable(self._uses)
            self._use_card()
        on_press(listed, "data-take", self._take_named)
        on_press(listed, "data-pin", self._pin)
        self.follow(self.session.live_changed, self._follow_live)
        self.follow(self.session.look_changed, self._draw)
        self.follow(self.session.look_changed, self._use.refresh)
        self.follow(self.session.policy_changed, self._forget_use)
        self.follow(self.session.policy_changed, self._list.refresh)
        self._found = list(self.session.compared.get(self._family(), ()))
        self._begin_if_new()

    def _family(self) -> str:
        """The policy but for its method and k: what was compared under it stays comparable."""
        workspace = self.session.workspace
        if workspace is None or workspace.policy is None:
            return ""
        return workspace.preview(self._change(METHODS[0], KS[0]))

    def _follow_live(self) -> None:
        self._draw()
        self._begin_if_new()

    def _begin_if_new(self) -> None:
        """Compare by itself, once the policy was checked; what was compared before is shown again."""
        running = self._running is not None and not self._running.done()
        if self._found:
            self._draw()
            self._list.refresh()
            return
        settled = self.session.live.state in ("verified", "failed")
        if settled and self._family() and not running and not self._stopped:
            self._toggle()

    def leave(self) -> None:
        """Compare no further."""
        super().leave()
        if self._running is not None:
            self._running.cancel()

    def _now(self) -> tuple[float, float] | None:
        """Where the policy is now."""
        figures = self.session.live.figures
        if figures is None or figures.lost is None or self.session.live.state != "verified":
            return None
        return figures.lost, figures.now.prosecutor

    def _toggle(self) -> None:
        if self._running is not None and not self._running.done():
            self._running.cancel()
            self._stopped = True
            self._start.set_text("Compare")
            self._state.set_text("Stopped.")
            self._list.refresh()
            return
        self._found = []
        self._start.set_text("Stop")
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        family = self._family()
        wanted = [(method, k) for method in self._methods for k in KS]
        for number, (method, k) in enumerate(wanted, 1):
            self._state.set_text(
                f"Trying groups of at least {k}, by {method}: {number} of {len(wanted)}"
            )
            policy = self.session.policy_text()
            try:
                text_there = workspace.preview(self._change(method, k))
                one = await self.ask(
                    self.session.background, try_candidate, policy, text_there, method, k
                )
            except (ShoalError, CallCancelledError):
                continue
            self._found.append(one)
            self.session.compared[family] = tuple(self._found)
            self._draw()
            if k == KS[-1]:
                self._list.refresh()
        failed = sum(1 for one in self._found if one.figures is None)
        done = len(self._found) - failed
        sampled = any(one.figures is not None and one.figures.sampled for one in self._found)
        where = " on a sample" if sampled else ""
        self._state.set_text(
            f"{done} releases compared{where}"
            + (f"; {failed} cannot meet the policy." if failed else ".")
        )
        self._start.set_text("Compare again")
        self._list.refresh()
        self._verdict.set_text(
            verdict([one for one in self._found if one.figures is not None], self._now())
        )

    def _change(self, method: str, k: int) -> Change:
        """The policy with another method and another k."""
        workspace = self.session.workspace
        assert workspace is not None
        ks = [one for one in constraints_in(workspace.text) if one.model == "k"]

        def change(policy: CommentedMap) -> None:
            policy["method"] = scalar(method)
            for one in ks:
                policy["constraints"][one.index]["k"] = scalar(k)

        return change

    def _draw(self) -> None:
        self._chart.options.clear()
        self._chart.options.update(frontier_chart(self._found, self._now(), self.session.dark))
        known = [one for one in self._found if one.figures is not None]
        self._chart.props["aria-label"] = f"{len(known)} releases by information lost and chance"
        self._chart.update()
        running = self._running is not None and not self._running.done()
        self._verdict.set_text("" if running else verdict(known, self._now()))

    def _clicked(self, event: Any) -> None:
        self._take_named(str(event.name))

    def _take_named(self, name: str) -> None:
        one = next((one for one in self._found if one.name == name), None)
        if one is not None:
            edit(self.session, f"took {one.name}", self._change(one.method, one.k))

    # -- candidates side by side

    def _table(self) -> None:
        known = [one for one in self._found if one.figures is not None]
        if not known:
            with box("section", "card"):
                text("The best of each size of groups appears here, side by side.", "muted", "p")
            return
        best = best_of(known)
        pinned = [one for one in known if one.name in self._pinned]
        with box("section", "card table-card"):
            with box("div", "stack").style("padding:12px 16px"):
                text("The best of each size of groups", "", "h2")
                text(
                    "“Take it” puts its size and method into your policy; it can be undone. “Pin” keeps "
                    "it at the top, and “Measure” below compares what it is good for.",
                    "why",
                    "p",
                )
            with box("div", "wide"), box("table", "preview candidates"):
                with box("thead"), box("tr"):
                    for head in ("", *HEADS, ""):
                        text(head, "tiny muted", "th").style("padding:8px 12px;font-weight:500")
                with box("tbody"):
                    self._now_row()
                    for one in (*pinned, *(one for one in best if one not in pinned)):
                        self._row(one)
        reasons = {one.reason: one.name for one in reversed(self._found) if one.figures is None}
        for reason, name in list(reversed(reasons.items()))[:4]:
            notice(f"{called(name)}: {explained(reason).words}").style("margin-top:12px")

    def _now_row(self) -> None:
        """The policy as it is, to compare with."""
        if (figures := self.session.live.figures) is not None and self._now() is not None:
            with box("tr", "now-row"):
                text("your policy now", "strong", "td")
                self._cells(figures)
                text("", "", "td")

    def _cells(self, figures: Figures) -> None:
        for head, words in zip(
            HEADS,
            (
                percent(figures.lost or 0),
                percent(figures.exact),
                percent(figures.now.prosecutor),
                f"{figures.suppressed_rows:,}",
            ),
            strict=True,
        ):
            text(words, "num", "td", data_label=head)

    def _row(self, one: Candidate) -> None:
        figures = one.figures
        assert figures is not None
        on = one.name in self._pinned
        with box("tr", data_candidate=one.name):
            with box("td"):
                text(f"at least {one.k} alike", "", "div")
                text(f"by {one.method}" + (", pinned" if on else ""), "tiny muted", "div")
            self._cells(figures)
            with box("td"), box("div", "bar").style("flex-wrap:nowrap"):
                if self._is_now(one):
                    text("yours now", "small muted")
                else:
                    take = text("Take it", "quiet", "button", type="button", data_take=one.name)
                    take.props["aria-label"] = f"Take it: {called(one.name)}"
                words = "Unpin" if on else "Pin"
                pin = text(words, "quiet", "button", type="button", data_pin=one.name)
                pin.props["aria-label"] = f"{words}: {called(one.name)}"

    def _is_now(self, one: Candidate) -> bool:
        """Whether the policy has this method and k already."""
        policy = self.session.policy
        ks = () if policy is None else [m.figure for m in policy.constraints if m.name == "k"]
        return policy is not None and policy.method.name == one.method and set(ks) == {one.k}

    def _pin(self, name: str) -> None:
        if name in self._pinned:
            self._pinned.remove(name)
        else:
            self._pinned.append(name)
        self._list.refresh()
        self._use_state.set_text(measured_words(len(self._pinned)))

    # -- what they are good for

    def _use_card(self) -> None:
        """Ask what the release is needed for."""
        policy, opened = self.session.policy, self.session.opened
        assert opened is not None
        names = [] if policy is None else list(policy.published(opened.columns))

        def set_target(event: Any) -> None:
            self._target = None if event.value in (None, NO_TARGET) else str(event.value)

        def set_counts(event: Any) -> None:
            self._counts = str(event.value or "")

        with box("section", "card stack-3", id="usefulness"):
            text("What is it still good for?", "", "h2")
            text(
                "The same analyses of your table and of the release: how values are spread, which "
                "columns go together, cross tables that you need, and models that predict a column.",
                "why",
                "p",
            )
            with box("div", "bar").style("gap:12px"):
                ui.select(
                    [NO_TARGET, *names], value=NO_TARGET, label="Predict", on_change=set_target
                ).props("outlined dense options-dense").style("min-width:170px")
                ui.input(COUNTS, placeholder="such as sex, region", on_change=set_counts).props(
                    "outlined dense"
                ).style("flex:1;min-width:180px")
                button("Measure", self._measure, id="measure")
            self._use_state = text(
                measured_words(len(self._pinned)),
                "small muted",
                "p",
                role="status",
            )
            with box("div", "stack-3") as shown:
                self._use()
        on_press(shown, "data-useful", self._look_at)

    def _forget_use(self) -> None:
        self._useful.pop(NOW, None)
        self._use.refresh()

    def _look_at(self, name: str) -> None:
        self._looked_at = name
        self._use.refresh()

    async def _measure(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        own = [part.strip() for part in BETWEEN.split(self._counts) if part.strip()]
        wanted = {NOW: workspace.text}
        for one in self._found:
            if one.name in self._pinned:
                wanted[one.name] = workspace.preview(self._change(one.method, one.k))
        self._useful, self._problem, self._looked_at = {}, "", NOW
        for number, (name, there) in enumerate(wanted.items(), 1):
            self._use_state.set_text(f"Measuring {called(name)}: {number} of {len(wanted)} …")
            try:
                self._useful[name] = await self.ask(
                    self.session.background,
                    usefulness,
                    self.session.policy_text(there),
                    (tuple(own),) if own else (),
                    self._target,
                )
            except CallCancelledError:
                return
            except ShoalError as error:
                self._problem = f"{called(name)}: {error}"
        self._use_state.set_text(measured_words(len(self._pinned)))
        self._use.refresh()

    def _uses(self) -> None:
        if self._problem:
            notice(self._problem, "bad")
        if not self._useful:
            return
        with box("div", "wide"), box("table", "preview"):
            with box("thead"), box("tr"):
                predicted = any(one.prediction is not None for one in self._useful.values())
                heads = ["", "values moved", "pairs changed by"]
                if predicted:
                    heads += ["always the same guess", "best model: table", "release"]
                for head in heads:
                    text(head, "tiny muted strong", "th").style("padding:8px 12px")
            with box("tbody"):
                for name, one in self._useful.items():
                    self._use_row(name, one)
        shown = self._useful.get(self._looked_at) or next(iter(self._useful.values()))
        self._distributions(shown)
        if shown.pairs:
            text("Which columns go together", "", "h3")
            text(
                "How much the association of each pair changed: 0 is as in your table, 1 is quite "
                "different, and the bluer the cell the more. " + worst_pair(shown.pairs),
                "why",
                "p",
                id="pairs",
            )
            chart = ui.echart(pairs_chart(shown.pairs, self.session.dark))
            names = {one.first for one in shown.pairs} | {one.second for one in shown.pairs}
            chart.style(f"height:{110 + 30 * len(names)}px;width:100%")
            chart.props["role"] = "img"
            chart.props["aria-label"] = (
                f"Change of {len(shown.pairs)} pairs. {worst_pair(shown.pairs)}"
            )
        for words in (*shown.notes, *shown.warnings):
            notice(
                NOT_COMPARED.sub(
                    r"\1 cannot be compared: its labels do not say which", screen_words(words)
                )
            )

    def _use_row(self, name: str, one: "api.Utility") -> None:
        on = name == (self._looked_at or NOW)
        with box("tr", "chosen" if on else "", data_measured=name):
            with box("td").style("max-width:none"):
                words = "your policy now" if name == NOW else called(name)
                chip = text(words, "chip on" if on else "chip", "button", type="button")
                chip.props["data-useful"] = name
                chip.props["aria-pressed"] = str(on).lower()
            text(percent(one.mean_total_variation), "num", "td")
            text(f"{one.mean_pair_change:.2f}", "num", "td")
            if any(other.prediction is not None for other in self._useful.values()):
                for words in prediction_words(one.prediction):
                    text(words, "num", "td")

    def _distributions(self, one: "api.Utility") -> None:
        """Counts before and after: those that were asked for, then of every column."""
        text("How values are spread", "", "h3")
        text(
            "“Moved” is the share of the rows that would have to change places for both to be the same.",
            "why",
            "p",
        )
        with box("div", "bar tiny muted"):
            text("", "key before", aria_hidden="true")
            text("your table")
            text("", "key after", aria_hidden="true")
            text("the release")
        with box("div", "spreads"):
            for count in one.counts:
                self._spread(count)

    def _spread(self, count: "api.CountUtility") -> None:
        name = " × ".join(count.columns)
        most = max((max(cell.raw, cell.release) for cell in count.shown), default=1) or 1
        label = f"{name}: {percent(count.total_variation)} of the rows are in another place"
        with box("div", "spread", data_spread=name, role="img", aria_label=label):
            with box("div", "bar"):
                text(name, "strong small")
                text(f"{percent(count.total_variation)} moved", "tiny muted push")
            common = sorted(count.shown, key=lambda cell: -max(cell.raw, cell.release))
            if len(count.columns) == 1:
                common = common[:MOST_BARS]
            left = count.cells - len(common)
            for cell in (one for one in count.shown if one in common):
                with box("div", "pair", title=f"{cell.raw:,} → {cell.release:,.0f} rows"):
                    name = ", ".join(map(_once, cell.values))
                    text(name, "name", title=name)
                    with box("span", "both"):
                        box("span", "before").style(f"width:{100 * cell.raw / most:.1f}%")
                        box("span", "after").style(f"width:{100 * cell.release / most:.1f}%")
            if left > 0:
                values = "value" if left == 1 else "values"
                text(f"{left:,} more {values} in fewer rows", "tiny muted", "p")


def called(name: str) -> str:
    """`at least 5 alike, by mondrian` for `mondrian, k 5`."""
    method, _, k = name.rpartition(", k ")
    return f"at least {k} alike, by {method}" if method else name


def measured_words(pinned: int) -> str:
    """What “Measure” measures."""
    if not pinned:
        return "Measures your policy; pin candidates above to compare them with it."
    several = "the pinned candidate" if pinned == 1 else f"the {pinned} pinned candidates"
    return f"Measures your policy and {several}."


def prediction_words(found: "api.PredictionUtility | None") -> tuple[str, str, str]:
    """How well a guess that knows nothing predicts, then the best model of the table and the release."""
    if found is None or not found.models:
        return ("–", "–", "–")
    best = max(found.models, key=lambda model: model.raw)
    figures = (found.baseline, best.raw, best.release)
    if best.score == "r2":
        nothing, *both = (f"R² {figure:.2f}" for figure in figures)
    else:
        nothing, *both = (f"{percent(figure)} right" for figure in figures)
    return (nothing, both[0], both[1])


def worst_pair(pairs: "tuple[api.PairUtility, ...]") -> str:
    """The pair that changed most, in a sentence."""
    worst = max(pairs, key=lambda pair: abs(pair.change))
    return f"Most changed: {worst.first} and {worst.second} ({abs(worst.change):.2f})."


def _once(label: str) -> str:
    """`40` for `40 to 40`."""
    first, _, last = label.partition(" to ")
    return first if first == last else label


def verdict(known: list[Candidate], now: tuple[float, float] | None) -> str:
    """Whether something that was tried beats the policy, in a sentence; empty where that is unknown."""
    if now is None or not known:
        return ""
    if any(one.figures is not None and one.figures.sampled for one in known):
        return ""  # figures of a sample and of the whole table are not of one measure
    lost, chance = now
    better = [
        one
        for one in known
        if one.figures is not None
        and one.figures.now.prosecutor <= chance + 1e-9
        and _lost(one) < lost - 0.001
    ]
    if not better:
        return (
            "Yours is among the best: nothing that was tried loses less at this chance to be found."
        )
    best = min(better, key=_lost)
    return (
        f"At least {best.k} alike by {best.method} loses less, {percent(_lost(best))} in place of "
        f"{percent(lost)}, at the same chance to be found or a smaller one."
    )


def best_of(known: list[Candidate]) -> list[Candidate]:
    """Of each k, the candidate that loses least."""
    best: dict[int, Candidate] = {}
    for one in known:
        assert one.figures is not None
        other = best.get(one.k)
        if other is None or _lost(one) < _lost(other):
            best[one.k] = one
    return [best[k] for k in sorted(best)]


def _lost(one: Candidate) -> float:
    return 1.0 if one.figures is None or one.figures.lost is None else one.figures.lost
