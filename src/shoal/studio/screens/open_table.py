"""Open: a table, how it is written, and what one person is in it."""

import asyncio
from functools import partial
from typing import Any

from nicegui import events, ui

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.studio.columns_text import (
    ROWS_ARE_PEOPLE,
    person_answer,
    roles_in,
    with_reading,
    with_role,
    with_rows_as_people,
)
from shoal.studio.local_files import COPIES, files_in, keep_copy
from shoal.studio.page import box, button, edit, notice, text
from shoal.studio.screens.base import Screen
from shoal.studio.security import LARGEST_UPLOAD

SEPARATORS = {"": "detected", ",": "comma", ";": "semicolon", "tab": "tab", "|": "bar"}
DECIMALS = {"": "detected", ".": "point, 1.5", ",": "comma, 1,5"}
HEADERS = {"": "detected", "true": "yes, its first line", "false": "no"}


class OpenTable(Screen):
    """Choose a table, and say what one person is."""

    path = "open"
    title = "Open"
    question = "Which table is it, and what is one person?"
    lead = "It stays on this machine. What was guessed about the file can be corrected here."
    needs_table = False

    def build(self) -> None:
        """Create the question, what was detected, and the ways to open another table."""
        with box("div", "stack-5"):
            if self.session.opened is not None:
                self._person_part = ui.refreshable(self._person)
                self._reading_part = ui.refreshable(self._reading)
                self._person_part()
                self._reading_part()
                self.follow(self.session.policy_changed, self._person_part.refresh)
                self.follow(self.session.policy_changed, self._reading_part.refresh)
            self._choose()

    # -- what is one person

    def _person(self) -> None:
        workspace, opened = self.session.workspace, self.session.opened
        assert workspace is not None
        assert opened is not None
        answer = person_answer(workspace.text)
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
                label = (
                    f"A person may have several rows, told by “{answer}”"
                    if several
                    else ("A person may have several rows")
                )
                self._answer(label, several, self._ask_column)
            if not answer:
                notice("Not answered yet.", "warn")
            self._columns = box("div", "stack")

    def _answer(self, label: str, on: bool, choose: Any) -> None:
        chip = text(
            label,
            "chip on" if on else "chip",
            "button",
            type="button",
            aria_pressed=str(on).lower(),
        )
        chip.on("click", lambda: choose())

    def _rows_are_people(self) -> None:
        assert self.session.workspace is not None
        text_now = with_rows_as_people(self.session.workspace.text)
        try:
            self.session.replace("one row is one person", text_now)
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)

    def _ask_column(self) -> None:
        opened = self.session.opened
        assert opened is not None
        self._columns.clear()
        with self._columns:
            text("Which column has the same value in all rows of a person?", "small", "p")

            def choose(event: Any) -> None:
                self._set_person(str(event.value))

            ui.select(list(opened.columns), label="Column of people", on_change=choose).props(
                "outlined dense options-dense"
            ).style("max-width:320px")

    def _set_person(self, name: str) -> None:
        assert self.session.workspace is not None
        before = roles_in(self.session.workspace.text)

        def change(policy: Any) -> None:
            for other, role in before.items():
                if role == "person" and other != name:
                    with_role(other, "identifier", settings=False)(policy)
            with_role(name, "person", settings=False, constraints=False)(policy)

        edit(self.session, f"one person is one {name}", change)

    # -- how the file is written

    def _reading(self) -> None:
        session = self.session
        opened, policy = session.opened, session.policy
        assert opened is not None
        with box("section", "card stack-3"):
            text("How the file was read", "", "h2")
            rows, columns = opened.rows, len(opened.columns)
            text(f"{session.table_name}: {rows:,} rows and {columns} columns.", "sentence", "p")
            for warning in opened.warnings:
                notice(warning, "warn")
            given = {} if policy is None else policy.read.given()
            with box("div", "bar").style("gap:16px;align-items:flex-end"):
                self._option("separator", "Between fields", SEPARATORS, given)
                self._option("decimal", "Decimal mark", DECIMALS, given)
                self._option("header", "Column names", HEADERS, given)
                self._missing(given)
            text(
                "What is not said is detected. Codes such as NA or 999 that stand for a missing value "
                "would otherwise be published as if they were one.",
                "why",
                "p",
            )

    def _option(self, key: str, label: str, options: dict[str, str], given: dict[str, Any]) -> None:
        value = given.get(key, "")
        now = str(value).lower() if isinstance(value, bool) else str(value)
        shown = options if now in options else {**options, now: now}

        def choose(event: Any) -> None:
            if event.value != now:
                said: Any = {"true": True, "false": False, "": None}.get(event.value, event.value)
                words = shown[event.value]
                if edit(self.session, f"{label.lower()}: {words}", with_reading(key, said)):
                    self._read_again()

        ui.select(shown, value=now, label=label, on_change=choose).props(
            "outlined dense options-dense"
        ).style("min-width:150px")

    def _missing(self, given: dict[str, Any]) -> None:
        now = ", ".join(str(code) for code in given.get("missing", []))
        field = ui.input("Codes for missing", value=now, placeholder="NA, -9").props(
            "outlined dense"
        )

        def save() -> None:
            codes = [code.strip() for code in str(field.value or "").split(",") if code.strip()]
            if ", ".join(codes) != now:
                words = ", ".join(codes) or "none"
                edit(
                    self.session, f"missing codes: {words}", with_reading("missing", codes or None)
                )

        field.on("blur", save)
        field.on("keydown.enter", save)

    def _read_again(self) -> None:
        session = self.session
        assert session.place is not None
        assert session.workspace is not None
        place, policy_file = session.place, session.workspace.policy_file

        async def again() -> None:
            try:
                await session.open(place, policy_file)
            except ShoalError as error:
                ui.notify(str(error), type="negative", multi_line=True)

        ui.timer(0, again, once=True)

    # -- another table

    def _choose(self) -> None:
        session = self.session
        with box("section", "card stack-3"):
            text("Open a table" if session.opened is None else "Open another table", "", "h2")
            upload = ui.upload(
                label="Drop a file here, or press + to choose one",
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
            upload.props("flat bordered").classes("drop").style("width:100%")
            text(
                f"A copy goes to the folder {COPIES}, with the policy beside it.", "tiny muted", "p"
            )
            self._files()
            with box("div", "bar"):
                address = (
                    ui.input(
                        "Address of a table in a database",
                        placeholder="postgresql://host/db?table=visits",
                    )
                    .props("outlined dense")
                    .style("flex:1;min-width:240px")
                )
                button("Open the address", lambda: self._open_address(str(address.value or "")))
            with box("div", "bar"):
                button("Try the made-up hospital", self._hospital, id="hospital")
                text("10,000 patients who never lived, with a policy to look at.", "small muted")

    def _files(self) -> None:
        found = files_in(self.session.folder)
        if not found:
            return
        text(f"In {self.session.folder.name}", "", "h3")
        with box("div", "chips"):
            for name in found:
                button(name, partial(self._open_file, name), "chip")

    async def _open_file(self, name: str) -> None:
        try:
            await self.session.open(str(self.session.file_in_folder(name)))
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)

    async def _open_address(self, address: str) -> None:
        try:
            if "://" not in address:
                raise InputError("An address looks like postgresql://host/db?table=visits.")
            place = str(api.command_line_place(address))
            await self.session.open(place)
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)

    async def _dropped(self, event: events.UploadEventArguments) -> None:
        try:
            target = await keep_copy(self.session.folder, event.file)
        except InputError as error:
            ui.notify(str(error), type="negative")
            return
        await self._open_file(f"{COPIES}/{target.name}")

    async def _hospital(self) -> None:
        folder = self.session.folder / "shoal-hospital"
        try:
            if not (folder / "hospital.csv").exists():
                await asyncio.to_thread(api.write_sample, folder)
            await self.session.open(str(folder / "hospital.csv"), folder / "policy.yaml")
        except ShoalError as error:
            ui.notify(str(error), type="negative", multi_line=True)
