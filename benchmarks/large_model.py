"""A small model of what a large run costs, from measured runs: start-up, cost per row, bytes per row.

    seconds(rows, machines) = start
                            + here x rows                              (the one who asks)
                            + work x rows / (machines x cores)         (CPU seconds of the executors)
                            + shuffled x rows / (machines x network)   (bytes between machines)

The first two do not shrink with more machines. Straight lines are put through the measured sizes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

CORES = 8
NETWORK = 1.25e9
"""Bytes a second that a machine sends: 10 Gbit/s."""
BUSY = 0.7
"""Share of the cores' time that goes into work: tasks end at different times."""
ASKED = ((10**9, 10), (10**9, 100), (10**10, 10), (10**10, 100))
EXECUTORS, HERE = ("executor", "python"), ("command", "driver")


def model_of(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The constants, the cross-over and the figures for more machines; what was not run is left out."""
    ways = {one["way"] for one in results}
    found: dict[str, Any] = {"assumed": {"cores": CORES, "network": NETWORK, "busy": BUSY}}
    for way in sorted(ways):
        own = [one for one in results if one["way"] == way]
        start, row = _line(own, lambda one: one["seconds"])
        found[way] = {"start_seconds": start, "seconds_per_million_rows": row * 1e6}
        found[way]["cpu_per_million_rows"] = _line(own, lambda one: one["cpu_seconds"])[1] * 1e6
    if "cluster" not in ways:
        return found
    own = [one for one in results if one["way"] == "cluster"]
    cluster = found["cluster"]
    cluster["work_per_million_rows"] = _line(own, lambda o: _cpu(o, EXECUTORS))[1] * 1e6
    cluster["here_per_million_rows"] = _line(own, lambda o: _cpu(o, HERE))[1] * 1e6
    cluster["shuffled_bytes_per_row"] = _line(own, lambda o: o["shuffle_bytes"])[1]
    found["machines"] = [
        {"rows": rows, "machines": machines, "seconds": _seconds(cluster, rows, machines)}
        for rows, machines in ASKED
    ]
    if "out of core" in ways:
        found["crossover_rows"] = {
            str(machines): _crossover(found["out of core"], cluster, machines)
            for machines in (1, 2, 4, 10)
        }
    return found


def told(model: Mapping[str, Any]) -> Iterator[str]:
    """The model in sentences."""
    for way, one in model.items():
        if isinstance(one, Mapping) and "start_seconds" in one:
            yield (
                f"{way}: {one['start_seconds']:.0f} s to start, then "
                f"{one['seconds_per_million_rows']:.1f} s and {one['cpu_per_million_rows']:.1f} CPU "
                "seconds a million rows"
            )
    for machines, rows in model.get("crossover_rows", {}).items():
        where = "never" if rows is None else f"from {rows:,.0f} rows on"
        yield f"{machines} machines of {CORES} cores beat one out of core {where}"
    for one in model.get("machines", ()):
        yield f"{one['rows']:.0e} rows on {one['machines']} machines: {one['seconds'] / 60:.0f} minutes"


def _seconds(cluster: Mapping[str, float], rows: float, machines: int) -> float:
    return cluster["start_seconds"] + rows * _per_row(cluster, machines)


def _per_row(cluster: Mapping[str, float], machines: int) -> float:
    work = cluster["work_per_million_rows"] / 1e6 / (machines * CORES * BUSY)
    moved = cluster["shuffled_bytes_per_row"] / (machines * NETWORK)
    return cluster["here_per_million_rows"] / 1e6 + work + moved


def _crossover(
    alone: Mapping[str, float], cluster: Mapping[str, float], machines: int
) -> float | None:
    """From how many rows on the cluster is quicker; the single machine is the one measured."""
    gain = alone["seconds_per_million_rows"] / 1e6 - _per_row(cluster, machines)
    late = cluster["start_seconds"] - alone["start_seconds"]
    return max(0.0, late) / gain if gain > 0 else None


def _cpu(one: Mapping[str, Any], roles: Sequence[str]) -> float:
    return sum(one["cpu_by_role"].get(role, 0.0) for role in roles)


def _line(results: Sequence[Mapping[str, Any]], value: Any) -> tuple[float, float]:
    """(at nought, per row) of the straight line through the runs."""
    rows = np.array([one["rows"] for one in results], np.float64)
    values = np.array([value(one) for one in results], np.float64)
    if len(set(rows)) < 2:
        return 0.0, float(values.mean() / rows.mean())
    slope, start = np.polyfit(rows, values, 1)
    return max(0.0, float(start)), float(slope)
