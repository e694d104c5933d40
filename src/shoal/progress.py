"""How far a piece of work is: as a share, and in rows where they are counted."""

from collections.abc import Callable


class Done(float):
    """The share of a step that is done, 0 to 1: a number that also tells rows, where it can."""

    rows: int | None
    """How many of the table's rows that comes to."""
    of: int | None
    """How many rows the table has."""
    tasks: int | None
    """Tasks that are done of those that Spark works on just now."""
    of_tasks: int | None

    def __new__(
        cls,
        share: float,
        rows: int | None = None,
        of: int | None = None,
        tasks: int | None = None,
        of_tasks: int | None = None,
    ) -> "Done":
        """Without `rows`, so many of the table's as the share is."""
        made = super().__new__(cls, min(1.0, max(0.0, share)))
        made.rows = int(made * of) if rows is None and of is not None else rows
        made.of, made.tasks, made.of_tasks = of, tasks, of_tasks
        return made


Progress = Callable[[float], None]
"""Called with the share of a step that is done; `Done` where more is known."""
Watcher = Callable[[str, float], None]
"""Called with a step's name and the share of it that is done; `Done` where more is known."""


def not_told(share: float) -> None:
    """Tells nobody."""
