"""Protect: the guarantees, each with its sentence, its slider and what it costs."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from nicegui import ui

from shoal import api
from shoal.errors import PolicyError, ShoalError
from shoal.studio.charts import MARGIN, cost_chart
from shoal.studio.constraints import (
    ConstraintText,
    constraints_in,
    figure_step,
    presets_in,
    with_constraint,
    with_figure,
    with_key,
    with_preset,
    without,
    without_preset,
)
from shoal.studio.page import box, button, edit, notice, spoken, tell, term, text
from shoal.studio.prices import PriceList
from shoal.studio.remedies import explained
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.tasks import SAMPLE_ROWS, CurvePoint, cost_curve
from shoal.studio.words import PRESETS, figure_text, percent, screen_words, words_for
from shoal.studio.workers import CallCancelledError

CURVES: dict[str, tuple[float, ...]] = {
    "k": (2, 3, 5, 8, 11, 15, 20, 30, 50),
    "l": (1, 2, 3, 4, 5, 6, 8, 10),
    "t": (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1),
}
"""The figures at which a cost is computed; other models have eight between their ends."""
INFORMATION_LOST = "Information lost"
PAUSE = 0.4
"""Seconds without a step before costs are computed again."""


@dataclass
class _Shown:
    """The constraint that a slider shows."""

    one: ConstraintText
    figure: float


@cache
def _preset_entries() -> tuple[api.Entry, ...]:
    return api.list_presets().entries


def _by_size(entry: "api.Entry") -> tuple[str, int]:
    """Presets by their words, and by the number in them."""
    title = getattr(entry, "title", entry.name)
    words = re.sub(r"\d+", "", title)
    number = re.search(r"\d+", title)
    return words, int(number[0]) if number else 0


@cache
def _methods() -> dict[str, str]:
    return {one.name: one.summary for one in api.list_methods().entries}


class Protect(Screen):
    """Choose what is guaranteed to everyone in the table."""

    path = "protect"
    title = "Protect"
    next_words = "Then: whether another method gives a better bargain."
    question = "What do you guarantee to the people in the table?"
    lead = (
        "Stronger guarantees make the published values coarser. Move a slider and watch in the live "
        "figures what it buys and what it costs."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._curves: dict[str, tuple[CurvePoint, ...]] = {}
        self._charts: dict[str, Any] = {}
        self._sliders: dict[str, Callable[[ConstraintText], None]] = {}
        self._drawn: object = None
        self._computing: asyncio.Task[None] | None = None
        self._under_way = ""
        """The guarantee whose costs are computed now."""
        self._prices = PriceList(session)

    def build(self) -> None:
        """Create the cards; a step that only moves figures moves them in place."""

        @ui.refreshable
        def cards() -> None:
            workspace = self.session.workspace
            assert workspace is not None
            if workspace.error and not workspace.undecided:
                notice(workspace.error, "bad")
            elif workspace.undecided:
                with box("div", "notice is-warn bar"):
                    text("What guarantees cost is computed once every column has a role.")
                    text("Decide", "quiet push", "a", href="/columns")
            self._charts, self._sliders = {}, {}
            try:
                listed = constraints_in(workspace.text)
            except ShoalError:
                return  # the notice says it
            self._presets()
            for one in listed:
                self._card(one)
            self._of_presets(listed)
            self._add(listed)

        @ui.refreshable
        def how() -> None:
            self._how()

        def follow() -> None:
            if self._layout() != self._drawn:
                self._drawn = self._layout()
                cards.refresh()
                how.refresh()
                return
            assert self.session.workspace is not None
            for one in constraints_in(self.session.workspace.text):
                self._sliders[one.label](one)

        self._drawn = self._layout()
        with box("div", "stack-5"):
            cards()
            self._prices.build()
            how()
        self.follow(self.session.policy_changed, follow)
        self.follow(self.session.live_changed, self._compute_when_idle)
        self.follow(self.session.look_changed, self._redraw)
        self._compute_when_idle()

    def _layout(self) -> object:
        """What the cards depend on, beyond their figures."""
        workspace, policy = self.session.workspace, self.session.policy
        assert workspace is not None
        if policy is None:
            return workspace.error
        listed = constraints_in(workspace.text)
        if any(one.figure is None for one in listed) or len({o.label for o in listed}) < len(
            listed
        ):
            return workspace.text
        of_presets = [repr(model) for model in policy.constraints[len(listed) :]]
        return (
            [(one.index, one.label) for one in listed],
            [(model.name, model.column) for model in policy.constraints],
            of_presets if presets_in(workspace.text) else [],
            presets_in(workspace.text),
            (policy.method.name, policy.suppression, policy.sensitive, policy.person),
        )

    def leave(self) -> None:
        """Compute no costs any more."""
        super().leave()
        if self._computing is not None:
            self._computing.cancel()

    # -- presets

    def _presets(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        chosen = presets_in(workspace.text)
        with box("details", "card stack", open=bool(chosen)) as details:
            if not chosen:
                del details.props["open"]
            with box("summary"):
                text("Must you follow the rules of an authority?", "strong")
                count = f"{len(chosen)} of {len(_preset_entries())} presets chosen"
                text(count, "muted small").style("display:inline-block;margin-left:8px")
            text(
                "A preset brings its figures and its checks, with their source. You can only be "
                "stricter.",
                "why",
                "p",
            )
            with box("ul", "presets"):
                for entry in sorted(_preset_entries(), key=_by_size):
                    assert isinstance(entry, api.PresetEntry)
                    self._preset(entry, entry.name in chosen)

    def _preset(self, entry: "api.PresetEntry", on: bool) -> None:
        with box("li", "stack").style("gap:2px"):
            chip = text(
                entry.title,
                "chip on" if on else "chip",
                "button",
                type="button",
                aria_pressed=str(on).lower(),
                data_preset=entry.name,
            )
            chip.style("align-self:flex-start")
            chip.on("click", lambda: self._toggle(entry.name, on))
            plain = PRESETS.get(entry.name) or screen_words(" ".join(entry.asks))
            text(plain, "small", "p")
            with box("details", "tiny muted"):
                text("Source", "", "summary")
                text("; ".join(entry.sources), "", "p")

    def _toggle(self, name: str, on: bool) -> None:
        session = self.session
        assert session.workspace is not None
        if on:
            edit(session, f"without preset {name}", without_preset(name))
            return
        weak = tuple(c.index for c in constraints_in(session.workspace.text) if c.model == "k")
        try:
            session.edit(f"preset {name}", with_preset(name))
        except PolicyError:  # a k below that of the preset
            edit(session, f"preset {name}", with_preset(name, weak))

    def _of_presets(self, listed: list[ConstraintText]) -> None:
        """The guarantees that presets add, which cannot be changed here."""
        policy = self.session.policy
        if policy is None:
            return
        mine = {(one.model, one.of) for one in listed}
        for model in policy.constraints:
            if (model.name, model.column or None) in mine:
                continue
            words = words_for(model.name)
            with box("section", "card stack"):
                with box("header"), box("div"):
                    text(words.title, "", "h2")
                    term(words.term, words.why)
                text(
                    words.sentence(model.figure, model.column or None, self._unit), "sentence", "p"
                )
                text("From a preset; remove the preset to change it.", "why", "p")

    # -- guarantees

    @property
    def _unit(self) -> str:
        policy = self.session.policy
        return "people" if policy is not None and policy.person is not None else "rows"

    def _card(self, one: ConstraintText) -> None:
        words = words_for(one.model)
        with box("section", "card stack-3", data_guarantee=one.label):
            with box("header"):
                with box("div"):
                    text(words.title, "", "h2")
                    with box("div", "bar small muted"):
                        term(words.term, named_words(one.model))
                        if one.of is not None:
                            text(f"for the column {one.of}")
                remove = button("Remove", partial(self._remove, one), "quiet push")
                remove.props["aria-label"] = f"Remove {words.title}: {one.label}"
            text(words.why, "why", "p")
            if one.figure is None:
                notice("Its figure is not a number; set it in the policy.", "warn")
                return
            self._slider(one, one.figure)
            self._chart(one, one.figure)

    def _slider(self, one: ConstraintText, figure: float) -> None:
        words = words_for(one.model)
        now = _Shown(one, figure)
        low, high = min(words.low, figure), max(words.high, figure)
        sentence = text(words.sentence(figure, one.of, self._unit), "sentence", "p")
        with box("div", "bar").style(f"flex-wrap:nowrap;gap:0;padding-left:{MARGIN}px"):
            slider = ui.slider(min=low, max=high, step=words.step, value=figure)
            slider.style("flex:1")
            shown = text(figure_text(figure), "figure-now", data_figure=one.label)
            shown.style(f"width:{MARGIN}px;text-align:right")

        name = words.title if one.of is None else f"{words.title}: {one.of}"
        spoken(slider, name, figure_text(figure))

        def show(value: float) -> None:
            shown.set_text(figure_text(value))
            sentence.set_text(words.sentence(value, one.of, self._unit))
            spoken(slider, name, figure_text(value))

        def move(event: Any) -> None:
            if event.value is not None and event.value != now.figure:
                show(event.value)
                self.session.preview(with_figure(one, event.value))

        def release(event: Any) -> None:
            value, known = float(event.args), now.one
            if value == now.figure:
                show(value)
                self.session.edit("", lambda _: None)  # nothing changed: the preview goes
                return
            # the next press of an arrow key goes on, or back
            onwards = words.step if value > now.figure else -words.step
            likely = tuple(
                with_figure(known, round(value + by, 4))
                for by in (onwards, -onwards)
                if words.low <= value + by <= words.high
            )
            step = figure_step(known, value)
            if not edit(self.session, step, with_figure(known, value), likely):
                slider.set_value(now.figure)

        def follow(known: ConstraintText) -> None:
            """Take the figure of the policy, which a step elsewhere may have changed."""
            assert known.figure is not None
            now.one, now.figure = known, known.figure
            slider.props["max"] = max(words.high, known.figure)
            slider.props["min"] = min(words.low, known.figure)
            slider.set_value(known.figure)
            show(known.figure)
            _, _, chart, reason = self._charts[known.label]
            self._charts[known.label] = (known, known.figure, chart, reason)
            self._describe(known.label)

        slider.on_value_change(move)
        slider.on("change", release)
        self._sliders[one.label] = follow

    def _remove(self, one: ConstraintText) -> None:
        policy = self.session.policy
        if policy is not None and len(policy.constraints) == 1:
            tell(
                "A release needs at least one guarantee. Add another one first; then this one can go."
            )
            return
        edit(self.session, f"without {one.label}", without(one))

    # -- costs

    def _chart(self, one: ConstraintText, figure: float) -> None:
        chart = ui.echart({})
        chart.style("height:150px;width:100%")
        chart.props["role"] = "img"
        reason = text("", "why", "p")
        self._charts[one.label] = (one, figure, chart, reason)
        self._describe(one.label)

    def _redraw(self) -> None:
        """Draw the charts in the colours of light or dark."""
        for label in self._charts:
            self._describe(label)

    def _describe(self, label: str) -> None:
        one, figure, chart, reason = self._charts[label]
        points = self._curves.get(label, ())
        other = _other_guarantee(points, one)
        if other:  # nothing is known of this one
            points = ()
        opened = self.session.opened
        sampled = opened is not None and opened.rows > SAMPLE_ROWS
        title = (
            f"Information lost, on a sample of {SAMPLE_ROWS:,} rows"
            if sampled
            else INFORMATION_LOST
        )
        waiting = (
            "Computing what it costs …"
            if label == self._under_way
            else "What it costs: waiting its turn, the curves above come first"
        )
        title = "" if other else title if points else waiting
        live = self.session.live
        known = live.figures if sampled and live.state == "verified" else None
        chart.options.clear()
        chart.options.update(
            cost_chart(
                points,
                figure,
                one.model,
                self.session.dark,
                title,
                None if known is None else known.lost,
                next((explained(point.reason).most for point in points if point.for_certain), None),
            )
        )
        chart.props["aria-label"] = other or _curve_words(points, one)
        barred = [point for point in points if point.reason]
        certain = [point for point in barred if point.for_certain]
        if certain:
            failure = explained(certain[0].reason)
            reason.set_text(f"Shaded: {failure.limit or f'cannot be met. {failure.words}'}")
        elif barred:
            failure = explained(barred[0].reason)
            limit = failure.limit and failure.limit[0].lower() + failure.limit[1:]
            reason.set_text(
                f"Shaded: on the sample, {limit}"
                if limit
                else f"Shaded: not met on the sample. {failure.words}"
            )
        else:
            reason.set_text(other)
        reason.set_visibility(bool(other or barred))

    def _compute_when_idle(self) -> None:
        if self._computing is not None and not self._computing.done():
            if self.session.live.state != "checking":
                return
            self._computing.cancel()
        settled = self.session.live.state in ("verified", "failed")
        if settled and self.session.policy is not None and not self.session.live.trying:
            self._computing = asyncio.get_running_loop().create_task(self._compute())

    async def _compute(self) -> None:
        await asyncio.sleep(PAUSE)
        for label, (one, figure, _, _) in list(self._charts.items()):
            self._under_way = label
            self._redraw()
            words = words_for(one.model)
            figures = CURVES.get(one.model) or tuple(
                round(words.low + (words.high - words.low) * i / 7, 4) for i in range(8)
            )
            wanted = tuple(sorted({*figures, figure}))
            try:
                self._curves[label] = await self.ask(
                    self.session.background, cost_curve, self.session.policy_text(), one, wanted
                )
            except (ShoalError, CallCancelledError):
                continue
            if label in self._charts:
                self._describe(label)
        self._under_way = ""
        await self._prices.compute()

    # -- adding, and how it is done

    def _add(self, listed: list[ConstraintText]) -> None:
        policy = self.session.policy
        if policy is None:
            return
        there = {(one.model, one.of) for one in listed}
        offers: list[tuple[str, dict[str, Any]]] = []
        if not any(model.name == "k" for model in policy.constraints):
            offers.append(("Nobody stands alone", {"k": 5}))
        for name in policy.sensitive:
            if ("l", name) not in there:
                offers.append((f"{name}: at least 2 values in every group", {"l": 2, "of": name}))
            if ("t", name) not in there:
                offers.append((f"{name}: groups like the whole table", {"t": 0.3, "of": name}))
        if ("average-risk", None) not in there:
            offers.append(("Few are found when all are tried", {"average-risk": 0.1}))
        if not offers:
            return
        with box("section", "stack"):
            text("Guarantee more", "", "h2")
            with box("div", "chips"):
                for label, entry in offers:
                    model, of = next(iter(entry)), entry.get("of")
                    name = f"{model} of {of}" if of else model
                    add = partial(edit, self.session, f"with {name}", with_constraint(entry))
                    button(f"+ {label}", add, "chip")

    def _how(self) -> None:
        policy, session = self.session.policy, self.session
        if policy is None:
            return
        with box("section", "card stack-3"):
            text("How rows are put into groups", "", "h2")
            entries = _methods()
            chosen = policy.method.name

            def choose(event: Any) -> None:
                if event.value != chosen:
                    edit(
                        session, f"method {chosen} → {event.value}", with_key("method", event.value)
                    )

            ui.select(list(entries), value=chosen, label="Method", on_change=choose).style(
                "max-width:320px"
            ).props("outlined dense options-dense")
            text(entries.get(chosen, ""), "why", "p")
            share = policy.suppression
            words = text(_left_out(share), "sentence", "p")
            slider = ui.slider(min=0, max=0.3, step=0.01, value=share or 0.0)
            slider.style("max-width:420px")
            name = "Share of rows that may be left out"
            spoken(slider, name, percent(share or 0.0))

            def show(event: Any) -> None:
                words.set_text(_left_out(event.value))
                spoken(slider, name, percent(event.value or 0.0))

            slider.on_value_change(show)

            def release(event: Any) -> None:
                value = round(float(event.args), 4)
                before = "any" if share is None else percent(share)
                name = f"rows left out {before} → {percent(value)}"
                edit(session, name, with_key("suppression", value))

            slider.on("change", release)
            text(
                "Leaving out a few unusual rows can keep the others much finer. Whoever is left out "
                "is missing from every result, so keep it small.",
                "why",
                "p",
            )


def _other_guarantee(points: tuple[CurvePoint, ...], one: ConstraintText) -> str:
    """Why nothing is known of a guarantee: another one cannot be met, whatever this one asks for."""
    if not points or not all(point.reason for point in points):
        return ""
    failure = explained(points[0].reason)
    if not failure.model or (failure.model, failure.of) == (one.model, one.of):
        return ""
    what = failure.of or words_for(failure.model).title
    return f"Not computed while “{what}” cannot be met."


def named_words(model: str) -> str:
    """Where the term for a guarantee is met."""
    return f"So the literature and the report call this guarantee. In a policy it is “{model}”."


def _left_out(share: float | None) -> str:
    if share is None:
        return "Any number of rows may be left out."
    if not share:
        return "Every row is published."
    return f"At most {percent(share)} of the rows may be left out."


def _curve_words(points: tuple[CurvePoint, ...], one: ConstraintText) -> str:
    known = [point for point in points if point.lost is not None]
    if not known:
        return f"What {one.label} costs is not computed yet."
    ends = (known[0], known[-1])
    said = " and ".join(
        f"{percent(point.lost or 0)} at {figure_text(point.figure)}" for point in ends
    )
    return f"Information lost for {one.label}: {said}."
