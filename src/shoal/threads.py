"""Share independent pieces of work between threads; the result never depends on how many.

A forked child inherits the pool but none of its threads, so it starts a pool of its own.
"""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from shoal.arrays import Ints

Item = TypeVar("Item")
Result = TypeVar("Result")
SMALL = 20_000
"""Below this much work a second thread costs more than it brings."""


def workers() -> int:
    """Threads to use: SHOAL_THREADS, or as many as there are cores for this process."""
    configured = os.environ.get("SHOAL_THREADS", "")
    if configured.isdigit():
        return max(1, int(configured))
    # not every system reports the cores that a process may use
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(n: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n, thread_name_prefix="shoal")


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(after_in_child=_pool.cache_clear)


def each(call: Callable[[Item], Result], items: Iterable[Item], rows: int = SMALL) -> list[Result]:
    """call(item) for every item, several at a time, the results in the order of the items.

    For work in compiled code that releases the interpreter; `call` must not call `each` itself.
    `rows`: how many rows each item has, where they may be too few: then most of the work is that of the
    interpreter, for which threads only wait for each other.
    """
    todo = list(items)
    if workers() == 1 or len(todo) < 2 or rows < SMALL:
        return [call(item) for item in todo]
    return list(_pool(workers()).map(call, todo))


def in_turn(call: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """call(item) for every item, several at a time, the results one by one in the order of the items.

    Items are taken as they are needed, one more than there are threads. These are threads of their own,
    so `call` may call `each` and `share`.
    """
    if workers() == 1:
        yield from map(call, items)
        return
    pool, waiting = ThreadPoolExecutor(workers(), thread_name_prefix="shoal-turn"), deque[Any]()
    try:
        for item in items:
            waiting.append(pool.submit(call, item))
            if len(waiting) > workers():
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def ahead(items: Iterable[Item], most: int = 2) -> Generator[Item, None, None]:
    """The items in their order, taken by another thread that is at most so many ahead."""
    if workers() == 1:
        yield from items
        return
    pool, source, end = (
        ThreadPoolExecutor(1, thread_name_prefix="shoal-ahead"),
        iter(items),
        object(),
    )
    try:
        waiting = deque(pool.submit(next, source, end) for _ in range(most))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(pool.submit(next, source, end))
            yield item  # type: ignore[misc]
    finally:
        pool.shutdown(cancel_futures=True)


def share(work: Ints, call: Callable[[int, int], None]) -> None:
    """Call `call(begin, end)` on runs of items that cover 0..len(work), `work` being each one's cost.

    Items must be independent: a call may write only what belongs to its own items.
    """
    n, total = len(work), int(work.sum())
    pieces = min(n, workers() * 4)
    if workers() == 1 or pieces < 2 or total < SMALL:
        call(0, n)
        return
    ends = np.searchsorted(np.cumsum(work), np.arange(1, pieces + 1) * total / pieces) + 1
    edges = np.unique(np.concatenate([[0], np.minimum(ends, n), [n]]))
    futures = [
        _pool(workers()).submit(call, int(begin), int(end)) for begin, end in pairwise(edges)
    ]
    for future in futures:
        future.result()
