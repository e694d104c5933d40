"""How soon the studio's live panel is right: after a step of k, and while a thumb moves.

    python benchmarks/studio.py                           # 10,000 rows
    python benchmarks/studio.py --rows 10000 1000000      # and a large table

Times are those of the server: from the event that reaches it to the figures that the panel shows. They
depend on what else the machine does, so the load stands beside them, with the median of the best of five
batches and the time that the worker spent on a processor. The ratio to one run in this process tells how
much is saved by keeping the table encoded.

`step_of_k` makes one step after the other without a pause, each to a policy of which nothing is known.
Of the k before, k-clustering keeps clusters of the sizes that both look at.
`key_each_second` presses an arrow key every second, from k = 5 upwards, so that the worker has time to
look ahead. `undo` goes back over these steps.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from shoal import api
from shoal.studio.constraints import ConstraintText, constraints_in, figure_step, with_figure
from shoal.studio.policy_text import Change, scalar
from shoal.studio.session import Session
from shoal.studio.workers import Worker

STEPS = 50
BATCH = 10
KEYS, PAUSE = 20, 1.0
"""Presses of a key, and the seconds between two of them."""
METHODS = ("least-loss-partition", "auto")
STEPPED = 100_000
"""Larger tables are not stepped through: only the thumb and the page are measured."""
RESULT = Path(__file__).parent / "results" / "studio.json"


def processor_ms(worker: Worker) -> float:
    """Milliseconds that a worker's process has spent on a processor."""
    stat = Path(f"/proc/{worker.process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return 1000 * (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def summary(times: list[float], worked: list[float]) -> dict[str, float]:
    """The figures of many steps."""
    batches = [times[i : i + BATCH] for i in range(0, len(times), BATCH)]
    return {
        "median_ms": round(statistics.median(times), 1),
        "best_batch_median_ms": round(min(map(statistics.median, batches)), 1),
        "mean_processor_ms": round(statistics.fmean(worked), 1),
        "steps": len(times),
    }


async def settled(session: Session) -> None:
    """Wait until the whole table is checked."""
    while session.live.state not in ("verified", "failed"):
        await asyncio.sleep(0.001)


async def steps_of_k(session: Session) -> tuple[list[float], list[float]]:
    """Milliseconds from each step of k to its verified figures, and those of the worker's processor."""
    times, worked = [], []
    for number in range(STEPS):
        assert session.workspace is not None
        one = constraints_in(session.workspace.text)[0]
        figure = 5 + number % 10 if number % 10 else 16
        began, busy = time.perf_counter(), processor_ms(session.whole)
        session.edit(figure_step(one, figure), new_policy(one, figure, number))
        await settled(session)
        require(session, figure)
        times.append((time.perf_counter() - began) * 1000)
        worked.append(processor_ms(session.whole) - busy)
    assert session.live.figures is not None
    assert session.live.figures.encodings == 1
    return times, worked


def new_policy(one: ConstraintText, figure: int, number: int) -> Change:
    """Another k, and a remark by which the policy is none of those whose figures are kept."""

    def change(policy: Any) -> None:
        with_figure(one, figure)(policy)
        policy["about"] = scalar({"purpose": f"step {number}"})

    return change


def require(session: Session, figure: int) -> None:
    """The panel is right."""
    assert session.live.state == "verified", session.live.error
    assert session.live.figures is not None
    assert session.live.figures.guarantees[0].asked == figure


async def keys(session: Session) -> tuple[list[float], list[float]]:
    """Milliseconds from each press of an arrow key to its verified figures, one press a second."""
    assert session.workspace is not None
    one = constraints_in(session.workspace.text)[0]
    session.edit(figure_step(one, 5), new_policy(one, 5, STEPS))
    await settled(session)
    times, worked = [], []
    for figure in range(6, 6 + KEYS):
        await asyncio.sleep(PAUSE)
        one = constraints_in(session.workspace.text)[0]
        likely = with_figure(one, figure + 1), with_figure(one, figure - 1)
        began, busy = time.perf_counter(), processor_ms(session.whole)
        session.edit(figure_step(one, figure), with_figure(one, figure), likely)
        await settled(session)
        require(session, figure)
        times.append((time.perf_counter() - began) * 1000)
        worked.append(processor_ms(session.whole) - busy)
    return times, worked


async def undo(session: Session) -> tuple[list[float], list[float]]:
    """Milliseconds from each undone step to its verified figures."""
    times, worked = [], []
    for figure in reversed(range(5, 5 + KEYS)):
        began, busy = time.perf_counter(), processor_ms(session.whole)
        session.undo()
        await settled(session)
        require(session, figure)
        times.append((time.perf_counter() - began) * 1000)
        worked.append(processor_ms(session.whole) - busy)
    return times, worked


async def thumb(session: Session) -> tuple[list[float], list[float]]:
    """Milliseconds from each movement of a thumb to the figures of the sample; as `steps_of_k`."""
    times, worked = [], []
    for number in range(STEPS):
        assert session.workspace is not None
        one = constraints_in(session.workspace.text)[0]
        before = session.live.preview
        began, busy = time.perf_counter(), processor_ms(session.sampler)
        session.preview(with_figure(one, 3 + number % 20))
        while session.live.preview is before:
            await asyncio.sleep(0.001)
        times.append((time.perf_counter() - began) * 1000)
        worked.append(processor_ms(session.sampler) - busy)
    return times, worked


async def answers(session: Session) -> float:
    """The longest time in milliseconds that the event loop did not answer during a whole run."""
    session.check(again=True)
    longest = 0.0
    while session.live.state == "checking":
        began = time.perf_counter()
        await asyncio.sleep(0.005)
        longest = max(longest, (time.perf_counter() - began) * 1000 - 5)
    return longest


async def measure(folder: Path, rows: int, method: str) -> dict[str, Any]:
    """The figures of a table of so many rows."""
    sample = api.write_sample(folder, rows=rows)
    text = sample.policy.read_text(encoding="utf-8")
    text = re.sub(r"^method: [a-z-]+", f"method: {method}", text, flags=re.MULTILINE)
    sample.policy.write_text(text, encoding="utf-8")
    session = Session(folder)
    found: dict[str, Any] = {"rows": rows, "method": method}
    try:
        await session.open(str(sample.table), sample.policy)
        await settled(session)
        while session.sampler.process_id is None or session.sampler.is_busy:
            await asyncio.sleep(0.05)
        if rows <= STEPPED:
            found["step_of_k"] = summary(*await steps_of_k(session))
            found["key_each_second"] = summary(*await keys(session))
            found["undo"] = summary(*await undo(session))
        found["moving_thumb"] = summary(*await thumb(session))
        found["longest_silence_of_the_page_ms"] = round(await answers(session), 1)
        began = time.perf_counter()
        await asyncio.to_thread(
            api.run, sample.table, sample.policy, folder / "out.csv", force=True
        )
        found["one_run_ms"] = round((time.perf_counter() - began) * 1000)
    finally:
        session.close()
    return found


def main() -> None:
    """Measure, print and keep the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000])
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    given = parser.parse_args()
    results = []
    for rows in given.rows:
        for method in METHODS:
            load = os.getloadavg()[0]
            with tempfile.TemporaryDirectory() as folder:
                found = asyncio.run(measure(Path(folder), rows, method))
            results.append(found | {"load": [round(load, 1), round(os.getloadavg()[0], 1)]})
            print(json.dumps(results[-1]), flush=True)
            kept = {"machine": {"cores": os.cpu_count()}, "results": results}
            given.output.write_text(json.dumps(kept, indent=2) + "\n")


if __name__ == "__main__":
    main()
