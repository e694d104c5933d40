"""Open: a table, how it is written, and what one person is in it."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.studio.columns_text import (
    ROWS_ARE_PEOPLE,
    person_answer,
    person_column,
    reading_in,
    roles_in,
    settings_in,
    with_person,
    with_reading,
    with_rows_as_people,
    with_setting,
)
from shoal.studio.local_files import COPIES, files_in, keep_copy, named_copy
from shoal.studio.page import box, button, edit, notice, on_press, replace, tell, text
from shoal.studio.remedies import NAMELESS, SHEETS, is_a_question
from shoal.studio.screens.base import Screen
from shoal.studio.security import LARGEST_UPLOAD
from shoal.studio.session import Session
from shoal.studio.tasks import RowsOfPeople, inspect_table, page_of_rows, rows_of_people
from shoal.studio.words import listed_words, screen_words
from shoal.studio.workers import CallCancelledError

SEPARATORS = {",": "comma", ";": "semicolon", "tab": "tab", "|": "bar"}
DECIMALS = {".": "point, 1.5", ",": "comma, 1,5"}
HEADERS = {"true": "in its first line", "false": "there are none"}
USUAL = {"separator": ",", "decimal": ".", "header": "true"}
"""What a file is like where nothing else was found."""
TYPES = {"number": "numbers", "date": "dates", "text": "text"}
NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
EXAMPLES = 3
"""Rows that the preview shows."""
MOST_COLUMNS = 60
"""Columns that the preview shows."""
PICK = "(e) => {{if (!e.target.closest('input, button')) getElement({id}).$refs.qRef.pickFiles(e)}}"
"""The whole field can be pressed, not only its button."""


class OpenTable(Screen):
    """Choose a table, and say what one person is."""

    path = "open"
    title = "Open"
    next_words = "Then: what each column says about a person."
    question = "Which table do you want to publish?"
    lead = (
        "Shoal makes a copy of it in which nobody stands out, checks the copy, and says what was lost. "
        "The table stays on this machine."
    )
    needs_table = False

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._inspection: api.Inspection | None = None
        self._text_now: tuple[str, ...] = ()
        """Columns that the last step made text of."""
        self._rows: list[dict[str, Any]] = []
        self._sheets: tuple[str, tuple[str, ...]] = ("", ())
        """A file with several sheets, and these."""
        self._nameless = ""
        """A file of which the first column has no name."""
        self._asked_first = False
        """Whether what is wanting to open the studio's own table was asked for."""
        self._answers: dict[str, Callable[[], None]] = {}
        """What one person may be, by its words, and what says so."""
        self._asking = False
        """Whether the column that tells people apart is asked for."""
        self._evidence = session.counted_people
        self._typing = self._is_late = False
        """Whether something is typed about how the table is read, and was not drawn again for that."""

    def heading(self) -> tuple[str, str]:
        """Another one once there is a table."""
        if self.session.opened is None:
            return self.question, self.lead
        return (
            "What is in this table?",
            "First, what only you know. Then, whether it was read right.",
        )

    def build(self) -> None:
        """Create the question, what was detected, and the ways to open another table."""
        with box("div", "stack-5") as all_parts:
            if self.session.opened is not None:
                # the whole listens: a press on a part that is drawn again meanwhile is not lost
                on_press(all_parts, "data-person", lambda label: self._answers[label]())
                self._person_part = ui.refreshable(self._person)
                self._reading_part = ui.refreshable(self._reading)
                self._person_part()
                self._reading_part()
                self.follow(self.session.policy_changed, self._person_part.refresh)
                self.follow(self.session.policy_changed, self._read_again_if_needed)
                self._known = self._reading_keys()
                self.session.spawn(self._look())
                with box("details", "card"):
                    text("Open another table", "strong", "summary")
                    self._choose()
            else:
                with box("section", "card stack-3"):
                    self._choose()
                self.follow(self.session.live_changed, self._ask_about_the_first)
                self._ask_about_the_first()

    # -- what is one person

    def _person(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        answer = person_answer(workspace.text)
        proposed = "" if answer else person_column(workspace.text)
        with box("section", "card stack-3", data_answer=answer or "none"):
            text("What is one person in this table?", "", "h2")
            text(
                "A guarantee for five rows protects nobody if all five are the same person's visits. So "
                "this comes first, and only you know it.",
                "why",
                "p",
            )
            with box("div", "chips", role="group", aria_label="What is one person?"):
                self._answer(
                    "Each row is one person", answer == ROWS_ARE_PEOPLE, self._rows_are_people
                )
                several = answer not in ("", ROWS_ARE_PEOPLE)
                label = "A person may have several rows"
                if several:
                    label += f", recognised by the column “{answer}”"
                choose = partial(self._set_person, proposed) if proposed else self._ask_column
                self._answer(label, several, choose)
            counted = answer if several else proposed
            if counted:
                self._evidence_for(counted)
            if self._asking:
                self._which_column(counted)
            elif proposed:
                with box("div", "notice is-warn bar"):
                    text(
                        "It looks as if a person may have several rows, recognised by the column "
                        f"“{proposed}”. Is that right?"
                    )
                    yes = partial(self._set_person, proposed)
                    button("Yes, count people", yes, "primary push", id="confirm-person")
                    button("By another column", self._ask_column)
            elif not answer:
                notice("Not answered yet. Please choose: until then, rows are counted.", "warn")

    def _evidence_for(self, name: str) -> None:
        """How many rows people have, by the column that tells them apart."""
        if self._evidence is None or self._evidence.column != name:
            self.session.spawn(self._count_people(name))
            text("Counting the people …", "small muted", "p", role="status")
            return
        text(evidence_words(self._evidence), "small", "p", id="evidence")

    async def _count_people(self, name: str) -> None:
        try:
            self._evidence = await self.ask(self.session.whole, rows_of_people, name, at_once=True)
        except (ShoalError, CallCancelledError):
            return
        self.session.people_counted(self._evidence)
        self._person_part.refresh()

    def _answer(self, label: str, on: bool, choose: Any) -> None:
        chip = text(
            label,
            "chip on" if on else "chip",
            "button",
            type="button",
            aria_pressed=str(on).lower(),
        )
        self._answers[label] = choose
        chip.props["data-person"] = label

    def _rows_are_people(self) -> None:
        assert self.session.workspace is not None
        self._asking = False
        text_now = with_rows_as_people(self.session.workspace.text)
        replace(self.session, "one row is one person", text_now)

    def _ask_column(self) -> None:
        self._asking = True
        self._person_part.refresh()

    def _which_column(self, proposed: str) -> None:
        """Ask for the column that tells people apart; what was found is chosen already."""
        opened = self.session.opened
        assert opened is not None
        text("Which column has the same value in all rows of a person?", "strong small", "p")
        with box("div", "bar"):
            column = ui.select(
                list(opened.columns), value=proposed or None, label="Column of people"
            )
            column.props("outlined dense options-dense").style("min-width:220px")

            def confirm() -> None:
                if column.value:
                    self._set_person(str(column.value))

            button("Count people by it", confirm, "primary", id="confirm-column")
        text("Not answered until you press the button.", "tiny warn", "p")

    def _set_person(self, name: str) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        self._asking = False
        replace(self.session, f"one person is one {name}", with_person(workspace.text, name))

    # -- how the file is written

    def _reading_keys(self) -> dict[str, Any]:
        workspace = self.session.workspace
        return {} if workspace is None else reading_in(workspace.text)

    def _read_again_if_needed(self) -> None:
        if self._reading_keys() != self._known:
            self._known = self._reading_keys()
            self.session.spawn(self._look())
        self._show_reading()

    def _show_reading(self) -> None:
        """Draw again how the table is read; later, where somebody types there: no letter is lost."""
        self._is_late = self._typing
        if not self._typing:
            self._reading_part.refresh()

    def _follow_typing(self, field: ui.input, save: Callable[[list[str]], bool]) -> None:
        """Save the codes in a field when Enter is pressed or it is left."""
        saved = _codes(field.value)

        def keep() -> None:
            nonlocal saved
            codes = _codes(field.value)
            if codes != saved and save(codes):
                saved = codes

        def begin() -> None:
            self._typing = True

        def end() -> None:
            self._typing = False
            keep()
            if self._is_late and not self.is_left:
                self._show_reading()

        field.on("focus", begin)
        field.on("blur", end)
        field.on("keydown.enter", keep)

    async def _look(self) -> None:
        """Count, and get the first rows."""
        try:
            self._rows = await self.ask(self.session.whole, page_of_rows, 0, EXAMPLES, at_once=True)
            self._show_reading()
            person = person_column(self.session.policy_text().text) or None
            before = self._inspection
            self._inspection = await self.ask(
                self.session.background, inspect_table, self._reading_keys(), person
            )
            self._text_now = () if before is None else text_now(before, self._inspection)
        except (ShoalError, CallCancelledError):
            return  # the live panel says what is wrong
        self._show_reading()

    def _reading(self) -> None:
        session = self.session
        opened, workspace = session.opened, session.workspace
        assert opened is not None
        assert workspace is not None
        given = self._reading_keys()
        found = {} if self._inspection is None else self._inspection.read
        with box("section", "card stack-3", id="reading"):
            text("Was it read right?", "", "h2")
            rows, columns = opened.rows, len(opened.columns)
            text(f"{session.table_name}: {rows:,} rows and {columns} columns.", "sentence", "p")
            text("This is how it was found. Correct what is wrong.", "why", "p")
            for warning in opened.warnings:
                notice(screen_words(warning), "warn")
            if self._text_now:
                with box("div", "notice is-warn bar", id="text-now", role="status"):
                    names = listed_words(self._text_now)
                    text(f"Read as text now, and as numbers or dates before: {names}.")
                    button("Undo", session.undo, "quiet push")
            if self._inspection is None:
                text("Looking at every column …", "small muted", "p", role="status")
            if session.is_text:
                with box("div", "fields"):
                    self._option("separator", "Between fields", SEPARATORS, given, found)
                    self._option("decimal", "Decimal mark", DECIMALS, given, found)
                    self._option("header", "Column names", HEADERS, given, found)
                    self._missing(given)
            self._questions()
            self._preview()
            text(
                "Name the codes such as NA or 999 that stand for a missing value. Otherwise they are "
                "published like any other value, and 999 counts as a very old age.",
                "why",
                "p",
            )

    def _option(
        self,
        key: str,
        label: str,
        options: dict[str, str],
        given: dict[str, Any],
        found: dict[str, Any],
    ) -> None:
        value = given.get(key, "")
        now = str(value).lower() if isinstance(value, bool) else str(value)
        detected = str(found.get(key, USUAL[key])).lower()
        words = options.get(detected, detected)
        if now == detected:
            now = ""
        shown = {"": words} | {one: said for one, said in options.items() if one != detected}
        if now not in shown:
            shown[now] = now

        def choose(event: Any) -> None:
            if event.value != now:
                said: Any = {"true": True, "false": False, "": None}.get(event.value, event.value)
                words = shown[event.value]
                if edit(self.session, f"{label.lower()}: {words}", with_reading(key, said)):
                    self._read_again()

        ui.select(shown, value=now, label=label, on_change=choose).props(
            "outlined dense options-dense"
        )

    def _missing(self, given: dict[str, Any]) -> None:
        now = ", ".join(str(code) for code in given.get("missing", []))
        field = ui.input("Codes for missing, everywhere", value=now, placeholder="such as NA, 999")
        field.props("outlined dense").style("grid-column:1/-1")

        def save(codes: list[str]) -> bool:
            words = ", ".join(codes) or "none"
            change = with_reading("missing", codes or None)
            return edit(self.session, f"missing codes: {words}", change)

        self._follow_typing(field, save)

    def _questions(self) -> None:
        """What is not certain about the values, with the answers that there are."""
        if self._inspection is None or self._reading_keys().get("dates"):
            return
        asked = [column for column in self._inspection.columns if column.question]
        for column in asked:
            with box("div", "notice is-warn stack", data_asked=column.name):
                text(f"{column.name}: {column.question}. Which is it?", "", "p")
                with box("div", "chips"):
                    for answer in column.answers:
                        keys = reading_in(answer)
                        words = ", ".join(_date_words(str(value)) for value in keys.values())
                        if keys:
                            button(words, partial(self._settle, keys), "chip")

    def _settle(self, keys: dict[str, Any]) -> None:
        for key, value in keys.items():
            edit(self.session, f"{key}: {_date_words(str(value))}", with_reading(key, value))

    def _preview(self) -> None:
        """Each column with what it was read as and its first values; both can be corrected."""
        opened, workspace = self.session.opened, self.session.workspace
        assert opened is not None
        assert workspace is not None
        known = {} if self._inspection is None else {c.name: c for c in self._inspection.columns}
        try:
            listed = roles_in(workspace.text)
        except ShoalError:
            return
        given = {name: self._given_codes(name) for name in opened.columns if name in listed}
        if said := codes_words(given):
            text(said, "small", "p", id="codes")
        with box("div", "wide"), box("table", "preview detected"):
            with box("thead"), box("tr"):
                for head in ("column", "read as", "the first rows", "stands for missing"):
                    text(head, "tiny muted", "th", scope="col")
            with box("tbody"):
                for name in opened.columns[:MOST_COLUMNS]:
                    with box("tr", data_detected=name):
                        text(name, "strong", "td", title=name)
                        with box("td"):
                            self._type(name, known.get(name), name in listed)
                        values = [row.get(name) for row in self._rows]
                        shown = " · ".join("–" if one is None else str(one) for one in values)
                        text(shown, "muted", "td", title=shown)
                        with box("td"):
                            self._codes(name, known.get(name), name in listed)
        if len(opened.columns) > MOST_COLUMNS:
            left = len(opened.columns) - MOST_COLUMNS
            text(f"{left:,} more columns are in the policy.", "small muted", "p")

    def _type(self, name: str, found: "api.ColumnReport | None", is_listed: bool) -> None:
        assert self.session.workspace is not None
        detected = "looking …" if found is None else found.type
        if found is not None and "dates" in found.written:
            detected = f"dates, {_date_words(found.written['dates'])}"
        if not is_listed:
            text(detected)
            return
        now = str(settings_in(self.session.workspace.text, name).get("type") or "")

        def choose(event: Any) -> None:
            if event.value != now:
                words = TYPES.get(event.value, "detected")
                change = with_setting(name, "type", event.value or None)
                if not edit(self.session, f"{name}: read as {words}", change):
                    self._reading_part.refresh()

        field = ui.select({"": detected} | TYPES, value=now, on_change=choose)
        field.props("borderless dense options-dense").props["aria-label"] = f"{name} is read as"
        if found is not None and found.read_as:
            field.tooltip(found.read_as)

    def _given_codes(self, name: str) -> list[str] | None:
        """What the policy says stands for a missing value of a column; None where it says nothing."""
        assert self.session.workspace is not None
        given = settings_in(self.session.workspace.text, name).get("missing")
        return [str(one) for one in given] if isinstance(given, list) else None

    def _codes(self, name: str, found: "api.ColumnReport | None", is_listed: bool) -> None:
        assert self.session.workspace is not None
        if not is_listed:
            return
        given = self._given_codes(name)
        now = ", ".join(given or ())
        likely = () if found is None or given is not None else found.likely_missing

        def save(codes: list[str]) -> bool:
            words = ", ".join(codes) or "none"
            change = with_setting(name, "missing", codes or None)
            return edit(self.session, f"{name}: missing {words}", change)

        field = ui.input(value=now).props("borderless dense")
        field.props["placeholder"] = f"{', '.join(likely)}?" if likely else "–"
        field.props["aria-label"] = f"Codes of {name} for a missing value"
        field.style("min-width:7ch")
        self._follow_typing(field, save)

    def _read_again(self) -> None:
        session = self.session
        assert session.place is not None
        assert session.workspace is not None
        place, policy_file = session.place, session.workspace.policy_file

        async def again() -> None:
            try:
                await session.open(place, policy_file)
            except ShoalError as error:
                tell(str(error))

        ui.timer(0, again, once=True)

    # -- another table

    def _choose(self) -> None:
        self._sheets_part = ui.refreshable(self._which_sheet)
        self._sheets_part()
        upload = ui.upload(
            label="Drop a file here, or press to choose one",
            auto_upload=True,
            max_files=1,
            max_file_size=LARGEST_UPLOAD,
            on_upload=self._dropped,
            on_rejected=lambda: ui.notify(
                f"Up to {LARGEST_UPLOAD // 1024**2} MB can be dropped. Start the studio with the "
                "file's name instead: shoal studio TABLE.",
                type="negative",
                multi_line=True,
            ),
        )
        upload.props("flat bordered").classes("drop large").style("width:100%")
        upload.on("click", js_handler=PICK.format(id=upload.id))
        text(
            "CSV, Excel, Parquet, Stata, SPSS, SAS and others. A private copy goes to the folder "
            f"{COPIES}, with the policy beside it.",
            "tiny muted",
            "p",
        )
        self._files()
        with box("div", "offer"):
            button("Try the made-up hospital", self._hospital, id="hospital")
            text("10,000 patients who never lived, with a policy to look at.", "small muted")
        with box("details", "small"):
            text("Or a table in a database", "", "summary")
            with box("div", "bar").style("margin-top:8px"):
                address = (
                    ui.input("Address", placeholder="postgresql://host/db?table=visits")
                    .props("outlined dense")
                    .style("flex:1;min-width:240px")
                )
                button("Open the address", lambda: self._open_address(str(address.value or "")))

    def _files(self) -> None:
        found = files_in(self.session.folder)
        if not found:
            return
        text(f"Or a file from the folder “{self.session.folder.name}”", "small muted", "p")
        with box("div", "chips"):
            for name in found:
                button(name, partial(self._open_file, name), "chip")

    async def _open_file(self, name: str, sheet: str = "") -> None:
        try:
            place = str(self.session.file_in_folder(name))
            await self.session.open(f"{place}#{sheet}" if sheet else place)
        except ShoalError as error:
            self._ask_about(name, str(error))
            if not self._sheets[1] and not self._nameless:
                tell(str(error))

    def _ask_about_the_first(self) -> None:
        """Ask for what is wanting to open the table that the studio was started with."""
        live, place = self.session.live, self.session.started_with
        if live.state == "failed" and place and is_a_question(live.error) and not self._asked_first:
            self._asked_first = True
            self._ask_about(Path(place).name, live.error)

    def _ask_about(self, name: str, error: str) -> None:
        self._sheets = (name, sheets_in(error))
        self._nameless = name if NAMELESS.search(error) else ""
        self._sheets_part.refresh()

    async def _open_named(self) -> None:
        """Open a copy of a file in which its first column has a name."""
        try:
            source = self.session.file_in_folder(self._nameless)
            target = await asyncio.to_thread(named_copy, self.session.folder, source)
        except InputError as error:
            tell(str(error))
            return
        await self._open_file(f"{COPIES}/{target.name}")

    def _which_sheet(self) -> None:
        """Ask for the sheet of a file that has several, or for the name of a column that has none."""
        name, sheets = self._sheets
        if self._nameless:
            with box("div", "notice is-warn stack", id="nameless", role="status"):
                text(
                    f"The first column of {Path(self._nameless).name} has no name. R and pandas write "
                    "the numbers of rows there.",
                    "",
                    "p",
                )
                with box("div", "chips"):
                    button(
                        "Call it “row”, in a private copy", self._open_named, "chip", id="name-it"
                    )
        if not sheets:
            return
        with box("div", "notice is-warn stack", id="sheets", role="status"):
            text(
                f"{Path(name).name} has {len(sheets)} sheets with data. Which is the table?",
                "",
                "p",
            )
            with box("div", "chips"):
                for sheet in sheets:
                    button(sheet, partial(self._open_file, name, sheet), "chip", data_sheet=sheet)

    async def _open_address(self, address: str) -> None:
        try:
            if "://" not in address:
                raise InputError("An address looks like postgresql://host/db?table=visits.")
            place = str(api.command_line_place(address))
            await self.session.open(place)
        except ShoalError as error:
            tell(str(error))

    async def _dropped(self, event: events.UploadEventArguments) -> None:
        if isinstance(event.sender, ui.upload):
            event.sender.reset()  # no tick before the table was read
        try:
            target = await keep_copy(self.session.folder, event.file)
        except InputError as error:
            tell(str(error))
            return
        await self._open_file(f"{COPIES}/{target.name}")

    async def _hospital(self) -> None:
        folder = self.session.folder / "shoal-hospital"
        try:
            if not (folder / "hospital.csv").exists():
                await asyncio.to_thread(api.write_sample, folder)
            await self.session.open(str(folder / "hospital.csv"), folder / "policy.yaml")
        except ShoalError as error:
            tell(str(error))


def sheets_in(error: str) -> tuple[str, ...]:
    """The sheets that an error asks to choose from; none where their names cannot be told apart."""
    if (found := SHEETS.match(error)) is None:
        return ()
    names = tuple(found["names"].split(", "))
    return names if len(names) == int(found["count"]) else ()


def text_now(before: "api.Inspection", now: "api.Inspection") -> tuple[str, ...]:
    """The columns that are read as text, and were read as numbers or dates before."""
    texts = {one.name for one in now.columns if one.type == "text"}
    return tuple(
        one.name
        for one in before.columns
        if one.name in texts and one.type not in ("text", "digit codes")
    )


def codes_words(given: Mapping[str, list[str] | None]) -> str:
    """`Read as missing: 999 in age; 99 in school.`"""
    said = [f"{listed_words(codes)} in {name}" for name, codes in given.items() if codes]
    if not said:
        return ""
    return f"Read as missing: {'; '.join(said)}. Clear the field of a column where that is a real value."


def evidence_words(found: RowsOfPeople) -> str:
    """`4,020 rows, 3,600 different Client_No; 420 of them have two rows.`"""
    words = f"{found.rows:,} rows, {found.people:,} different {found.column}"
    if not found.several:
        return f"{words}: each has one row."
    if len(found.several) == 1:
        (rows, people), *_ = found.several
        if people == found.people:
            return f"{words}: each has {NUMBERS.get(rows, rows)} rows."
        return f"{words}; {people:,} of them have {NUMBERS.get(rows, rows)} rows."
    more = sum(people for _, people in found.several)
    return f"{words}; {more:,} of them have several rows, at most {found.several[-1][0]:,}."


def _codes(written: Any) -> list[str]:
    return [code.strip() for code in str(written or "").split(",") if code.strip()]


def _date_words(pattern: str) -> str:
    """`dd/mm/yyyy` for `%d/%m/%Y`."""
    names = {"%d": "dd", "%m": "mm", "%Y": "yyyy", "%y": "yy", "%H": "hh", "%M": "mm", "%S": "ss"}
    for code, name in names.items():
        pattern = pattern.replace(code, name)
    return pattern
