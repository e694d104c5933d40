"""Minimality attacks: what somebody learns who runs the method again.

Wong, Fu, Wang and Pei, "Minimality attack in privacy preserving data publishing", 2007: a method that
looks at sensitive values and stops at the least change says something by what it did. The attacker has
the release and its policy, and knows the quasi-identifiers of all people. They try every assignment of
the published sensitive values to the people that the release allows, run the method on each, and keep
those that give this very release: with the seed, or without it over several seeds of their own.

A value is certain if all assignments that are left agree on it. `release` is what the release says by
itself, `seed known` and `seed unknown` what running the method adds. `best guess` is the mean chance
that the most likely value is right.
"""

import argparse
import json
import platform
import secrets
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal import plugins
from shoal.encoding.cells import encode
from shoal.encoding.grouping import spans_of
from shoal.engines.capabilities import check_method
from shoal.errors import Infeasible, PolicyError
from shoal.methods.blocks import group_rows
from shoal.models.requirement import Requirement
from shoal.policy import Policy
from shoal.publish.assemble import assemble
from shoal.publish.label_parser import parse_labels

HERE = Path(__file__).parent
VALUES = ("asthma", "flu", "gout")
Release = Counter[tuple[str | None, ...]]
"""Published rows, each with its labels and its sensitive value; how often each occurs."""


def policies(method: str) -> Iterator[Policy]:
    """Policies that a method may honour, the first it does is taken: with l, without hierarchies."""
    plain = {
        "age": {"role": "quasi", "kind": "ordered"},
        "zip": {"role": "quasi", "kind": "unordered"},
    }
    trees = {
        "age": {"role": "quasi", "hierarchy": {"intervals": [5, 10, 20]}},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
    }
    for columns in (plain, trees):
        for constraints in ([{"k": 2}, {"l": 2, "of": "ill"}], [{"l": 2, "of": "ill"}], [{"k": 2}]):
            yield Policy.load(
                {
                    "columns": {**columns, "ill": "sensitive"},
                    "constraints": constraints,
                    "method": method,
                }
            )


def policy_of(method: str) -> Policy:
    """The first policy that a method honours on a small table."""
    people = random_people(np.random.default_rng(0), 10)
    for policy in policies(method):
        try:
            check_method(policy)
            if run(policy, people, [VALUES[i % 3] for i in range(10)], 1) is not None:
                return policy
        except PolicyError:
            continue
    raise ValueError(f"no policy for {method}")


def random_people(rng: np.random.Generator, rows: int) -> dict[str, list[Any]]:
    """Quasi-identifiers; about a third of the people share them with somebody."""
    ages = rng.integers(20, 60, rows).tolist()
    zips = [f"{n:02}" for n in rng.integers(10, 40, rows)]
    for i in range(rows // 3):
        ages[2 * i + 1], zips[2 * i + 1] = ages[2 * i], zips[2 * i]
    return {"age": ages, "zip": zips}


def run(
    policy: Policy, people: dict[str, list[Any]], ill: Sequence[str], seed: int
) -> Release | None:
    """The release of a table; None where there is none."""
    table = pa.table({**people, "ill": list(ill)})
    quasi = {name: policy.column_spec(name) for name in policy.quasi}
    secret = {"ill": policy.column_spec("ill")}
    requirement = Requirement(policy.constraints, None)
    cells = encode(lambda n: table.column(n).combine_chunks(), quasi, secret, [], seed)
    try:
        groupings = group_rows(policy.method, cells, requirement, seed, lambda _: None)
    except Infeasible:
        return None
    spans = [spans_of(cells, grouping) for grouping in groupings]
    found = assemble(cells, groupings, spans, keep_order=False)
    labels = [found.labels[name].to_pylist() for name in policy.quasi]
    values = table.column("ill").take(pa.array(found.rows)).to_pylist()
    return Counter(zip(*labels, values, strict=True))


def fitting(policy: Policy, people: dict[str, list[Any]], release: Release) -> list[list[bool]]:
    """Which published row each person may be, by the labels alone."""
    rows = list(release.elements())
    good = np.ones((len(people["age"]), len(rows)), np.bool_)
    for j, name in enumerate(policy.quasi):
        texts = [str(value) for value in people[name]]
        distinct, labels = sorted(set(texts)), [row[j] for row in rows]
        reading = parse_labels(name, labels, distinct, policy.column_spec(name))
        good &= reading.covers()[[distinct.index(text) for text in texts]]
    return good.tolist()


def candidates(
    policy: Policy, people: dict[str, list[Any]], release: Release, most: int
) -> list[tuple[str, ...]] | None:
    """The assignments of values to people that the release allows; None where they are too many."""
    rows = list(release.elements())
    fits = fitting(policy, people, release)
    published = Counter(row[-1] for row in rows)
    n = len(people["age"])
    hidden = n - len(rows)
    found = []
    for ill in _assignments(published, n, hidden):
        if not _matches(ill, rows, fits):
            continue
        found.append(ill)
        if len(found) > most:
            return None
    return found


def _assignments(published: Counter[str], n: int, hidden: int) -> Iterator[tuple[str, ...]]:
    """Values for n people, among them the published ones; `hidden` people may have any."""
    if not n:
        yield ()
        return
    for value in VALUES:
        left, free = published.copy(), hidden
        if left[value]:
            left[value] -= 1
        elif free:
            free -= 1
        else:
            continue
        for rest in _assignments(left, n - 1, free):
            yield (value, *rest)


def _matches(ill: Sequence[str], rows: Sequence[tuple[Any, ...]], fits: list[list[bool]]) -> bool:
    """Whether every published row can be another person's."""
    taken: dict[int, int] = {}

    def place(row: int, tried: set[int]) -> bool:
        for person, value in enumerate(ill):
            if value != rows[row][-1] or not fits[person][row] or person in tried:
                continue
            tried.add(person)
            if person not in taken or place(taken[person], tried):
                taken[person] = row
                return True
        return False

    return all(place(row, set()) for row in range(len(rows)))


def judged(weights: dict[tuple[str, ...], int], n: int) -> tuple[int, float]:
    """Values that are certain, and the sum of the chances of the best guesses."""
    total, certain, guess = sum(weights.values()), 0, 0.0
    for person in range(n):
        shares = Counter[str]()
        for ill, weight in weights.items():
            shares[ill[person]] += weight
        most = max(shares.values()) / total
        certain, guess = certain + (most == 1), guess + most
    return certain, guess


def attack(method: str, given: argparse.Namespace) -> dict[str, Any]:
    """The attack on several random tables."""
    policy = policy_of(method)
    rng = np.random.default_rng(given.tables_seed)
    sums: dict[str, list[float]] = {
        name: [0, 0.0] for name in ("release", "seed_known", "seed_unknown")
    }
    done = skipped = tried = 0
    while done < given.tables and skipped < 20 * given.tables:
        people = random_people(rng, given.rows)
        truth = tuple(rng.choice(VALUES, given.rows, p=[0.4, 0.4, 0.2]).tolist())
        seed = 2**128 + int(rng.integers(2**62))
        release = run(policy, people, truth, seed)
        possible = None if release is None else candidates(policy, people, release, given.most)
        if possible is None or release is None:
            skipped += 1
            continue
        assert truth in possible
        own = [secrets.randbits(128) + 2**128 for _ in range(given.seeds)]
        known, unknown = {}, {}
        for ill in possible:
            known[ill] = int(run(policy, people, ill, seed) == release)
            unknown[ill] = sum(run(policy, people, ill, other) == release for other in own)
        tried += len(possible)
        assert known[truth]
        if not any(unknown.values()):  # none of their seeds gives it: nothing is learnt
            unknown = dict.fromkeys(possible, 1)
        for name, weights in (
            ("release", dict.fromkeys(possible, 1)),
            ("seed_known", known),
            ("seed_unknown", unknown),
        ):
            certain, guess = judged(weights, given.rows)
            sums[name][0] += certain
            sums[name][1] += guess
        done += 1
    values = done * given.rows
    return {
        "method": method,
        "constraints": [f"{m.name} = {m.figure:g}" for m in policy.constraints],
        "tables": done,
        "skipped": skipped,
        "values": values,
        "assignments_tried": tried,
        **{
            name: {"certain": int(certain), "best_guess": round(guess / max(1, values), 4)}
            for name, (certain, guess) in sums.items()
        },
    }


def show(results: Sequence[dict[str, Any]]) -> None:
    table = Table(title="Values made certain by running the method again, and the mean best guess")
    for heading in ("method", "constraints", "values", "release", "seed known", "seed unknown"):
        table.add_column(
            heading, justify="left" if heading in ("method", "constraints") else "right"
        )
    for one in results:
        figures = [
            f"{one[name]['certain']} ({one[name]['best_guess']:.0%})"
            for name in ("release", "seed_known", "seed_unknown")
        ]
        table.add_row(one["method"], ", ".join(one["constraints"]), str(one["values"]), *figures)
    Console(width=110).print(table)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=10)
    asked.add_argument("--tables", type=int, default=6)
    asked.add_argument("--tables-seed", type=int, default=1)
    asked.add_argument("--seeds", type=int, default=8, help="seeds that the attacker tries")
    asked.add_argument("--most", type=int, default=150, help="assignments of a table")
    asked.add_argument("--methods", nargs="+", default=None)
    asked.add_argument("--output", type=Path, default=HERE / "results" / "minimality.json")
    given = asked.parse_args()
    names = given.methods or list(plugins.methods())
    results = []
    for name in names:
        results.append(attack(name, given))
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    content = {
        "date": date.today().isoformat(),
        "version": shoal.__version__,
        "python": platform.python_version(),
        "rows": given.rows,
        "tables": given.tables,
        "seeds": given.seeds,
        "results": results,
    }
    given.output.write_text(json.dumps(content, indent=2) + "\n")
    show(results)


if __name__ == "__main__":
    main()
