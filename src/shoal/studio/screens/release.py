"""Release: write the verified file, its report and what repeats it."""

import re
import shlex
from pathlib import Path
from typing import Any

from nicegui import ui
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import InputError, PolicyError, ShoalError
from shoal.progress import ProgressEvent
from shoal.studio.page import box, button, edit, icon_button, notice, spaced, text
from shoal.studio.policy_text import Change, is_null, parse, scalar
from shoal.studio.remedies import explained
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session, WrittenBefore
from shoal.studio.tasks import Order, Written, is_as_written, write_release_of
from shoal.studio.uncovered import alone_words, sentences
from shoal.studio.unprotected import unprotected_notice
from shoal.studio.words import listed_words, screen_words, step_text
from shoal.studio.workers import CallCancelledError

DATABASE = "database"
FORMS = {
    ".csv": "CSV",
    ".parquet": "Parquet",
    ".arrow": "Arrow",
    ".xlsx": "Excel",
    ".jsonl": "JSON lines",
    DATABASE: "Database table",
}
"""Forms of a release, by the ending of its file."""
ABOUT = {
    "title": ("Title", "the name of what is published"),
    "purpose": ("Purpose", "what the release is for"),
    "recipient": ("Recipient", "a person, an institution, or the public"),
    "organisation": ("Organisation", "who is responsible for the table"),
    "author": ("Author", "who wrote the policy"),
    "contact": ("Contact", "who answers questions, and how to reach them"),
    "legal_basis": ("Legal basis", "what allows the publication"),
}
"""The texts of a report's first page, by their key in a policy: a label and what is expected."""
EXAMPLE = "postgresql://host/db?table=visits_release"
REPLACE = "Replace what exists"
TAKEN = re.compile(r"(?P<target>.+) exists already\. Pass --force .+")


class Release(Screen):
    """Write the release."""

    path = "release"
    title = "Release"
    question = "Write the release"
    lead = (
        "The file appears only after it was written, read back and found to hold every guarantee. The "
        "report says what was promised and found, for the person who signs."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        stem = Path(session.table_name or "table").name.split(".")[0]
        self._name, self._form = f"{stem}-release", ".csv"
        self._report, self._external, self._key, self._seed = True, True, True, False
        self._force = False
        self._aware: set[str] = set()
        """What the user has said to know: who is not covered, and which columns are not protected."""
        self._address = ""
        """The table of a database that the release goes to, where it does."""
        self._written: Written | None = None
        """What was written by the last press of the button, as the form and the policy still say."""
        self._before: WrittenBefore | None = None
        """What was written before that."""
        self._intact = False
        """Whether it is still what was written."""
        self._problem = ""

    def build(self) -> None:
        """Create the form, what was written, and what repeats it."""
        self._state = ui.refreshable(self._outcome)
        self._recipe_part = ui.refreshable(self._recipe)
        with box("div", "stack-5"):
            self._about_form()
            with box("section", "card stack-3"):
                text("What to write", "", "h2")
                self._form_fields()
                self._notices = ui.refreshable(self._warnings)
                self._refusal = ui.refreshable(self._refused)
                self._notices()
                self._button = button(
                    "Write the release", self._write, "primary", id="write-release"
                )
                self._refusal()
                self._progress = text("", "small muted", "p", role="status")
                self._state()
            self._recipe_part()
        self._follow_live()
        self.follow(self.session.live_changed, self._follow_live)
        self.follow(self.session.policy_changed, self._forget)
        self.session.spawn(self._look_back())

    async def _look_back(self) -> None:
        """Show what was written before, also after a restart; files that are others now are not."""
        before = self.session.written_before
        if before is None:
            return
        try:
            self._intact = await self.ask(
                self.session.whole, is_as_written, before.written, at_once=True
            )
        except (ShoalError, CallCancelledError):
            return
        self._before = before
        if self._intact:
            self.session.allow_downloads(before.written.files)
        self._state.refresh()

    def _forget(self) -> None:
        self._aware = set()
        self._changed()
        self._follow_live()

    # -- what it is for

    def _about_form(self) -> None:
        """The texts of the report's first page; each is saved when its field is left."""
        fields: dict[str, ui.input] = {}

        def now() -> dict[str, str]:
            workspace = self.session.workspace
            return {} if workspace is None else about_in(workspace.text)

        def save(key: str) -> None:
            label, value = ABOUT[key][0], " ".join(str(fields[key].value or "").split())
            if value != now().get(key, ""):
                edit(self.session, label.lower(), with_about(key, value))

        def show() -> None:
            given = now()
            for key, field in fields.items():
                field.set_value(given.get(key, ""))

        with box("details", "card stack-3", id="about"):
            text("What is this release for?", "strong", "summary")
            text(
                "These texts stand on the first page of the reports, above the guarantees. They change "
                "nothing in the published rows; whoever signs should not have to ask for them.",
                "why",
                "p",
            )
            for key, (label, hint) in ABOUT.items():
                field = ui.input(f"{label}: {hint}", value=now().get(key, ""))
                field.props("outlined dense")
                field.props["data-about"] = key
                field.on("blur", lambda key=key: save(key))
                field.on("keydown.enter", lambda key=key: save(key))
                fields[key] = field
        self.follow(self.session.policy_changed, show)

    # -- the form

    def _form_fields(self) -> None:
        policy = self.session.policy

        def set_name(event: Any) -> None:
            self._name = str(event.value or "")
            show_place()
            self._changed()

        def set_form(event: Any) -> None:
            self._form = str(event.value)
            show_place()
            self._changed()

        def set_address(event: Any) -> None:
            self._address = str(event.value or "")
            self._changed()

        with box("div", "bar").style("gap:12px"):
            ui.input("Name", value=self._name, on_change=set_name).props("outlined dense").style(
                "flex:1;min-width:200px"
            )
            ui.select(FORMS, value=self._form, label="Format", on_change=set_form).props(
                "outlined dense options-dense"
            ).style("min-width:150px")
        with box("div", "stack") as address:
            ui.input("Address of the table", placeholder=EXAMPLE, on_change=set_address).props(
                "outlined dense"
            )
            text(
                f"Such as {EXAMPLE}, or a file: visits.sqlite?table=visits_release, "
                "visits.duckdb?table=visits_release. A password is not written here: set PGPASSWORD "
                "before the studio starts, or keep it in ~/.pgpass.",
                "tiny muted",
                "p",
            )
        place = text("", "tiny muted", "p")

        def show_place() -> None:
            to_database = self._form == DATABASE
            address.set_visibility(to_database)
            where = "Reports go to the folder" if to_database else "In the folder"
            place.set_text(
                f"{where} {self._folder.resolve()}; what is not for others goes to the folder "
                f"{self._private.name} in it, which only you can open."
            )

        show_place()
        self._tick("_report", "A report for whoever approves it, with its certificate")
        self._tick(
            "_external", "A report for those who get it, which says nothing about your table"
        )
        if policy is not None and policy.person is not None:
            self._tick(
                "_key",
                "The private key: which of the published rows belong to one person. Only with it can "
                "the people of this release be counted again. Never publish it",
            )
        if policy is not None and policy.seed is None:
            self._tick(
                "_seed",
                "Keep the seed in a private file: a number by which exactly the same file can be made "
                "again",
            )
        self._tick("_force", REPLACE)

    def _tick(self, name: str, label: str) -> None:
        def change(event: Any) -> None:
            setattr(self, name, bool(event.value))
            self._changed()

        ui.checkbox(label, value=bool(getattr(self, name)), on_change=change).props("dense")

    def _changed(self) -> None:
        if self._written is not None:
            self._before, self._intact = self.session.written_before, True
        elif self._before is not None:
            self._before = self.session.written_before  # of this policy, or of another one now
        self._written, self._problem = None, ""
        self._state.refresh()
        self._recipe_part.refresh()

    @property
    def _folder(self) -> Path:
        workspace = self.session.workspace
        assert workspace is not None
        return workspace.policy_file.parent

    @property
    def _private(self) -> Path:
        """The folder of what is not for others."""
        return self._folder / f"{self._name.strip()}-private"

    def _order(self) -> Order:
        """What the form asks for; raises `InputError` for a name that leads elsewhere."""
        name = self._name.strip()
        if not name or name != Path(name).name or name.startswith("."):
            raise InputError("The name of a release is a plain file name, without a folder.")
        target = f"{self._folder / name}{self._form}"
        if self._form == DATABASE:
            target = database_target(self._address.strip(), self._folder)
        workspace = self.session.workspace
        assert workspace is not None
        beside, apart = self._folder / name, self._private / name
        policy = self.session.policy
        has_key = self._key and policy is not None and policy.person is not None
        key = f"{apart}-key{'.csv' if self._form == '.csv' else '.parquet'}"
        return Order(
            policy=str(workspace.policy_file),
            target=target,
            report=f"{apart}-report.html" if self._report else None,
            external_report=f"{beside}-for-recipients.html" if self._external else None,
            key=key if has_key else None,
            seed_file=f"{apart}.seed" if self._seed else None,
            force=self._force,
            private=str(self._private) if self._report or has_key or self._seed else None,
        )

    # -- writing

    def _follow_live(self) -> None:
        self._progress.set_text("Checking it first …" if self.session.state == "checking" else "")
        self._notices.refresh()
        self._allow()

    def _allow(self) -> None:
        """Let the release be written once it was verified, and who is not covered was seen."""
        refused = not self.session.may_be_written or not self._all_confirmed()
        self._button.props["disabled"] = refused
        self._button.update()
        self._refusal.refresh()

    def _to_confirm(self) -> dict[str, str]:
        """What the user must have seen before anything is written, by what it is about: many who are
        not covered, and columns that nothing protects."""
        figures = self.session.live.figures
        if figures is None or not self.session.may_be_written:
            return {}
        found = {}
        if words := alone_words(figures.disclosure):
            found["uncovered"] = f"{words}, and that no guarantee protects them"
        if names := self.session.unprotected:
            are = "is" if len(names) == 1 else "are"
            found["unprotected"] = f"{listed_words(names)} {are} not protected by any guarantee"
        return found

    def _all_confirmed(self) -> bool:
        return set(self._to_confirm()) <= self._aware

    def _refused(self) -> None:
        """Why nothing can be written, and where that is mended."""
        session, live = self.session, self.session.live
        where, words = "", ""
        if session.questions and live.state != "failed":
            where, words = next(iter(session.questions.items()))
        elif live.state == "failed":
            failure = explained(live.error)
            where, words = ("protect" if failure.short else "columns"), failure.words
        elif not self._all_confirmed():
            text("First tick that you know what is not covered.", "small warn", "p", id="refused")
        if words:
            with box("div", "notice is-bad bar", id="refused", role="status"):
                text(
                    f"Cannot be written: {words[0].lower() if where == 'open' else words[0]}{words[1:]}"
                )
                text("Go there", "quiet push", "a", href=f"/{where}")

    def _warnings(self) -> None:
        """What nobody should overlook who signs."""
        live = self.session.live
        if live.figures is None or not self.session.may_be_written:
            return
        for words in (*sentences(live.figures.disclosure), *live.figures.warnings):
            notice(screen_words(words), "warn")
        unprotected_notice(self.session, "unprotected-here")
        for about, words in self._to_confirm().items():

            def change(event: Any, about: str = about) -> None:
                self._aware = self._aware | {about} if event.value else self._aware - {about}
                self._allow()

            label = f"I know that {words}"
            tick = ui.checkbox(label, value=about in self._aware, on_change=change).props("dense")
            tick.props["data-aware"] = about

    def _outcome(self) -> None:
        if self._problem:
            notice(self._problem, "bad")
        if self._written is not None:
            self._show_written(self._written)
        elif self._before is not None:
            self._show_before(self._before)

    async def _write(self) -> None:
        self.session.take_over()  # what another program wrote just now is checked first
        if not self.session.may_be_written or not self._all_confirmed():
            return
        self._problem, self._written, self._before = "", None, None
        self._state.refresh()
        policy = self.session.policy_text()
        try:
            written, figures = await self.session.whole.call(
                write_release_of, self._order(), policy, progress=self._report_step
            )
        except CallCancelledError:
            return
        except ShoalError as error:
            self._problem = _taken_words(str(error))
            self.session.spawn(self._look_back())
        else:
            self.session.keep_written(written, policy.text, figures)
            self._written = written
        if not self.is_left:
            self._progress.set_text("")
            self._state.refresh()

    def _report_step(self, event: ProgressEvent) -> None:
        if not self.is_left:
            self._progress.set_text(step_text(event))

    def _show_written(self, written: Written) -> None:
        with box("div", "badge verified", id="written", data_state="written"):
            text("✓", "mark", "div", aria_hidden="true")
            with box("div", "stack").style("gap:0"):
                text(f"{spaced(written.rows)} rows written and verified", "title", "div")
                text("Read back from the file that is there now.", "sub", "div")
        for words in self._to_confirm().values():
            notice(f"You knew that {words}.", "warn")
        self._all_files(written)

    def _show_before(self, before: WrittenBefore) -> None:
        """What was written earlier, never in green: it was verified then, and is the same file."""
        with box("div", "stack-3", id="written-before"):
            text(f"Written on {before.when}", "", "h3")
            if not self._intact:
                text(
                    "At least one of its files was changed or removed since, so nothing is said of them "
                    "here. “shoal verify” checks a release.",
                    "small muted",
                    "p",
                )
                return
            rows = spaced(before.written.rows)
            whose = "" if before.is_of_this_policy else ", by another policy than the one you see"
            said = f"{rows} rows, verified then{whose}."
            if all(before.written.sums):
                said += " The files are still the same, byte for byte."
            text(said, "small" if before.is_of_this_policy else "small warn", "p")
            self._all_files(before.written)

    def _all_files(self, written: Written) -> None:
        for title, is_private in (("To publish", False), ("Keep private", True)):
            files = [file for file in written.files if (file in written.private) == is_private]
            if files:
                with box("div", "bar"):
                    text(title, "", "h3")
                    where = Path(files[0]).parent
                    if is_private and where != self._folder:
                        text(f"in the folder {where.name}, which only you can open", "small muted")
                self._files(files, written, title)
        for one in written.to_judge:
            notice(f"Left to your judgement: {one}")

    def _files(self, files: list[str], written: Written, title: str) -> None:
        with box("ul", "stack", data_files=title).style("margin:0;padding-left:20px"):
            for file in files:
                with box("li"):
                    if not Path(file).is_file():  # a table of a database
                        text(file, "mono", data_table=file)
                        text(f" {_what(file, written)}", "small muted")
                        continue
                    name = Path(file).name
                    link = text(name, "mono", "a", href=f"/written/{name}", target="_blank")
                    link.props["data-file"] = file
                    text(f" {_what(file, written)}", "small muted")

    # -- repeating it

    def _recipe(self) -> None:
        session = self.session
        assert session.workspace is not None
        try:
            order = self._order()
        except InputError:
            return  # it is said when the release is written
        place = session.place or ""
        with box("details", "card stack-3"):
            text("The same, without the studio", "strong", "summary")
            text(
                "The policy is a file, so anyone with the table can make this release again. With the "
                "seed kept, it is the same file to the last byte.",
                "why",
                "p",
            )
            self._code("Command line", command_of(place, order))
            self._code("Python", python_of(place, order))
            self._code("Policy", session.workspace.text)

    def _code(self, title: str, code: str) -> None:
        with box("details", ""):
            with box("summary"):
                text(title, "strong small")
            with box("div", "code"):
                text(code, "", "pre", tabindex="0")
                icon_button("content_copy", f"Copy: {title}", lambda: ui.clipboard.write(code))


def about_in(policy: str) -> dict[str, str]:
    """What the text of a policy says of its release, also where the rest has mistakes."""
    try:
        about = parse(policy).get("about")
    except PolicyError:
        return {}
    if not isinstance(about, CommentedMap):
        return {}
    return {str(key): str(value) for key, value in about.items() if not is_null(value)}


def with_about(key: str, value: str) -> Change:
    """The change that says something of the release, or no longer where the value is empty."""

    def change(policy: CommentedMap) -> None:
        about = policy.get("about")
        if not isinstance(about, CommentedMap):
            about = policy["about"] = CommentedMap()
        if value:
            about[key] = scalar(value)
        else:
            about.pop(key, None)
        if not about:
            del policy["about"]

    return change


def database_target(address: str, folder: Path) -> str:
    """The table of a database that an address names; files of databases lie in the folder.

    Raises `InputError` where it names none, or has a password.
    """
    if not address:
        raise InputError(f"The address of the table is missing, such as {EXAMPLE}.")
    place = api.command_line_place(address)
    if isinstance(place, Path):
        raise InputError(
            f"'{address}' is not the address of a table in a database. Addresses look like {EXAMPLE} "
            "or visits.sqlite?table=visits_release."
        )
    return address if "://" in address else str(folder / address)


def _what(file: str, written: Written) -> str:
    """What a written file is, beside its name."""
    if file == written.files[0]:
        return "the release"
    endings = {
        "-for-recipients.html": "the report for those who get it",
        "-for-recipients.json": "its certificate",
        ".html": "the report, for whoever approves the release",
        ".json": "its certificate, which a program can check",
        "-key.parquet": "the key: which rows belong to one person. Never publish it",
        "-key.csv": "the key: which rows belong to one person. Never publish it",
        ".seed": "the seed: a number by which exactly the same file can be made again",
    }
    return next((words for ending, words in endings.items() if file.endswith(ending)), "")


def _taken_words(error: str) -> str:
    """An error of writing; where a name is taken, with what to press here."""
    found = TAKEN.fullmatch(error)
    if found is None:
        return error
    return (
        f"{Path(found['target']).name} exists already; nothing was written. Tick “{REPLACE}”, or choose "
        "another name."
    )


def command_of(place: str, order: Order) -> str:
    """The command that makes the release."""
    options = {
        "-o": order.target,
        "--report": order.report,
        "--external-report": order.external_report,
        "--key": order.key,
        "--seed-file": order.seed_file,
    }
    words = ["shoal", "run", place, order.policy]
    words += [word for option, value in options.items() if value for word in (option, value)]
    folder = [] if order.private is None else ["mkdir", "-p", "-m", "700", order.private]
    run = shlex.join([*words, *(["--force"] if order.force else [])])
    return f"{shlex.join(folder)} && {run}" if folder else run


def python_of(place: str, order: Order) -> str:
    """The call that makes the release."""
    keywords = {
        "report": order.report,
        "external_report": order.external_report,
        "key": order.key,
        "seed_file": order.seed_file,
        "force": order.force,
    }
    given = "".join(f"    {name}={value!r},\n" for name, value in keywords.items() if value)
    before = "import shoal\n\n"
    if order.private is not None:
        folder = f"Path({order.private!r}).mkdir(mode=0o700, exist_ok=True)\n"
        before = f"from pathlib import Path\n\n{before}{folder}"
    return (
        f"{before}release = shoal.run(\n    {place!r},\n    {order.policy!r},\n"
        f"    {order.target!r},\n{given})\n"
    )
