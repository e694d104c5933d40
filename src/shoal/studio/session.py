"""The session of the one user: a table, its policy, and the figures of the release so far.

Screens read from it, change the policy through `edit` and `preview`, and subscribe to its events. All of
it runs in the server's event loop; whatever takes long is done by its workers.
"""

import asyncio
import re
import time
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nicegui import Event

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.progress import ProgressEvent
from shoal.studio import tasks
from shoal.studio.columns_text import person_answer
from shoal.studio.figures import Figures
from shoal.studio.policy_text import Change
from shoal.studio.tasks import Opened, PolicyText, RowsOfPeople, Written
from shoal.studio.words import listed_words
from shoal.studio.workers import CallCancelledError, Worker
from shoal.studio.workspace import Workspace

if TYPE_CHECKING:
    from shoal.api import Policy

MOST_AHEAD = 3.0
"""Where a check takes longer than so many seconds, none is begun before the step that needs it."""
LOOK_EVERY = 1.0
"""Seconds between two looks at the policy file, which another program may have edited."""

LISTED = ("files", "private", "to_judge", "warnings", "sums")
"""What is kept as a list of what was written."""

State = Literal["empty", "opening", "waiting", "checking", "verified", "unanswered", "failed"]
"""`waiting`: for the user, who has to decide what columns are. `unanswered`: verified as rows are
counted now, but what one person is was not answered."""


@dataclass
class Live:
    """The release as far as it is known."""

    state: State = "empty"
    figures: Figures | None = None
    """Of the whole table, as of the last policy that was checked."""
    preview: Figures | None = None
    """Of a sample, while a control moves."""
    moving: bool = False
    """Whether a control moves, and no figures of a sample are there yet."""
    step: ProgressEvent | None = None
    """How far the check is."""
    file: str = ""
    """The release whose figures these are; empty where it was a trial that nobody keeps."""
    error: str = ""
    """Why there is no release."""
    milliseconds: float = 0.0
    """From the last change of the policy to its figures."""

    @property
    def trying(self) -> bool:
        """Whether the controls show another policy than the one that was checked."""
        return self.moving or self.preview is not None

    @property
    def shown(self) -> Figures | None:
        """What the panel shows: what moves now, or what was checked last."""
        return self.preview or self.figures


@dataclass(frozen=True)
class WrittenBefore:
    """A release that was written earlier."""

    written: Written
    when: str
    is_of_this_policy: bool


@cache
def load_rules() -> None:
    """Load all that reading a policy needs, which takes a while the first time."""
    api.read_policy("columns: {a: quasi}\nconstraints: [{k: 2}]\n", columns=["a"])
    api.list_presets()
    api.list_methods()


class Session:
    """One user, one table, one policy."""

    def __init__(self, folder: Path) -> None:
        """`folder`: the only one whose files can be chosen in the studio."""
        self.folder = folder.resolve()
        self.started_with: str | None = None
        """The table that the studio was started with."""
        self.place: str | None = None
        self.opened: Opened | None = None
        self.workspace: Workspace | None = None
        self.live = Live()
        self.whole = Worker("whole")
        """Makes releases of the whole table."""
        self.sampler = Worker("sample")
        """Makes releases of a sample, quickly."""
        self.background = Worker("background")
        """Computes what nobody waits for: curves, prices, comparisons."""
        self.table_changed = Event[[]]()
        """Another table was opened."""
        self.policy_changed = Event[[]]()
        """There was a step, or one was undone."""
        self.live_changed = Event[[]]()
        """Figures or errors of the live panel."""
        self.step_changed = Event[[]]()
        """How far the check is."""
        self.look_changed = Event[[]]()
        """Light or dark."""
        self.dark = False
        """Whether the page is dark now; it begins as the browser prefers."""
        self.look_chosen = False
        """Whether the user chose light or dark here."""
        self.column_chosen = Event[[]]()
        """Another column is to be shown, chosen outside of the screens about columns."""
        self.chosen_column: str | None = None
        """The column that the screens about columns show first."""
        self.compared: dict[str, tuple[tasks.Candidate, ...]] = {}
        """Releases that were compared, by the policy but for its method and k."""
        self.counted_people: RowsOfPeople | None = None
        """How many rows people have, by the column that was asked about last."""
        self._written: dict[str, Path] = {}
        self._check: asyncio.Task[None] | None = None
        self._preview: asyncio.Task[None] | None = None
        self._wanted_preview: Change | None = None
        self._ahead: asyncio.Task[None] | None = None
        self._ahead_text = ""
        """The policy that is checked ahead now."""
        self._likely: tuple[Change, ...] = ()
        """Steps that are likely to come next."""
        self._seconds = 0.0
        """How long the last check took."""
        self._steps = 0
        """Counts steps, so that a preview that comes after one is not shown."""
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- opening

    async def open(self, place: str, policy_file: Path | None = None) -> None:
        """Read a table, and its policy; a policy that does not exist is drafted.

        Raises `ShoalError` if the table or the policy cannot be read; another table that was open before
        stays as it was.
        """
        self._stop_checks()
        self._stop_ahead()
        before = self.live
        self.live = Live("opening")
        self.live_changed.emit()
        try:
            for worker in (self.whole, self.sampler, self.background):
                worker.prepare_with(tasks.open_table, place)
            rules = self.spawn(asyncio.to_thread(load_rules))
            opened: Opened = await self.whole.call(tasks.open_table, place, progress=self._report)
            policy_file = policy_file or self._policy_of(place)
            if not policy_file.exists():
                await self.whole.call(tasks.draft, place, str(policy_file), progress=self._report)
                policy_file.chmod(0o600)
            await rules
            workspace = Workspace.open(policy_file)
        except ShoalError as error:
            if self.place in (None, place):
                self.live = Live("failed", error=str(error))
                self.live_changed.emit()
            else:
                for worker in (self.whole, self.sampler, self.background):
                    worker.prepare_with(tasks.open_table, self.place)
                self.live = before
                self.check()
            raise
        workspace.knows(opened.columns)
        self.place, self.opened, self.workspace = place, opened, workspace
        self.chosen_column = None
        self.compared.clear()
        self.counted_people = None
        self.live = Live()
        self.table_changed.emit()
        self.check()
        self.spawn(self._warm_up())

    async def _warm_up(self) -> None:
        """Let the sampler read the table before the first thumb moves."""
        if self.policy is not None:
            with suppress(ShoalError, CallCancelledError):
                await self.sampler.call(tasks.sample_figures, self.policy_text())

    def _policy_of(self, place: str) -> Path:
        """Where the policy of a table is; every sheet of a workbook has its own."""
        file, _, sheet = place.partition("#")
        if not sheet or Path(place).exists() or not Path(file).is_file():
            return api.policy_beside(place, self.folder)
        stem = Path(file).name.partition(".")[0]
        plain = re.sub(r"[^\w-]", "_", sheet)
        return Path(file).with_name(f"{stem}-{plain}.policy.yaml")

    @property
    def table_name(self) -> str:
        """The table as the page calls it: a file without its folder."""
        place = self.place or ""
        file, mark, sheet = place.partition("#")
        if Path(file).is_file() and not Path(place).is_file():
            return f"{Path(file).name}{mark}{sheet}"
        return Path(place).name if Path(place).exists() else place.split("?")[-1]

    @property
    def is_text(self) -> bool:
        """Whether the table is a text file, which can be read in several ways."""
        name = self.table_name.lower().removesuffix(".gz")
        return name.endswith((".csv", ".tsv", ".txt"))

    def people_counted(self, found: "RowsOfPeople | None") -> None:
        """Keep how many rows people have, and show it."""
        self.counted_people = found
        self.live_changed.emit()

    @property
    def people(self) -> int | None:
        """How many people the table has; None where that is not known or each row is one."""
        if self.live.figures is not None and self.live.figures.people is not None:
            return self.live.figures.people
        counted = self.counted_people
        if counted is None or self.workspace is None:
            return None
        return counted.people if person_answer(self.workspace.text) == counted.column else None

    def allow_downloads(self, files: Iterable[str]) -> None:
        """Let the browser open files that the studio wrote."""
        self._written |= {Path(file).name: Path(file) for file in files}

    def keep_written(self, written: Written, policy: str, figures: Figures | None = None) -> None:
        """Keep what was written, and let the browser open it; policy: the text that it follows.

        figures: those of what was written, which are shown from now on.
        """
        assert self.workspace is not None
        self.allow_downloads(written.files)
        when = datetime.now().strftime("%Y-%m-%d %H:%M")
        self.workspace.keep_written({"when": when, "policy": policy} | asdict(written))
        if figures is not None and self.live.state == "verified" and policy == self.workspace.text:
            self.live.figures, self.live.file = figures, Path(written.files[0]).name
            self.live_changed.emit()

    @property
    def written_before(self) -> WrittenBefore | None:
        """What was written last beside this policy, now or before a restart."""
        workspace = self.workspace
        if workspace is None or workspace.written is None:
            return None
        kept: dict[str, Any] = dict(workspace.written)
        try:
            when, policy = str(kept.pop("when")), kept.pop("policy")
            written = Written(**kept | {key: tuple(map(str, kept[key])) for key in LISTED})
            known = dict(zip(written.files, written.sums, strict=True))
        except (KeyError, TypeError, ValueError):  # of another version
            return None
        folder = workspace.policy_file.parent.resolve()
        if not all(Path(file).resolve().is_relative_to(folder) for file in known if known[file]):
            return None
        return WrittenBefore(written, when, policy == workspace.text)

    def written_file(self, name: str) -> Path | None:
        """A file that the studio wrote in this session; None for any other."""
        return self._written.get(name)

    def file_in_folder(self, name: str) -> Path:
        """A file that the user chose in the studio; raises `InputError` if it is outside its folder."""
        found = (self.folder / name).resolve()
        if not found.is_relative_to(self.folder) or not found.is_file():
            raise InputError(
                f"The studio reads files in {self.folder} alone. Start it with the file's name: "
                "shoal studio TABLE."
            )
        return found

    # -- what is left to do

    @property
    def questions(self) -> dict[str, str]:
        """What only the user can answer and has not yet, by the screen that asks it."""
        if self.workspace is None:
            return {}
        found = {}
        if not person_answer(self.workspace.text):
            found["open"] = "Say what one person is."
        if count := len(self.workspace.undecided):
            found["columns"] = (
                "One column is left to decide."
                if count == 1
                else f"{count} columns are left to decide."
            )
        return found

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The columns that must not be learnt and that no guarantee protects."""
        if self.policy is None:
            return ()
        models = [model for model in self.policy.constraints if not model.promises_nothing]
        protected = {model.column for model in models}
        return tuple(name for name in self.policy.sensitive if name not in protected)

    @property
    def marks(self) -> dict[str, str]:
        """What the list of steps points at: questions, and columns that are not protected."""
        names = self.unprotected
        if not names:
            return self.questions
        are = "is" if len(names) == 1 else "are"
        return self.questions | {"protect": f"{listed_words(names)} {are} not protected yet."}

    @property
    def state(self) -> State:
        """As the pages show it: what was verified waits where nobody has said what one person is."""
        if self.live.state == "verified" and "open" in self.questions:
            return "unanswered"
        return self.live.state

    @property
    def may_be_written(self) -> bool:
        """Whether the release was verified, and no question is open."""
        return self.state == "verified" and not self.live.trying

    # -- changing

    @property
    def policy(self) -> "Policy | None":
        """The policy, as long as it is valid."""
        return None if self.workspace is None else self.workspace.policy

    def edit(self, name: str, change: Change, likely: tuple[Change, ...] = ()) -> None:
        """Change the policy by a named step, and check the whole table.

        Raises `PolicyError`, and changes nothing, where the result would not be valid. likely: steps
        that may come next; they are checked ahead while the worker has nothing else to do.
        """
        if self.workspace is None:
            return
        self.take_over()
        self._wanted_preview = None
        self._steps += 1
        if self.workspace.edit(name, change):
            self._stepped(likely)
        else:
            self.live.preview, self.live.moving = None, False
            self.live_changed.emit()

    def replace(self, name: str, text: str) -> None:
        """Put another text in place of the policy; as `edit`."""
        self.take_over()
        if self.workspace is not None and self.workspace.replace(name, text):
            self._stepped()

    def undo(self) -> None:
        """Go back one step."""
        self.take_over()
        if self.workspace is not None and self.workspace.can_undo:
            self.workspace.undo()
            self._stepped()

    def redo(self) -> None:
        """Do the last undone step again."""
        self.take_over()
        if self.workspace is not None and self.workspace.can_redo:
            self.workspace.redo()
            self._stepped()

    def preview(self, change: Change) -> None:
        """Show the figures that a change would have, on a sample; the last one asked for wins."""
        if self.workspace is None:
            return
        self._wanted_preview = change
        if not self.live.trying:  # at once: what was verified is another policy
            self.live.moving = True
            self.live_changed.emit()
        if self._preview is None or self._preview.done():
            self._preview = self.spawn(self._follow())

    async def _follow(self) -> None:
        while (change := self._wanted_preview) is not None and self.workspace is not None:
            self._wanted_preview = None
            with suppress(ShoalError, CallCancelledError):
                text = self.workspace.preview(change)
                if text != self._ahead_text:
                    self._stop_ahead()
                steps = self._steps
                figures = await self.sampler.call(tasks.sample_figures, self.policy_text(text))
                if steps != self._steps:
                    continue  # the thumb was released meanwhile
                self.live.preview, self.live.moving = figures, False
                self.live_changed.emit()
                # the thumb rests: perhaps it is released here
                if self._wanted_preview is None and text != self._ahead_text:
                    self._look_ahead((change,))

    def policy_text(self, text: str | None = None) -> PolicyText:
        """The policy, or another text in its place, as workers read it."""
        assert self.workspace is not None
        file, known = self.workspace.policy_file, None
        if text is None or text == self.workspace.text:
            text, known = self.workspace.text, self.workspace.policy
        return PolicyText(text, file.name, str(file.parent), known)

    def take_over(self) -> None:
        """Take what another program wrote as a step, before the next one is written over it."""
        if self.workspace is not None and self.workspace.look():
            self._stepped()

    def _stepped(self, likely: tuple[Change, ...] = ()) -> None:
        self._likely = likely
        self._steps += 1
        self.check()  # first, so that no page shows the step beside a badge of the one before
        self.policy_changed.emit()

    # -- checking

    def check(self, again: bool = False) -> None:
        """Group, write, read back and verify the whole table in the worker.

        again: also where this was done before with the same policy.
        """
        self._stop_checks()
        workspace = self.workspace
        if workspace is None:
            return
        if again or workspace.text != self._ahead_text:
            self._stop_ahead()
        self.live.preview, self.live.moving, self.live.file = None, False, ""
        if workspace.undecided:
            self.live.state, self.live.error, self.live.figures = "waiting", "", None
            self.live_changed.emit()
            return
        if workspace.policy is None:
            self.live.state, self.live.error = "failed", workspace.error
            self.live_changed.emit()
            return
        self.live.state, self.live.error, self.live.step = "checking", "", None
        self._check = self.spawn(self._checked(time.perf_counter(), again))
        self.live_changed.emit()

    async def _checked(self, began: float, again: bool) -> None:
        live = self.live
        try:
            figures: Figures = await self.whole.call(
                tasks.whole_figures, self.policy_text(), again, progress=self._report
            )
        except CallCancelledError:
            return
        except ShoalError as error:
            live.state, live.error = "failed", str(error)
        else:
            live.figures = figures
            live.state = "verified" if figures.verified else "failed"
            live.milliseconds = (time.perf_counter() - began) * 1000
            self._seconds = figures.seconds
        live.step = None
        self.live_changed.emit()
        if live.state == "verified":
            self._look_ahead(self._likely)

    def _look_ahead(self, changes: tuple[Change, ...]) -> None:
        """Check policies before they are asked for; the worker keeps what it found."""
        self._stop_ahead()
        if changes and self._seconds <= MOST_AHEAD:
            self._ahead = self.spawn(self._checked_ahead(changes))

    async def _checked_ahead(self, changes: tuple[Change, ...]) -> None:
        steps = self._steps
        for change in changes:
            if self.workspace is None or steps != self._steps:
                break
            with suppress(ShoalError, CallCancelledError):
                self._ahead_text = self.workspace.preview(change)
                await self.whole.call(tasks.whole_figures, self.policy_text(self._ahead_text))
        self._ahead_text = ""

    def _stop_ahead(self) -> None:
        if self._ahead is not None:
            self._ahead.cancel()
        self._ahead, self._ahead_text = None, ""

    def cancel(self) -> None:
        """Stop the check that is under way; what was found before stays visible, and grey."""
        if self._check is not None and not self._check.done():
            self._stop_checks()
            self.live.state = "failed"
            self.live.error = "You stopped the check, so nothing is known of this policy."
            self.live_changed.emit()

    def _stop_checks(self) -> None:
        if self._check is not None:
            self._check.cancel()
            self._check = None

    def _report(self, event: ProgressEvent) -> None:
        self.live.step = event
        self.step_changed.emit()

    # -- watching

    async def watch(self) -> None:
        """Take over what other programs write into the policy file, for as long as the studio runs."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            workspace = self.workspace
            if workspace is None:
                continue
            waiting = bool(workspace.unsaved)
            if workspace.look():
                self._stepped()
            elif waiting:
                self.policy_changed.emit()

    def close(self) -> None:
        """End the workers."""
        for worker in (self.whole, self.sampler, self.background):
            worker.stop()

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Do something beside; whatever part of a page began it may be drawn again meanwhile."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
