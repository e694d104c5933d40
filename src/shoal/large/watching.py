"""How far a step is, from the calls of a session that it is made of."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from shoal.engines.large.session import Moved, Session, untold
from shoal.progress import Done, Progress, not_told

Step = Callable[[str], AbstractContextManager[Progress]]
"""Begins a step by its name; gives what tells how far it is."""


@contextmanager
def passing(
    session: Session, progress: Progress, low: float, high: float, rows: int | None
) -> Iterator[None]:
    """Let calls in which all rows go through once tell how far they are.

    They are the part from `low` to `high` of a step. rows: of the table; None where it is not its rows
    that go through.
    """

    def told(moved: Moved) -> None:
        through = min(1.0, (moved.rows or 0) / rows) if rows else 0.0
        share = low + (high - low) * through
        progress(Done(share, None, rows, moved.tasks, moved.of_tasks))

    session.told = told
    try:
        yield
    finally:
        session.told = untold
    progress(Done(high, of=rows))


def part_of(progress: Progress, low: float, high: float) -> Progress:
    """Tells how far a part of a step is."""

    def told(share: float) -> None:
        done = share if isinstance(share, Done) else Done(share)
        progress(Done(low + (high - low) * done, None, done.of, done.tasks, done.of_tasks))

    return told


@contextmanager
def unwatched(name: str) -> Iterator[Progress]:  # noqa: ARG001 - as a `Step` is called
    """A step of which nobody is told."""
    yield not_told
