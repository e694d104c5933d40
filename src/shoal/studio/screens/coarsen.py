"""Coarsen: in which steps the values of a column grow coarser."""

import re
from functools import partial
from math import ceil, floor
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import ShoalError
from shoal.studio.columns_text import (
    missing_in,
    person_column,
    reading_in,
    roles_in,
    settings_in,
)
from shoal.studio.figures import ColumnFigures
from shoal.studio.hierarchy_editor import HierarchyEditor, can_be_grouped, on_drop
from shoal.studio.page import box, button, edit, notice, on_press, spaced, spoken, text
from shoal.studio.policy_text import Change, flow_map, is_null, scalar
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.tasks import ColumnValues, Histogram, column_values, inspect_table
from shoal.studio.ways import (
    WAYS,
    beyond,
    common_values,
    example,
    fitting,
    masked,
    parts_in,
    parts_of_dates,
    typical_number,
    widths_in,
    written,
)
from shoal.studio.words import percent, read_labels
from shoal.studio.workers import CallCancelledError

MUCH_MORE = 0.15
"""A step that costs a column so much more of its information is pointed out."""
MANY_DAYS = 700
"""From so many days on, years are told."""
LITTLE = 0.0005
"""A share below this is not told."""


class Coarsen(Screen):
    """Choose how each column is made coarser."""

    path = "coarsen"
    title = "Coarsen"
    next_words = "Then: what you guarantee to everyone in the table."
    question = "How may values grow coarser?"
    lead = (
        "A column that others may know is published only as coarsely as needed. You decide in which "
        "steps, so that what is left can still be used."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._counted: dict[str, ColumnValues | str] = {}
        """What is known of a column as the policy reads it, or why nothing is."""
        self._counting: set[str] = set()
        self._editors: dict[str, HierarchyEditor] = {}
        self._proposals: dict[str, dict[str, Any]] = {}
        """How a draft makes each column coarser."""
        self._outcome: TextElement | None = None
        self._losses: dict[str, float] = {}
        """What each column lost in the last release that was verified."""
        self._jump: tuple[str, float, float] | None = None
        """A column that the last step cost much: what it lost before, and what it loses now."""
        self._every_way = False
        """Whether ways are shown too that do not fit the column."""
        self._drawn: tuple[object, ...] | None = None
        """What the screen shows; a step that changes none of it does not draw it again."""

    def build(self) -> None:
        """Create the choice of columns and the card of the chosen one."""
        self._chips_part = ui.refreshable(self._chips)
        self._card_part = ui.refreshable(self._card)
        self._values_part = ui.refreshable(self._values)
        self._offers = ui.refreshable(self._proposal)
        self._examples_part = ui.refreshable(self._examples)
        self._ends_part = ui.refreshable(self._ends)
        self._labels_part = ui.refreshable(self._labels)
        self._reading_part = ui.refreshable(self._how_to_read)
        self._jump_part = ui.refreshable(self._show_jump)
        with box("div", "stack-5") as all_parts:
            self._chips_part()
            self._card_part()
        on_press(all_parts, "data-quasi", self._choose)
        on_press(all_parts, "data-way", self._take_way)
        on_drop(all_parts, self._dropped)
        self.follow(self.session.policy_changed, self._follow)
        self.follow(self.session.live_changed, self._show_outcome)
        self.session.spawn(self._propose())

    def _columns(self) -> tuple[str, ...]:
        try:
            roles = roles_in(self.session.policy_text().text)
        except ShoalError:
            return ()
        return tuple(name for name, role in roles.items() if role == "quasi")

    def _chosen(self) -> str | None:
        columns = self._columns()
        chosen = self.session.chosen_column
        return chosen if chosen in columns else next(iter(columns), None)

    def _state(self) -> tuple[object, ...] | None:
        if (name := self._chosen()) is None:
            return None
        return (self._columns(), name), repr(self._settings(name)), self._key(name)

    def _key(self, name: str) -> str:
        """A column as the policy reads it: its values depend on codes for missing ones, and so on."""
        missing = missing_in(self.session.policy_text().text, name)
        return f"{name} {sorted(self._reading().items(), key=str)} {missing}"

    def _reading(self) -> dict[str, Any]:
        return reading_in(self.session.policy_text().text)

    def _follow(self) -> None:
        """Draw again what a step changed."""
        state = self._state()
        if state is None or self._drawn is None or state[0] != self._drawn[0]:
            self._chips_part.refresh()
        if state != self._drawn:
            self._drawn = state
            self._card_part.refresh()

    async def _propose(self) -> None:
        person = person_column(self.session.policy_text().text) or None
        try:
            found: api.Inspection = await self.ask(
                self.session.background, inspect_table, self._reading(), person
            )
        except (ShoalError, CallCancelledError):
            return
        self._proposals = {one.name: found.generalisation(one) for one in found.columns}
        self._offers.refresh()

    async def _count(self, name: str, key: str) -> None:
        """Count the values of a column, once: whoever draws the screen again meanwhile waits for it."""
        if key in self._counting:
            return
        self._counting.add(key)
        try:
            missing = missing_in(self.session.policy_text().text, name)
            self._counted[key] = await self.ask(
                self.session.whole, column_values, name, missing, at_once=True
            )
        except CallCancelledError:
            self._counted[key] = "The values were not counted."
        except ShoalError as error:
            self._counted[key] = str(error)
        finally:
            self._counting.discard(key)
        if name == self._chosen() and key == self._key(name):
            self._values_part.refresh()
            self._examples_part.refresh()
            self._ends_part.refresh()

    def _choose(self, name: str) -> None:
        self.session.chosen_column = name
        self._every_way = False
        self._follow()

    def _dropped(self, dragged: str, onto: str) -> None:
        if (editor := self._editors.get(self._chosen() or "")) is not None:
            editor.dropped(dragged, onto)

    def _chips(self) -> None:
        name = self._chosen()
        if name is None:
            with box("section", "card stack-3 empty"):
                text("Nothing to make coarser yet", "", "h2")
                text(
                    "Columns that others may know are made coarser, and none has that role so far.",
                    "why",
                    "p",
                )
                with box("div", "bar"):
                    text("Choose what columns are", "primary", "a", href="/columns")
            return
        with box("div", "chips", role="group", aria_label="Columns that are made coarser"):
            for column in self._columns():
                on = column == name
                chip = text(column, "chip on" if on else "chip", "button", type="button")
                chip.props["aria-pressed"] = str(on).lower()
                chip.props["data-quasi"] = column

    def _card(self) -> None:
        self._drawn = self._state()
        if (name := self._chosen()) is None:
            return
        with box("section", "card stack-3", data_coarsen=name):
            with box("header"):
                text(name, "", "h2")
                self._outcome = text("", "small muted push", role="status")
            self._show_outcome()
            self._labels_part()
            self._jump_part()
            self._ways(name)
            self._values_part()
            way = _way_of(self._settings(name))
            if way == "steps":
                self._intervals(name)
            elif way in ("", "ranges"):
                self._ends_part()

    def _show_outcome(self) -> None:
        """What the release so far makes of the column."""
        name, figures = self._chosen(), self.session.live.figures
        known = None if figures is None or name is None else figures.columns.get(name)
        if self._outcome is not None:
            self._outcome.set_text("" if known is None else outcome_words(known))
        self._labels_part.refresh()
        self._reading_part.refresh()
        if figures is None or self.session.live.state != "verified":
            return
        losses = {one: found.loss for one, found in figures.columns.items()}
        if losses != self._losses:
            before = self._losses.get(name or "", 1.0)
            now = losses.get(name or "", 0.0)
            self._jump = (name, before, now) if name and now - before >= MUCH_MORE else None
            self._losses = losses
            self._jump_part.refresh()

    def _labels(self) -> None:
        """What the release says most often in place of the values."""
        name, figures = self._chosen(), self.session.live.figures
        known = None if figures is None or name is None else figures.columns.get(name)
        if known is None or not known.common:
            return
        with box("p", "small", id="published"):
            text("Published most often: ", "muted")
            for place, (label, rows) in enumerate(known.common):
                text(label, "mono")
                text(
                    f" ({spaced(rows)})" + (", " if place < len(known.common) - 1 else ""), "muted"
                )

    def _how_to_read(self) -> None:
        """Labels of the column as they are published now, and what they say."""
        name, figures = self._chosen(), self.session.live.figures
        known = None if figures is None or name is None else figures.columns.get(name)
        with box("dl", "labels", id="read-labels"):
            for label, meaning in read_labels(
                [label for label, _ in known.common] if known else ()
            ):
                text(label, "mono", "dt")
                text(meaning, "muted", "dd")

    def _show_jump(self) -> None:
        """Say that the last step cost a column much."""
        if self._jump is None or self._jump[0] != self._chosen():
            return
        name, before, now = self._jump
        with box("div", "notice is-warn bar", id="jump", role="status"):
            text(f"{name} now loses {percent(now)} of its information, before {percent(before)}.")
            button("Undo", self.session.undo, "quiet push")

    def _values(self) -> None:
        if (name := self._chosen()) is None:
            return
        found = self._counted.get(self._key(name))
        if found is None:
            text("Counting the values …", "small muted", "p", role="status")
            self.session.spawn(self._count(name, self._key(name)))
        elif isinstance(found, str):
            notice(found, "bad")
            button("Try again", partial(self._count_again, self._key(name)))
        elif not can_be_grouped(self._settings(name)):
            way = _way_of(self._settings(name))
            if way in ("left", "right"):
                self._masks(found, way)
            elif found.histogram is not None:
                self._numbers(name, found.histogram, way)
            else:
                self._histogram(found.bars)
        elif found.rows is None:
            notice("It has too many values to group by hand; take a file of groups instead.")
        else:
            editor = self._editors.setdefault(name, HierarchyEditor(self.session, name))
            editor.build(found.rows)

    def _count_again(self, key: str) -> None:
        self._counted.pop(key, None)
        self._values_part.refresh()

    def _settings(self, name: str) -> dict[str, Any]:
        workspace = self.session.workspace
        assert workspace is not None
        return settings_in(workspace.text, name)

    def _ways(self, name: str) -> None:
        settings = self._settings(name)
        now = _way_of(settings)
        with box("div", "ways", role="group", aria_label=f"How {name} is made coarser"):
            self._examples_part()
        words = {
            "own": "Groups of your own, as the policy lists them.",
            "": "Chosen by the values: ranges for numbers and dates, sets for others.",
        }
        if now in words:
            text(words[now], "why", "p")
        with box("div", "bar high"):
            with box("details", "small"):
                text("How to read the labels", "muted", "summary")
                self._reading_part()
            self._offers()

    def _examples(self) -> None:
        """The ways that fit the column, with what they make of its values; the others on request."""
        if (name := self._chosen()) is None:
            return
        now = _way_of(self._settings(name))
        counted = self._counted.get(self._key(name))
        found = counted if isinstance(counted, ColumnValues) else None
        fits = [way.key for way in WAYS]
        if found is not None and not self._every_way:
            fits = list(fitting(found, "sets" if now == "own" else now))
        if now == "" and found is not None:  # what the values choose
            now = "sets" if found.histogram is None else "ranges"
        for way in WAYS:
            if way.key not in fits:
                continue
            on = way.key == now or (way.key, now) == ("sets", "own")
            made = box("button", "way on" if on else "way", type="button", data_way=way.key)
            made.props["aria-pressed"] = str(on).lower()
            with made:
                text(way.title, "strong")
                settings = self._settings(name) if on else {}
                text(
                    example(way, found, parts_in(settings), widths_in(settings)),
                    "tiny muted",
                )
        if len(fits) < len(WAYS):
            button("Other ways …", self._show_every_way, "linklike small", id="other-ways")

    def _show_every_way(self) -> None:
        self._every_way = True
        self._examples_part.refresh()

    def _proposal(self) -> None:
        words = "Back to the proposed way"
        chip = text(words, "quiet push", "button", type="button", data_way="proposal")
        name = self._chosen()
        if name not in self._proposals:  # its place is kept, so that nothing moves
            chip.style("visibility:hidden")
        elif is_proposed(self._settings(name), self._proposals[name]):
            chip.props["disabled"] = True

    def _take_way(self, key: str) -> None:
        name = self._chosen()
        if name is not None and key == "proposal" and name in self._proposals:
            self._set(name, "as proposed", self._proposals[name])
        elif name is not None and key != "proposal":
            way = next(way for way in WAYS if way.key == key)
            title, given = way.title, way.settings
            found = self._counted.get(self._key(name))
            if key == "steps" and isinstance(found, ColumnValues) and found.histogram is not None:
                given = {"hierarchy": {"intervals": _doubled(2 * found.histogram.width)}}
            if key == "dates" and isinstance(found, ColumnValues):
                given = {"hierarchy": {"date": parts_of_dates(found.histogram)}}
            self._set(name, title.lower(), given)

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

    def _ends(self) -> None:
        """The lowest and the highest value that are published; categories have none."""
        if (name := self._chosen()) is None:
            return
        settings = self._settings(name)
        counted = self._counted.get(self._key(name))
        if (
            isinstance(counted, ColumnValues)
            and counted.histogram is None
            and not {"kind", "bottom", "top"} & settings.keys()
        ):
            return
        with box("div", "bar"):
            for key, label in (
                ("bottom", "Lowest value published"),
                ("top", "Highest value published"),
            ):
                now = "" if settings.get(key) is None else str(settings[key])
                field = ui.input(label, value=now).props("outlined dense").style("width:210px")

                def save(key: str = key, field: ui.input = field, now: str = now) -> None:
                    said = str(field.value or "").strip()
                    if said != now:
                        value = _number(said) if said else None
                        step = f"{name}: {key} {said or 'none'}"
                        edit(self.session, step, _with_settings(name, {key: value}))

                field.on("blur", save)
                field.on("keydown.enter", save)
        histogram = counted.histogram if isinstance(counted, ColumnValues) else None
        such = "" if histogram is None or histogram.of_years else f", such as {beyond(histogram)}"
        text(
            "Whoever is far from all others stands out by one value: what lies beyond these ends is "
            f"published together{such}.",
            "why",
            "p",
        )

    def _set(self, name: str, words: str, given: dict[str, Any]) -> None:
        change = _with_settings(name, {"kind": None, "hierarchy": None, "order": None} | given)
        edit(self.session, f"{name}: {words}", change)

    def _masks(self, found: ColumnValues, side: str) -> None:
        """What the mask makes of the most common values."""
        shown = common_values(found)[:3]
        text("What becomes of common values", "", "h3")
        with box("div", "masks", id="masks"):
            for value in shown:
                text(" → ".join(masked(value, side)), "")
            if not shown:
                text("No value is shared by ten rows, so none is shown here.", "small muted")

    def _numbers(self, name: str, found: Histogram, way: str) -> None:
        """A histogram with the cuts, or the ends, as handles below it."""
        if found.of_years and len(found.rows) == 1 and found.width == 1:
            text(f"All dates are in {written(found.low)}.", "small", "p", id="one-year")
            return
        most = max(found.rows) or 1
        label = (
            f"How often values of {name} occur, from {written(found.low)} to {written(found.high)}"
        )
        text("Years" if found.of_years else "How often values occur", "", "h3")
        with box("div", "hist", role="img", aria_label=label, id="histogram"):
            for rows in found.rows:
                box("span", "col").style(f"height:{100 * rows / most:.1f}%")
            marks = box("span")
        with box("div", "ends"):
            text(written(found.low))
            text(written(found.high))
        if way == "steps":
            self._cuts(name, found, marks)
        elif way in ("", "ranges") and not found.of_years:
            self._end_handles(name, found, marks)

    def _cuts(self, name: str, found: Histogram, marks: ui.element) -> None:
        """Cuts at equal distances: a handle for the distance and one for where they begin."""
        hierarchy = self._settings(name).get("hierarchy")
        assert isinstance(hierarchy, CommentedMap)
        widths = [float(str(width)) for width in hierarchy.get("intervals") or [found.width]]
        begin = float(str(hierarchy.get("from", 0)))
        choices = sorted({*(found.width * step for step in (1, 2, 5, 10, 20)), widths[0]})
        said = text("", "sentence", "p", role="status")

        def now() -> tuple[float, float]:
            return choices[int(distance.value)], found.width * int(shift.value)

        def show() -> None:
            width, start = now()
            wide.set_text(written(width))
            begun.set_text(written(start))
            spoken(distance, f"Distance of the cuts of {name}", written(width))
            spoken(shift, f"Where the cuts of {name} begin", written(start))
            first = start + ceil((found.low - start) / width) * width
            marks.clear()
            with marks:
                for i in range(int((found.high - first) / width) + 1):
                    share = (first + i * width - found.low) / (found.high - found.low)
                    box("span", "cut").style(f"left:{100 * share:.2f}%")
            number = typical_number(found)
            left = start + floor((number - start) / width) * width
            said.set_text(
                f"The finest step is {written(width)} wide: {written(number)} becomes "
                f"[{written(left)}-{written(left + width)}), then ranges of "
                + ", ".join(written(width * one / widths[0]) for one in widths[1:])
                + " and at last *."
            )

        def save(slider: ui.slider, value: Any) -> None:
            slider.set_value(value)
            width, start = now()
            grown = [_plain(width * one / widths[0]) for one in widths]
            given: dict[str, Any] = {"intervals": grown}
            if start:
                given["from"] = _plain(start)
            words = f"steps of {written(width)}" + (f" from {written(start)}" if start else "")
            edit(self.session, f"{name}: {words}", _with_settings(name, {"hierarchy": given}))

        with box("div", "handle"):
            text("Width", "small")
            distance = ui.slider(
                min=0, max=len(choices) - 1, step=1, value=choices.index(widths[0])
            )
            wide = text("", "num small")
        with box("div", "handle"):
            text("Start at", "small")
            steps = max(1, round(widths[0] / found.width))
            at = round((begin % widths[0]) / found.width) % steps
            shift = ui.slider(min=0, max=max(1, steps - 1), step=1, value=at)
            begun = text("", "num small")
        for slider in (distance, shift):
            slider.on_value_change(lambda _: show())
            slider.on("change", lambda event, slider=slider: save(slider, event.args))
        show()

    def _end_handles(self, name: str, found: Histogram, marks: ui.element) -> None:
        """Two handles: what lies beyond them is published together."""
        settings = self._settings(name)
        bottom, top = (_end(settings.get(key)) for key in ("bottom", "top"))
        low, high = min(found.low, bottom or found.low), max(found.high, top or found.high)
        handles = ui.range(
            min=low,
            max=high,
            step=found.width,
            value={"min": low if bottom is None else bottom, "max": high if top is None else top},
        )
        handles.props["left-thumb-color"] = handles.props["right-thumb-color"] = "primary"
        said = text("", "sentence", "p", role="status")

        def show() -> None:
            first, last = float(handles.value["min"]), float(handles.value["max"])
            spoken(
                handles,
                f"Value of {name} that is still named",
                written(first),
                written(last),
            )
            marks.clear()
            with marks:
                for left, right in ((found.low, first), (last, found.high)):
                    if right > left:
                        share = 100 / (found.high - found.low)
                        box("span", "beyond").style(
                            f"left:{(left - found.low) * share:.2f}%;"
                            f"width:{(right - left) * share:.2f}%"
                        )
            words = [f"{written(first)} and less as ≤{written(first)}"] if first > low else []
            words += [f"{written(last)} and more as {written(last)}+"] if last < high else []
            said.set_text(
                f"Published together: {'; '.join(words)}."
                if words
                else "Move the ends inwards to publish very low or very high values together."
            )

        def save(value: Any) -> None:
            handles.set_value(value)
            first, last = float(handles.value["min"]), float(handles.value["max"])
            given = {
                "bottom": _plain(first) if first > low else None,
                "top": _plain(last) if last < high else None,
            }
            words = ", ".join(f"{key} {value or 'none'}" for key, value in given.items())
            edit(self.session, f"{name}: {words}", _with_settings(name, given))

        handles.on_value_change(lambda _: show())
        handles.on("change", lambda event: save(event.args))
        show()

    def _histogram(self, counts: "api.ValueCounts") -> None:
        most = max((bar.rows for bar in counts.bars), default=1)
        with box("div", "bars", role="img", aria_label="How often its values occur"):
            for bar in counts.bars:
                text(bar.label, "name")
                with box("span", "track"):
                    box("span", "fill").style(f"width:{100 * bar.rows / most:.1f}%")
                text(spaced(bar.rows), "r")


def outcome_words(known: ColumnFigures) -> str:
    """What became of a column: how much of it is exact, coarser, and hidden altogether."""
    words = [f"{percent(known.exact)} exact"]
    between = max(0.0, 1 - known.exact - known.hidden)
    if between >= LITTLE:
        tells = known.typical and known.typical != "partly hidden"
        typical = f", typically {in_years(known.typical)}" if tells else ""
        words.append(f"{percent(between)} coarser{typical}")
    if known.hidden >= LITTLE:
        words.append(f"{percent(known.hidden)} hidden (*)")
    return f"In the release: {'; '.join(words)}"


def in_years(typical: str) -> str:
    """`10 years wide` for `3,650 days wide`: nobody counts in so many days."""

    def said(found: "re.Match[str]") -> str:
        days = int(found[1].replace(",", ""))
        return found[0] if days < MANY_DAYS else f"{days / 365.2425:.0f} years wide"

    return re.sub(r"([\d,]+) days wide", said, typical)


def is_proposed(settings: dict[str, Any], proposal: dict[str, Any]) -> bool:
    """Whether a column is made coarser as a draft proposes."""
    keys = ("kind", "hierarchy", "order")
    return all(_spelled(settings.get(key)) == _spelled(proposal.get(key)) for key in keys)


def _spelled(hierarchy: Any) -> Any:
    """A hierarchy as plain texts, however it was read."""
    if isinstance(hierarchy, dict):
        return {str(key): _spelled(value) for key, value in hierarchy.items()}
    if isinstance(hierarchy, list | tuple):
        return [_spelled(one) for one in hierarchy]
    return "" if is_null(hierarchy) else str(hierarchy)


def _doubled(width: float) -> list[Any]:
    return [_plain(width), _plain(2 * width), _plain(4 * width)]


def _plain(number: float) -> float | int:
    """A number as people write it in a policy."""
    number = round(number, 9)
    return int(number) if number.is_integer() else number


def _end(written: Any) -> float | None:
    """The number of a top or bottom code; None where there is none."""
    number = None if written is None else _number(str(written))
    return float(number) if isinstance(number, int | float) else None


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
        if kind is None and "intervals" in hierarchy:
            return "steps"
        if kind is None:
            return "dates" if "date" in hierarchy else "own"
    elif hierarchy is not None:
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
