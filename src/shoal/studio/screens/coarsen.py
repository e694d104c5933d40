"""Coarsen: in which steps the values of a column grow coarser."""

from typing import Any

from nicegui import ui
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import ShoalError
from shoal.studio.columns_text import settings_in
from shoal.studio.hierarchy_editor import HierarchyEditor, can_be_grouped
from shoal.studio.inspection_task import inspect_table, values_of_column
from shoal.studio.page import box, button, edit, notice, spaced, text
from shoal.studio.policy_text import Change, flow_map, scalar
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.workers import CallCancelledError

WAYS: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    ("ranges", "Ranges that fit", "[30~35]: as wide as the guarantees need", {"kind": "ordered"}),
    ("sets", "Sets that fit", "{France, Italy}: as many as needed", {"kind": "unordered"}),
    ("right", "Hide the end", "02138, 0213*, 021**", {"hierarchy": {"mask": "right"}}),
    ("left", "Hide the beginning", "**138, ***38", {"hierarchy": {"mask": "left"}}),
    (
        "dates",
        "Parts of a date",
        "1964-03, 1964, 1960s",
        {"hierarchy": {"date": ["month", "year", "decade"]}},
    ),
)
"""Ways to make a column coarser: a name, its title, what it gives and its settings in a policy."""


class Coarsen(Screen):
    """Choose how each column is made coarser."""

    path = "coarsen"
    title = "Coarsen"
    question = "How may values grow coarser?"
    lead = (
        "A column that others may know is published only as coarsely as needed. You decide in which "
        "steps, so that what is left can still be used."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._values: api.ValueCounts | None = None
        self._proposals: dict[str, dict[str, Any]] = {}

    def build(self) -> None:
        """Create the choice of columns and the card of the chosen one."""
        self._part = ui.refreshable(self._screen)
        self._bars = ui.refreshable(self._histogram)
        self._offers = ui.refreshable(self._proposal)
        with box("div", "stack-5"):
            self._part()
        self.follow(self.session.policy_changed, self._part.refresh)
        ui.timer(0, self._load, once=True)

    def _columns(self) -> tuple[str, ...]:
        policy = self.session.policy
        return () if policy is None else policy.quasi

    def _chosen(self) -> str | None:
        columns = self._columns()
        chosen = self.session.chosen_column
        return chosen if chosen in columns else next(iter(columns), None)

    async def _load(self) -> None:
        await self._count()
        policy = self.session.policy
        if policy is None:
            return
        try:
            found: api.Inspection = await self.session.background.call(
                inspect_table, policy.read.given(), policy.person
            )
        except (ShoalError, CallCancelledError):
            return
        self._proposals = found.hierarchies
        self._offers.refresh()

    async def _count(self) -> None:
        if (name := self._chosen()) is None:
            return
        try:
            self._values = await self.session.whole.call(
                values_of_column, name, False, at_once=True
            )
        except (ShoalError, CallCancelledError):
            return
        self._bars.refresh()

    async def _choose(self, name: str) -> None:
        self.session.chosen_column, self._values = name, None
        self._part.refresh()
        await self._count()

    def _screen(self) -> None:
        name = self._chosen()
        if name is None:
            notice("No column of the policy is one that others may know; see Columns.", "warn")
            return
        with box("div", "chips", role="group", aria_label="Columns that are made coarser"):
            for column in self._columns():
                on = column == name
                chip = text(column, "chip on" if on else "chip", "button", type="button")
                chip.props["aria-pressed"] = str(on).lower()
                chip.on("click", lambda _, column=column: self._choose(column))
        with box("section", "card stack-3", data_coarsen=name):
            text(name, "", "h2")
            self._ways(name)
            if can_be_grouped(self._settings(name)):
                HierarchyEditor(self.session, name).build()
                return
            self._intervals(name)
            self._ends(name)
            self._bars()

    def _settings(self, name: str) -> dict[str, Any]:
        workspace = self.session.workspace
        assert workspace is not None
        return settings_in(workspace.text, name)

    def _ways(self, name: str) -> None:
        settings = self._settings(name)
        now = _way_of(settings)
        with box("div", "chips", role="group", aria_label=f"How {name} is made coarser"):
            for key, title, example, given in WAYS:
                chip = text(title, "chip on" if key == now else "chip", "button", type="button")
                chip.props["aria-pressed"] = str(key == now).lower()
                chip.props["data-way"] = key
                with chip:
                    ui.tooltip(example)
                chip.on("click", lambda _, t=title, g=given: self._set(name, t.lower(), g))
            self._offers()
        words = {key: example for key, _, example, _ in WAYS}
        own = "Steps of your own, as the policy lists them."
        text(words.get(now, own if now == "own" else "Chosen by the values."), "why", "p")

    def _proposal(self) -> None:
        name = self._chosen()
        if name is not None and (proposal := self._proposals.get(name)) is not None:
            given = {"hierarchy": proposal}
            chip = text("Take the proposal", "chip", "button", type="button")
            chip.on("click", lambda: self._set(name, "as proposed", given))

    def _intervals(self, name: str) -> None:
        hierarchy = self._settings(name).get("hierarchy")
        steps = hierarchy.get("intervals") if isinstance(hierarchy, CommentedMap) else None
        now = ", ".join(str(step) for step in steps or [])
        with box("div", "bar"):
            field = ui.input("Steps, such as 5, 10, 20", value=now)
            field.props("outlined dense").props["placeholder"] = "5, 10, 20"
            field.style("min-width:280px")

            def save() -> None:
                wanted = [
                    part.strip() for part in str(field.value or "").split(",") if part.strip()
                ]
                if not wanted or ", ".join(wanted) == now:
                    return
                numbers = [_number(part) for part in wanted]
                self._set(
                    name, f"in steps of {', '.join(wanted)}", {"hierarchy": {"intervals": numbers}}
                )

            button("Use these steps", save)

    def _ends(self, name: str) -> None:
        settings = self._settings(name)
        with box("div", "bar"):
            for key, label in (("bottom", "Lowest value named"), ("top", "Highest value named")):
                now = "" if settings.get(key) is None else str(settings[key])
                field = ui.input(label, value=now).props("outlined dense").style("width:180px")

                def save(key: str = key, field: ui.input = field, now: str = now) -> None:
                    said = str(field.value or "").strip()
                    if said != now:
                        value = _number(said) if said else None
                        step = f"{name}: {key} {said or 'none'}"
                        edit(self.session, step, _with_settings(name, {key: value}))

                field.on("blur", save)
                field.on("keydown.enter", save)
        text(
            "Very old or very rich people stand out by one value: what lies beyond these ends is "
            "published together, as 90+.",
            "why",
            "p",
        )

    def _set(self, name: str, words: str, given: dict[str, Any]) -> None:
        change = _with_settings(name, {"kind": None, "hierarchy": None, "order": None} | given)
        edit(self.session, f"{name}: {words}", change)

    def _histogram(self) -> None:
        if self._values is None:
            return
        most = max((bar.rows for bar in self._values.bars), default=1)
        with box("div", "bars", role="img", aria_label="How often its values occur"):
            for bar in self._values.bars:
                text(bar.label, "name")
                with box("span", "track"):
                    box("span", "fill").style(f"width:{100 * bar.rows / most:.1f}%")
                text(spaced(bar.rows), "r")


def _number(words: str) -> Any:
    """A number, or the text where it is none: the policy says what is wrong with it."""
    try:
        number = float(words)
    except ValueError:
        return words
    return int(number) if number.is_integer() else number


def _way_of(settings: dict[str, Any]) -> str:
    """Which of `WAYS` a column's settings are; `own` for another hierarchy."""
    hierarchy, kind = settings.get("hierarchy"), settings.get("kind")
    if isinstance(hierarchy, CommentedMap):
        if "mask" in hierarchy:
            return str(hierarchy["mask"])
        return "dates" if "date" in hierarchy and kind is None else "own" if kind is None else ""
    if hierarchy is not None:
        return "own"
    return {"ordered": "ranges", "unordered": "sets"}.get(str(kind), "")


def _with_settings(name: str, settings: dict[str, Any]) -> Change:
    """Set some settings of a column; None removes one."""

    def change(policy: CommentedMap) -> None:
        entry = policy["columns"].get(name)
        if not isinstance(entry, CommentedMap):
            entry = flow_map({"role": str(entry)})
            policy["columns"][name] = entry
        for key, value in settings.items():
            if value is None:
                entry.pop(key, None)
            else:
                entry[key] = scalar(value)

    return change
