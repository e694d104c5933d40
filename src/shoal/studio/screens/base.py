"""What every screen declares."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from nicegui import Event

from shoal.errors import ShoalError
from shoal.studio.session import Session
from shoal.studio.worker import Task
from shoal.studio.workers import CallCancelledError, Worker


class Screen(ABC):
    """One step of the way from a table to a release.

    A screen is built anew whenever it is visited, inside the main part of the page. What it shows of the
    policy must `follow` the event `session.policy_changed`, because a step can be undone, made in the
    drawer or come from another program: `self.follow(session.policy_changed, part.refresh)` for a part
    that is `nicegui.ui.refreshable`.
    """

    path: ClassVar[str]
    """The last part of its address."""
    title: ClassVar[str]
    """Its name in the list of steps."""
    question: ClassVar[str]
    """Its heading: what the user answers here."""
    lead: ClassVar[str]
    """One or two sentences on why it matters."""
    next_words: ClassVar[str] = ""
    """What comes after it, at its end."""
    needs_table: ClassVar[bool] = True
    """Whether it can be used only once a table is open."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._followed: list[tuple[Event[Any], Callable[..., Any]]] = []
        self.is_left = False
        """Whether another screen is shown; then nothing of this one can be drawn any more."""

    def follow(self, event: "Event[Any]", handler: Callable[..., Any]) -> None:
        """Call a function with every event, until the screen is left."""
        event.subscribe(handler)
        self._followed.append((event, handler))

    async def ask(self, worker: Worker, task: Task, *arguments: Any, **options: Any) -> Any:
        """Let a worker do something for this screen.

        Raises as `Worker.call` does, and `CallCancelledError` where the screen was left meanwhile.
        """
        try:
            found = await worker.call(task, *arguments, **options)
        except ShoalError:
            if not self.is_left:
                raise
        if self.is_left:
            raise CallCancelledError
        return found

    def leave(self) -> None:
        """Follow nothing any more; called when another screen is visited."""
        self.is_left = True
        for event, handler in self._followed:
            event.unsubscribe(handler)
        self._followed.clear()

    def heading(self) -> tuple[str, str]:
        """The heading and the sentence below it."""
        return self.question, self.lead

    @abstractmethod
    def build(self) -> None:
        """Create the elements below the heading."""
