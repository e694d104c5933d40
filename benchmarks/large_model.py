"""A small model of what a large run costs, from measured runs of several sizes.

    seconds(rows, machines) = start + asking(fragments)
                            + rows x (once + round x rounds) / (machines x cores x busy)
                            + rows x shuffled / (machines x network)

`rounds` are those of the top cuts, log2 of the number of fragments. `once` and `round` are CPU seconds
of executors, `asking` those of the one who asks, measured on a small table that is cut into as many
fragments as a large one: only the other two parts shrink with more machines.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil, log2
from typing import Any

import numpy as np

from shoal.engines.partition_tree import fragment_rows_for

CORES = 8
NETWORK = 1.25e9
"""Bytes a second that a machine sends: 10 Gbit/s."""
BUSY = 0.7
"""Share of the cores' time that goes into work: tasks end at different times."""
ASKED = ((10**9, 10), (10**9, 100), (10**10, 10), (10**10, 100))
FEW = (2, 4, 6, 8, 10, 20)
EXECUTORS, HERE = ("executor", "python"), ("command", "driver")
CLUSTER, FRAGMENTS = "cluster", "cluster, many fragments"
Run = Mapping[str, Any]


def model_of(results: Sequence[Run], cores: int) -> dict[str, Any]:
    """The constants, the cross-over and the figures for more machines; what was not run is left out.

    cores: of the machine that was measured. The cross-over is between one such machine that works out
    of core and a cluster of several such machines.
    """
    found: dict[str, Any] = {"assumed": {"cores": CORES, "network": NETWORK, "busy": BUSY}}
    for way in sorted({one["way"] for one in results} - {FRAGMENTS}):
        own = [one for one in results if one["way"] == way]
        found[way] = {
            name: _line(own, value)
            for name, value in (("seconds", _seconds), ("cpu_seconds", lambda o: o["cpu_seconds"]))
        }
    own = [one for one in results if one["way"] == CLUSTER]
    asking = [*own, *(one for one in results if one["way"] == FRAGMENTS)]
    if len(own) < 2 or len(asking) == len(own):
        return found
    here = [_cpu(one, HERE) for one in asking]
    per_fragment, start = np.polyfit([_fragments(one) for one in asking], here, 1)
    largest = own[-1]
    once = _line(own, lambda o: _work(o) * (1 - _cutting(o)))
    cluster = found[CLUSTER] | {
        "start_seconds": float(np.mean([one["steps"]["start"] for one in own])),
        "asking_seconds": {"at_nought": float(start), "per_fragment": float(per_fragment)},
        "once_per_million_rows": once["per_million_rows"],
        "round_per_million_rows": _work(largest)
        * _cutting(largest)
        / (rounds(largest["rows"]) * largest["rows"] / 1e6),
        "shuffled_bytes_per_row": largest["shuffle_bytes"] / largest["rows"],
    }
    found[CLUSTER] = cluster
    found["machines"] = [
        {"rows": rows, "machines": machines, **cost(cluster, rows, machines)}
        for rows, machines in ASKED
    ]
    if "out of core" in found:
        found["crossover_cores"] = cores
        found["crossover_rows"] = {
            str(n): _crossover(found["out of core"], cluster, n, cores) for n in FEW
        }
    return found


def rounds(rows: float) -> int:
    """Rounds of top cuts, where each halves."""
    return max(0, ceil(log2(rows / fragment_rows_for(int(rows)))))


def cost(
    cluster: Mapping[str, Any], rows: float, machines: int, cores: int = CORES
) -> dict[str, float]:
    """Seconds by the model, and the parts of them."""
    asking = cluster["asking_seconds"]
    work = cluster["once_per_million_rows"]
    work += cluster["round_per_million_rows"] * rounds(rows)
    parts = {
        "here_seconds": cluster["start_seconds"]
        + asking["at_nought"]
        + asking["per_fragment"] * 2 ** rounds(rows),
        "work_seconds": work * rows / 1e6 / (machines * cores * BUSY),
        "moving_seconds": cluster["shuffled_bytes_per_row"] * rows / (machines * NETWORK),
    }
    return {"seconds": sum(parts.values()), **parts}


def told(model: Mapping[str, Any]) -> Iterator[str]:
    """The model in sentences."""
    for way, one in model.items():
        if isinstance(one, Mapping) and "cpu_seconds" in one:
            wall, cpu = one["seconds"], one["cpu_seconds"]
            yield (
                f"{way}: {wall['at_nought']:.0f} s, then {wall['per_million_rows']:.1f} s and "
                f"{cpu['per_million_rows']:.1f} CPU seconds a million rows"
            )
    for machines, rows in model.get("crossover_rows", {}).items():
        where = "never" if rows is None else f"from {rows / 1e6:,.1f} million rows on"
        cores = model["crossover_cores"]
        yield f"{machines} machines of {cores} cores are quicker than one out of core: {where}"
    for one in model.get("machines", ()):
        yield (
            f"{one['rows'] / 1e9:.0f} billion rows on {one['machines']} machines: "
            f"{one['seconds'] / 60:.0f} minutes"
        )


def _crossover(
    alone: Mapping[str, Any], cluster: Mapping[str, Any], machines: int, cores: int
) -> float | None:
    """From how many rows on the cluster is quicker, if from any below a hundred billion."""
    line = alone["seconds"]
    for rows in np.geomspace(1e5, 1e11, 601).tolist():
        single = line["at_nought"] + line["per_million_rows"] * rows / 1e6
        if cost(cluster, rows, machines, cores)["seconds"] < single:
            return float(rows)
    return None


def _seconds(one: Run) -> float:
    return float(one["seconds"])


def _cpu(one: Run, roles: Sequence[str]) -> float:
    return float(sum(one["cpu_by_role"].get(role, 0.0) for role in roles))


def _work(one: Run) -> float:
    return _cpu(one, EXECUTORS)


def _cutting(one: Run) -> float:
    """Share of the run that the top cuts took: executors are as busy then as at other times."""
    steps = one["steps"]
    return float(steps["group"] / (sum(steps.values()) - steps["start"]))


def _fragments(one: Run) -> int:
    """How many parts the top cuts made, about."""
    return int(one.get("fragments") or 2 ** rounds(one["rows"]))


def _line(results: Sequence[Run], value: Callable[[Run], float]) -> dict[str, float]:
    """The straight line through the runs."""
    rows = np.array([one["rows"] for one in results], np.float64)
    values = np.array([value(one) for one in results], np.float64)
    if len(set(rows)) < 2:
        return {"at_nought": 0.0, "per_million_rows": float(values.mean() / rows.mean() * 1e6)}
    slope, start = np.polyfit(rows, values, 1)
    return {"at_nought": max(0.0, float(start)), "per_million_rows": float(slope) * 1e6}
