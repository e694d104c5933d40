"""What is published under several constraints: random tables through the whole pipeline."""

import json
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import Infeasible
from shoal.methods.constraints import Constraint, without_implied
from tests import naive_constraints as naive
from tests.constraints.tables import OTHERS, Released, released_tables, texts
from tests.examples import examples

FEW = examples(25)
SOME = settings(FEW, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
"""For what few tables show."""
FAMILY = [{"name": "classfly-plus", "variant": v} for v in ("naive", "complete", "partial")]
PARTITIONS = ["least-loss-partition", "flexible-partition", "mondrian", "bottom-up"]


def twin(one: Released) -> naive.Answer:
    method = one.policy["method"]
    if method["name"] == "datafly":
        return naive.datafly(one.trees, one.rows, one.constraints)
    return naive.classfly_plus(one.trees, one.rows, one.constraints, method["variant"])


def bytes_of(release: shoal.Release) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = release.table.to_pylist()
    return rows


@examples(30)
@given(one=released_tables())
def test_the_published_table_is_the_twins_cell_for_cell(one: Released) -> None:
    policy = one.policy | {"order": "kept", "suppressed": "starred"}
    if not one.feasible:
        with pytest.raises(Infeasible, match="largest k it allows is"):
            shoal.anonymize(one.table, policy)
        return
    made = shoal.anonymize(one.table, policy)
    answer = twin(one)
    assert texts(made.table) == one.expected(answer)
    everything = list(range(len(one.trees)))
    expected = naive.precision(one.trees, answer, everything)
    assert made.metrics["precision"] == pytest.approx(float(expected))


@examples(30)
@given(one=released_tables(), starred=st.booleans())
def test_every_constraint_is_met_by_an_independent_count(one: Released, starred: bool) -> None:
    assume(one.feasible)
    made = shoal.anonymize(
        one.table, one.policy | {"suppressed": "starred" if starred else "withheld"}
    )
    assert naive.broken(texts(made.table), one.named, OTHERS) == []
    assert made.verified
    # every row is published or suppressed; one of nothing but stars is both
    assert made.rows == len(one.rows)
    assert made.published_rows == made.table.num_rows
    there = sum(set(row.values()) == {naive.STAR} for row in texts(made.table))
    assert made.published_rows + made.suppressed_rows - there == made.rows
    answer = twin(one)
    gone = sum(set(row.values()) == {naive.STAR} for row in one.expected(answer))
    assert made.suppressed_rows == gone
    nowhere = sum(all(cell is None for cell in line) for line in answer)
    assert made.rows - made.published_rows == (0 if starred else nowhere)


@FEW
@given(one=released_tables())
def test_withheld_is_starred_without_the_starred_rows(one: Released) -> None:
    assume(one.feasible)
    withheld = shoal.anonymize(one.table, one.policy)
    starred = shoal.anonymize(one.table, one.policy, suppressed="starred")
    stars = dict.fromkeys(one.table.column_names, naive.STAR)
    # rows of nothing but stars that others need stay, and count as suppressed all the same
    needed = [row for row in texts(withheld.table) if row == stars]
    hidden = [stars] * (withheld.suppressed_rows - len(needed))
    assert starred.suppressed_rows == withheld.suppressed_rows
    assert texts(starred.table) == [*texts(withheld.table), *hidden]


@FEW
@given(one=released_tables())
def test_complete_equals_partial(one: Released) -> None:
    assume(one.feasible)
    complete, partial = (shoal.anonymize(one.table, one.policy, method=m) for m in FAMILY[1:])
    assert bytes_of(complete) == bytes_of(partial)
    assert complete.metrics == partial.metrics


@SOME
@given(one=released_tables())
def test_removing_an_implied_constraint_changes_nothing(one: Released) -> None:
    assume(one.feasible)
    asked = [Constraint(columns, k) for columns, k in one.constraints]
    kept, implied = without_implied(asked)
    assume(implied)
    fewer = [c for c, a in zip(one.policy["constraints"], asked, strict=True) if a in kept]
    made = shoal.anonymize(one.table, one.policy)
    assert bytes_of(shoal.anonymize(one.table, one.policy, constraints=fewer)) == bytes_of(made)
    assert [one.implied_by is not None for one in made.constraints] == [a in implied for a in asked]


@FEW
@given(one=released_tables(), seed=st.integers(0, 100))
def test_shuffled_rows_give_the_same_release(one: Released, seed: int) -> None:
    assume(one.feasible)
    order = np.random.default_rng(seed).permutation(len(one.rows))
    shuffled = one.table.take(pa.array(order))
    for how in ("withheld", "starred"):
        first = shoal.anonymize(one.table, one.policy, suppressed=how)
        second = shoal.anonymize(shuffled, one.policy, suppressed=how)
        assert bytes_of(first) == bytes_of(second)
        assert first.notes == second.notes


@pytest.mark.parametrize("method", PARTITIONS)
@examples(30)
@given(one=released_tables())
def test_partition_methods_meet_all_constraints_at_once(method: str, one: Released) -> None:
    policy = one.policy | {"method": method}
    if not one.feasible:
        with pytest.raises(Infeasible):
            shoal.anonymize(one.table, policy)
        return
    made = shoal.anonymize(one.table, policy)
    assert naive.broken(texts(made.table), one.named, OTHERS) == []
    every = Counter(
        tuple(row[name] for name in one.table.column_names[:-2]) for row in texts(made.table)
    )
    most = naive.largest_k(one.constraints)
    assert min(every.values()) >= most
    assert f"has at least {most} rows" in made.notes[0]
    (whole,) = made.components
    assert whole.constraints == tuple(range(len(one.constraints)))


@FEW
@given(one=released_tables())
def test_the_report_adds_up(one: Released) -> None:
    assume(one.feasible)
    made = shoal.anonymize(one.table, one.policy)
    answer = twin(one)
    places = {name: c for c, name in enumerate(one.table.column_names)}
    for name, column in made.columns.items():
        levels = Counter(line[places[name]][0] for line in answer if line[places[name]])  # type: ignore[index]
        assert column.levels == levels
        expected = naive.precision(one.trees, answer, [places[name]])
        assert column.precision == pytest.approx(float(expected))
    owned = [name for part in made.components for name in part.columns]
    assert sorted(owned) == sorted(made.columns)
    for part in made.components:
        columns = [places[name] for name in part.columns]
        starred = sum(all(line[c] is None for c in columns) for line in answer)
        assert part.suppressed_rows == starred
        assert part.precision == pytest.approx(float(naive.precision(one.trees, answer, columns)))
        for i in part.constraints:
            assert made.constraints[i].suppressed_rows == starred
    assert [(list(c.columns), c.k) for c in made.constraints] == one.named
    rows = texts(made.table)
    for constraint in made.constraints:
        home = next(p for p in made.components if set(constraint.columns) <= set(p.columns))
        hidden = (*home.columns, *OTHERS)
        counts: dict[tuple[str | None, ...], list[bool]] = {}
        for row in rows:
            exempt = all(row[name] == naive.STAR for name in hidden)
            counts.setdefault(tuple(row[n] for n in constraint.columns), []).append(exempt)
        seen = [len(exempt) for exempt in counts.values() if not all(exempt)]
        assert constraint.smallest == min(seen, default=None)
    said = made.to_dict()
    assert json.loads(json.dumps(said)) == json.loads(json.dumps(said, sort_keys=True))
    assert said["columns"].keys() == made.columns.keys()
    assert len(said["constraints"]) == len(one.constraints)
