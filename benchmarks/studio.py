"""How soon the studio's live panel is right: after a step of k, and while a thumb moves.

    python benchmarks/studio.py                  # 10,000 rows
    python benchmarks/studio.py --rows 1000000   # a large table

Times are those of the server: from the event that reaches it to the figures that the panel shows. They
depend on the machine and on what else it does; the ratio to a command-line run in the same process tells
how much is saved by keeping the table encoded.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from shoal import api
from shoal.studio.constraints import constraints_in, figure_step, with_figure
from shoal.studio.session import Session

STEPS = 50


async def settled(session: Session) -> None:
    """Wait until the whole table is checked."""
    while session.live.state not in ("verified", "failed"):
        await asyncio.sleep(0.001)


async def steps_of_k(session: Session) -> list[float]:
    """Milliseconds from each step of k to its verified figures."""
    times = []
    for number in range(STEPS):
        assert session.workspace is not None
        one = constraints_in(session.workspace.text)[0]
        figure = 5 + number % 10 if number % 10 else 16
        began = time.perf_counter()
        session.edit(figure_step(one, figure), with_figure(one, figure))
        await settled(session)
        assert session.live.state == "verified", session.live.error
        assert session.live.figures is not None
        assert session.live.figures.guarantees[0].asked == figure
        times.append((time.perf_counter() - began) * 1000)
    assert session.live.figures is not None
    assert session.live.figures.encodings == 1
    return times


async def thumb(session: Session) -> list[float]:
    """Milliseconds from each movement of a thumb to the figures of the sample."""
    times = []
    for number in range(STEPS):
        assert session.workspace is not None
        one = constraints_in(session.workspace.text)[0]
        before = session.live.preview
        began = time.perf_counter()
        session.preview(with_figure(one, 3 + number % 20))
        while session.live.preview is before:
            await asyncio.sleep(0.001)
        times.append((time.perf_counter() - began) * 1000)
    return times


async def answers(session: Session) -> float:
    """The longest time in milliseconds that the event loop did not answer during a whole run."""
    session.check()
    longest = 0.0
    while session.live.state == "checking":
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        longest = max(longest, (time.perf_counter() - began) * 1000 - 5)
    return longest


async def measure(folder: Path, rows: int) -> None:
    """Print the figures of a table of so many rows."""
    sample = api.write_sample(folder, rows=rows)
    text = sample.policy.read_text(encoding="utf-8").replace(
        "method: auto", "method: least-loss-partition"
    )
    sample.policy.write_text(text, encoding="utf-8")
    session = Session(folder)
    try:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        while session.sampler.process_id is None or session.sampler.is_busy:
            await asyncio.sleep(0.05)
        if rows <= 100_000:
            times = await steps_of_k(session)
            print(f"step of k, {rows:,} rows: median {statistics.median(times):.0f} ms of {STEPS}")
        times = await thumb(session)
        print(f"moving thumb, sample: median {statistics.median(times):.0f} ms of {STEPS}")
        print(f"longest silence of the page during a whole run: {await answers(session):.0f} ms")
        began = time.perf_counter()
        await asyncio.to_thread(
            api.run, sample.table, sample.policy, folder / "out.csv", force=True
        )
        taken = (time.perf_counter() - began) * 1000
        print(f"one run of the command line, in this process: {taken:.0f} ms")
    finally:
        session.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), parser.parse_args().rows))
