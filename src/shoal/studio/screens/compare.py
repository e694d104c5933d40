"""Compare: methods and k as points of loss and risk; a click loads that policy."""

import asyncio
from typing import Any

from nicegui import ui
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import ShoalError
from shoal.studio.charts import frontier_chart
from shoal.studio.compare_task import Candidate, try_candidate
from shoal.studio.constraints import constraints_in
from shoal.studio.page import box, button, edit, notice, on_press, text
from shoal.studio.policy_text import Change, scalar
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.words import percent
from shoal.studio.workers import CallCancelledError

METHODS = ("least-loss-partition", "mondrian", "flexible-partition", "datafly")
"""What is compared first: quick, and different in kind."""
KS = (3, 5, 8, 11, 20)


class Compare(Screen):
    """See the frontier, and choose a point of it."""

    path = "compare"
    title = "Compare"
    question = "Is there a better bargain?"
    lead = (
        "Every point is a release: to the left more detail is kept, further down fewer people can be "
        "found. Points on the line cannot be beaten in both. Click one to take it."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._found: list[Candidate] = []
        self._pinned: list[str] = []
        self._methods = list(METHODS)
        self._running: asyncio.Task[None] | None = None

    def build(self) -> None:
        """Create the choice of methods, the chart and the pinned candidates."""
        self._list = ui.refreshable(self._table)
        with box("div", "stack-5"):
            with box("section", "card stack-3"):
                with box("div", "bar"):
                    names = [one.name for one in api.list_methods().entries]

                    def choose(event: Any) -> None:
                        self._methods = list(event.value or [])

                    ui.select(
                        names, value=self._methods, label="Methods", multiple=True, on_change=choose
                    ).props("outlined dense options-dense use-chips").style(
                        "flex:1;min-width:240px"
                    )
                    self._start = button("Compare", self._toggle, "primary", id="compare")
                self._state = text("", "small muted", "p", role="status")
                self._chart = ui.echart(
                    frontier_chart([], self._now(), self.session.dark), on_point_click=self._clicked
                ).style("height:340px;width:100%")
                self._chart.props["role"] = "img"
            with box("div") as listed:
                self._list()
        on_press(listed, "data-take", self._take_named)
        on_press(listed, "data-pin", self._pin)
        self.follow(self.session.live_changed, self._draw)
        self.follow(self.session.look_changed, self._draw)

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
            self._start.set_text("Compare")
            self._state.set_text("Stopped.")
            return
        self._found = []
        self._start.set_text("Stop")
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        wanted = [(method, k) for method in self._methods for k in KS]
        for number, (method, k) in enumerate(wanted, 1):
            self._state.set_text(f"{method}, k {k}: {number} of {len(wanted)}")
            policy = self.session.policy_text()
            try:
                text_there = workspace.preview(self._change(method, k))
                one = await self.session.background.call(
                    try_candidate, policy, text_there, method, k
                )
            except (ShoalError, CallCancelledError):
                continue
            self._found.append(one)
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
        self._start.set_text("Compare")
        self._list.refresh()

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
        self._chart.props["aria-label"] = f"{len(known)} releases by detail lost and risk"
        self._chart.update()

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
                text("Candidates appear here, side by side, once they are compared.", "muted", "p")
            return
        shown = [one for one in known if one.name in self._pinned] or best_of(known)
        with box("section", "card table-card"):
            with box("div", "bar").style("padding:12px 16px"):
                title = "Pinned side by side" if self._pinned else "The least loss at each k"
                text(title, "", "h2")
            with box("div", "scroll"), box("table", "preview"):
                with box("thead"), box("tr"):
                    for head in ("candidate", "lost", "exact", "highest risk", "left out", ""):
                        text(head, "tiny muted strong", "th").style("padding:8px 12px")
                with box("tbody"):
                    for one in shown:
                        self._row(one)
        reasons = {one.reason: one.name for one in reversed(self._found) if one.figures is None}
        for reason, name in list(reversed(reasons.items()))[:4]:
            notice(f"{name}: {reason}")

    def _row(self, one: Candidate) -> None:
        figures = one.figures
        assert figures is not None
        with box("tr", data_candidate=one.name):
            text(one.name, "", "td")
            text(percent(figures.lost or 0), "num", "td")
            text(percent(figures.exact), "num", "td")
            text(percent(figures.now.prosecutor), "num", "td")
            text(f"{figures.suppressed_rows:,}", "num", "td")
            with box("td"), box("div", "bar").style("flex-wrap:nowrap"):
                text("Take it", "quiet", "button", type="button", data_take=one.name)
                pinned = "Unpin" if one.name in self._pinned else "Pin"
                text(pinned, "quiet", "button", type="button", data_pin=one.name)

    def _pin(self, name: str) -> None:
        if name in self._pinned:
            self._pinned.remove(name)
        else:
            self._pinned.append(name)
        self._list.refresh()


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
