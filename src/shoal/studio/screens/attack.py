"""Attack: what a stranger learns who knows some columns, of everyone or of one person."""

import random
import re
from functools import partial
from typing import Any

from nicegui import events, ui

from shoal.errors import InputError, ShoalError
from shoal.studio.local_files import COPIES, files_in, keep_copy
from shoal.studio.page import box, button, notice, on_press, spaced, tell, text
from shoal.studio.screens.base import Screen
from shoal.studio.security import LARGEST_UPLOAD
from shoal.studio.session import Session
from shoal.studio.tasks import Attacked, Learnt, attack_release, page_of_rows
from shoal.studio.unprotected import protect_button
from shoal.studio.words import listed_words, percent, screen_words
from shoal.studio.workers import CallCancelledError

AROUND = 5
"""Rows that can be chosen from at a time."""
MOST_DOTS = 120
FEWER = re.compile(
    r"(?P<below>[\d,]+) of (?P<people>[\d,]+) people have fewer than (?P<k>\d+) candidates, .+ the "
    r"attack also knows (?P<known>.+), of which no guarantee speaks\."
)
"""A warning that is told in other words here."""
MUCH_BETTER = 0.2
"""By so much a guess must be better than without the release to be marked."""


class Attack(Screen):
    """Look at the release with a stranger's eyes."""

    path = "attack"
    title = "Attack"
    next_words = "Then: write the file and its report."
    question = "What would a stranger find out?"
    lead = (
        "Tick what somebody may know: a neighbour knows age, sex and town. Then look for one person, or "
        "for everyone, in your table and in the release."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        policy = session.policy
        self._known: list[str] = [] if policy is None else list(policy.quasi)
        self._row = 0
        self._person: Attacked | None = None
        self._everyone: Attacked | None = None
        self._others: tuple[str, Attacked] | None = None
        """The people of another table: its name, and what was found of them."""
        self._problem = ""
        self._around: dict[int, dict[str, Any]] = {}
        """Rows to choose from, by their number."""

    def build(self) -> None:
        """Create the ticks, the person and everyone."""
        session = self.session
        assert session.opened is not None
        if session.policy is None:
            with box("section", "card stack-3 empty"):
                text("There is no release to attack yet", "", "h2")
                text("The live figures say what is missing.", "why", "p")
                with box("div", "bar"):
                    text("Go to the columns", "primary", "a", href="/columns")
            return
        policy, opened = session.policy, session.opened
        self._known = [name for name in self._known if name in policy.published(opened.columns)]
        self._shown = ui.refreshable(self._results)
        with box("div", "stack-5"):
            with box("section", "card stack-3"):
                text("What does the stranger know?", "", "h2")
                with box("div", "chips", role="group", aria_label="Known columns"):
                    for name in policy.published(opened.columns):
                        self._tick(name)
            with box("section", "card stack-3"):
                text("Whom do they look for?", "", "h2")
                self._people = ui.refreshable(self._listed)
                with box("div", "wide") as listed:
                    self._people()
                with box("div", "bar"):
                    text("Row", "small muted")
                    number = ui.number(value=1, min=1, max=opened.rows, step=1, format="%d")
                    number.props("outlined dense").props["aria-label"] = "Number of the row"
                    number.style("width:100px")

                    async def set_row(event: Any) -> None:
                        self._row = max(0, min(int(event.value or 1), opened.rows) - 1)
                        await self._turn()

                    number.on_value_change(set_row)
                    anyone = partial(self._anyone, number, opened.rows)
                    button("Somebody at random", anyone, id="random")
                with box("div", "bar"):
                    button("Show me this person", self._look_for_one, "primary", id="find-one")
                    button("Look for everyone", self._look_for_all, id="find-all")
                    self._state = text("", "small muted", "p", role="status")
                on_press(listed, "data-row", lambda row: number.set_value(int(row) + 1))
            self._shown()
            self._other_table()
        self.follow(session.policy_changed, self._forget)
        session.spawn(self._turn())

    async def _turn(self) -> None:
        """Get the rows around the chosen one."""
        start = self._row - self._row % AROUND
        try:
            rows = await self.ask(self.session.whole, page_of_rows, start, AROUND, at_once=True)
        except (ShoalError, CallCancelledError):
            return
        self._around = {start + i: row for i, row in enumerate(rows)}
        self._people.refresh()

    def _anyone(self, number: ui.number, rows: int) -> None:
        number.set_value(random.randint(1, max(1, rows)))

    def _listed(self) -> None:
        """A few rows to choose from, by what the stranger knows."""
        names = self._known or list(next(iter(self._around.values()), {}))
        with box("table", "preview pick"):
            with box("thead"), box("tr"):
                for head in ("row", *names):
                    text(head, "tiny muted", "th", scope="col").style("padding:6px 12px")
            with box("tbody"):
                for row, values in self._around.items():
                    on = row == self._row
                    with box("tr", "chosen" if on else "", data_row=str(row)):
                        with box("td"):
                            pick = text(f"{row + 1:,}", "linklike", "button", type="button")
                            pick.props["aria-label"] = f"Choose row {row + 1:,}"
                            pick.props["aria-pressed"] = str(on).lower()
                        for name in names:
                            value = values.get(name)
                            text("" if value is None else str(value), "", "td")

    def _forget(self) -> None:
        self._person = self._everyone = self._others = None
        self._shown.refresh()

    def _other_table(self) -> None:
        """A table that the stranger has."""
        session = self.session
        with box("section", "card stack-3"):
            text("Or does the stranger have a list?", "", "h2")
            text(
                "A register, a mailing list, an earlier release. Its columns with the same names are "
                "compared with your table and with the release.",
                "why",
                "p",
            )
            own = session.table_name
            if names := [name for name in files_in(session.folder) if name != own]:
                with box("div", "chips", role="group", aria_label="Tables of this folder"):
                    for name in names:
                        button(name, partial(self._link_file, name), "chip", data_list=name)
            upload = ui.upload(
                label="Drop the list here, or press + to choose it",
                auto_upload=True,
                max_files=1,
                max_file_size=LARGEST_UPLOAD,
                on_upload=self._link_dropped,
            )
            upload.props("flat bordered").classes("drop").style("width:100%")
            text(f"A copy goes to the folder {COPIES}.", "tiny muted", "p")

    async def _link_dropped(self, event: events.UploadEventArguments) -> None:
        if isinstance(event.sender, ui.upload):
            event.sender.reset()
        try:
            copy = await keep_copy(self.session.folder, event.file)
        except InputError as error:
            tell(str(error))
            return
        await self._link(event.file.name, str(copy))

    async def _link_file(self, name: str) -> None:
        try:
            await self._link(name, str(self.session.file_in_folder(name)))
        except InputError as error:
            tell(str(error))

    async def _link(self, name: str, place: str) -> None:
        found = await self._attack(None, place)
        self._others = None if found is None else (name, found)
        self._show()

    def _tick(self, name: str) -> None:
        chip = text(name, "", "button", type="button", data_known=name)

        def show() -> None:
            on = name in self._known
            chip.classes(replace="chip on" if on else "chip")
            chip.props["aria-pressed"] = str(on).lower()

        def toggle() -> None:
            if name in self._known:
                self._known.remove(name)
            else:
                self._known.append(name)
            show()
            self._forget()
            self._people.refresh()

        show()
        chip.on("click", toggle)

    async def _look_for_one(self) -> None:
        self._person = await self._attack(self._row)
        self._show()

    async def _look_for_all(self) -> None:
        self._everyone = await self._attack(None)
        self._show()

    def _show(self) -> None:
        if not self.is_left:
            self._shown.refresh()

    async def _attack(self, row: int | None, known: str | None = None) -> Attacked | None:
        """Look for one row, for everyone, or for the people of another table."""
        self._problem = ""
        if not self._known and known is None:
            self._problem = "Tick at least one column that the stranger knows."
        if self._problem:
            return None
        self._state.set_text("Looking …")
        try:
            found: Attacked = await self.ask(
                self.session.background,
                attack_release,
                self.session.policy_text(),
                () if known else tuple(self._known),
                row,
                known,
            )
        except CallCancelledError:
            return None
        except ShoalError as error:
            self._problem = str(error)
            return None
        finally:
            if not self.is_left:
                self._state.set_text("")
        return found

    # -- what was found

    def _results(self) -> None:
        if self._problem:
            notice(screen_words(self._problem), "bad")
        if self._person is not None:
            self._show_person(self._person)
        if self._everyone is not None:
            self._show_everyone("Everyone in the table", self._everyone, "everyone")
        if self._others is not None:
            name, found = self._others
            self._show_everyone(f"The people of {name}", found, "others")

    def _show_person(self, found: Attacked) -> None:
        with box("section", "card stack-3", id="person"):
            text(f"The person in row {self._row + 1:,}", "", "h2")
            known = ", ".join(f"{name} {found.row[name]}" for name in found.columns if found.row)
            text(f"The stranger knows: {known}.", "sentence", "p")
            with box("div", "sides"):
                for title, learnt in (
                    ("In your table", found.raw),
                    ("In the release", found.release),
                ):
                    with box("div", "stack"):
                        text(title, "", "h3")
                        self._crowd(learnt)
                        for name, guess in learnt.guesses.items():
                            self._guess(name, guess)

    def _guess(self, name: str, guess: tuple[float, float, int]) -> None:
        """What can be guessed of a column that must not be learnt, against knowing nothing."""
        base, best, pinned = guess
        if pinned:
            text(f"{name}: known for certain", "small bad", "p")
            self._offer([name])
            return
        much = best - base >= MUCH_BETTER
        text(
            f"{name}: a guess is right {percent(best)} of the time; whoever knows nothing of the "
            f"person is right {percent(base)}."
            + (f" A tighter guarantee for {name} would help." * much),
            "small warn" if much else "small",
            "p",
        )

    def _crowd(self, learnt: Learnt) -> None:
        """Those who could be the person, a dot each."""
        size, words = crowd_words(learnt)
        with box("div", "crowd", role="img", aria_label=words):
            for _ in range(min(size, MOST_DOTS)):
                box("span", "found" if size == 1 else "")
        text(words, "strong bad" if size == 1 else "strong", "p", data_crowd=str(size))

    def _show_everyone(self, title: str, found: Attacked, place: str) -> None:
        with box("section", "card stack-3", id=place):
            text(title, "", "h2")
            columns = ", ".join(found.columns)
            text(f"Somebody knows {columns} of all {found.people:,} people.", "sentence", "p")
            raw, now = found.raw, found.release
            with box("div", "rows four"):
                for head in ("", "table", "release", "knowing nothing"):
                    text(head, "r tiny muted strong")
                self._line("with somebody who fits", raw.linked, now.linked)
                told = raw.people is not None and now.people is not None
                what = "person" if told else "row"
                self._line(f"found: one {what} fits", raw.found, now.found, "found")
                fewest = (raw.people, now.people) if told else (raw.rows, now.rows)
                self._line(f"fewest {'people' if told else 'rows'} that fit", *fewest)
                for name, (base, best, pinned) in now.guesses.items():
                    before = raw.guesses[name]
                    self._line(f"{name} known for certain", before[2], pinned, "certain")
                    text(f"{name} guessed right")
                    text(percent(before[1]), "r muted")
                    text(percent(best), "r strong" + " warn" * (best - base >= MUCH_BETTER))
                    text(percent(base), "r muted")
            self._offer([name for name, guess in now.guesses.items() if guess[2]])
            for warning in found.warnings:
                notice(warning_words(warning), "warn")

    def _offer(self, told: list[str]) -> None:
        """Offer to protect columns of which some values are known for certain."""
        if names := [name for name in told if name in self.session.unprotected]:
            with box("div", "chips"):
                protect_button(self.session, names, f"Protect {listed_words(names)}")

    def _line(self, label: str, raw: int | None, now: int | None, alarm: str = "") -> None:
        """A count in the table and in the release; `alarm`: what it counts, if it should be 0."""
        text(label)
        text(spaced(raw or 0), "r muted")
        text(spaced(now or 0), "r strong bad" if alarm and now else "r strong", data_count=alarm)
        text("")


def warning_words(warning: str) -> str:
    """A warning about an attack in the words of the screens."""
    if found := FEWER.fullmatch(warning):
        return (
            f"{found['below']} of {found['people']} people are hidden among fewer than {found['k']}, "
            f"because the stranger knows {found['known']} too: no guarantee covers that."
        )
    return screen_words(warning)


def crowd_words(learnt: Learnt) -> tuple[int, str]:
    """How many could be the person, and that in words; people, where they can be told apart."""
    rows = learnt.rows or 0
    if learnt.people is None:
        words = {0: "no row fits", 1: "one row fits: found"}.get(rows, f"{rows:,} rows fit")
        return rows, words
    own = f" ({rows:,} rows)" if rows != learnt.people else ""
    few = {0: "nobody fits", 1: f"one person fits{own}: found"}
    return learnt.people, few.get(learnt.people, f"{learnt.people:,} people fit{own}")
