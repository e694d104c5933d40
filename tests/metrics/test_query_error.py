"""Query error: the answers against a plain twin, the queries themselves, and a case by hand."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import shoal
from shoal.encoding.domain import Domain, Kind
from shoal.metrics.query_error import Query, QueryError, draw, reader_of, true_count
from tests import naive
from tests import naive_metrics as plain
from tests.coded import coded
from tests.examples import examples
from tests.metrics.columns import tree_of_four
from tests.metrics.random_releases import Both, both, releases
from tests.releases import shuffled


def as_plain(query: Query, domains: tuple[Domain, ...]) -> list[plain.Ask]:
    found: list[plain.Ask] = []
    for ask in query:
        ends = (ask.begin, ask.end) if domains[ask.column].kind == Kind.RANGE else None
        found.append((ask.column, set(np.flatnonzero(ask.codes).tolist()), ends))
    return found


@examples(20)
@given(
    releases(), st.integers(1, 4), st.sampled_from([0.01, 0.1, 0.5, 0.9, 1.0]), st.integers(0, 9)
)
def test_it_equals_the_twins(one: Both, columns: int, selectivity: float, seed: int) -> None:
    metric = QueryError(queries=7, columns=columns, selectivity=selectivity, seed=seed)
    domains = one.parts.cells.domains
    queries = [
        as_plain(draw(domains, columns, selectivity, seed, number), domains) for number in range(7)
    ]
    gone = one.parts.suppressed.tolist()
    expected = plain.query_error(one.columns, one.release, gone, queries)
    assert metric.measure(one.parts) == pytest.approx(expected, abs=1e-12)


@examples(20)
@given(releases(), st.integers(1, 5), st.floats(0.001, 1.0), st.integers(0, 99))
def test_queries_ask_for_known_values_in_about_the_share_asked(
    one: Both, columns: int, selectivity: float, number: int
) -> None:
    domains = one.parts.cells.domains
    query = draw(domains, columns, selectivity, 3, number)
    chosen = [ask.column for ask in query]
    assert len(chosen) == min(columns, len(domains))
    assert chosen == sorted(set(chosen))
    share = selectivity ** (1 / len(chosen))
    for ask in query:
        domain, column = domains[ask.column], one.columns[ask.column]
        known = [code for code in range(domain.size) if code != domain.missing]
        asked = np.flatnonzero(ask.codes).tolist()
        assert set(asked) <= set(known)
        if domain.kind == Kind.SET:
            assert len(asked) == max(1, round(share * len(known)))
            continue
        units = column["units"]
        width = units[known[-1]] + 1
        assert 0 <= ask.begin <= ask.end < width
        assert ask.end - ask.begin + 1 == max(1, round(share * width))
        assert asked == [code for code in known if ask.begin <= units[code] <= ask.end]


def test_by_hand() -> None:
    # ages 1, 2, 3, 4 and towns a, a, b, b; all four rows in one group
    age = Domain("age", Kind.RANGE, pa.array(list("1234")), -1, np.arange(4))
    town = Domain("town", Kind.SET, pa.array(["a", "b"]), -1)
    pairs = [(age, naive.range_column([0, 1, 2, 3])), (town, naive.set_column(2))]
    table = coded([(0, 0), (1, 0), (2, 1), (3, 1)], pairs)
    one = both(table, [[0, 0, 0, 0]], [(0, 1)], [None])
    cells, reader = one.parts.cells, reader_of(one.parts)
    codes = np.ascontiguousarray(cells.codes.T)
    errors: list[float] = []
    for number in range(20):
        query = draw(cells.domains, 2, 0.25, 0, number)
        # half of each column: two ages, one town; the release says 4 * 2/4 * 1/2 whatever they are
        assert reader.count(query) == 1
        ages, towns = (np.flatnonzero(ask.codes).tolist() for ask in query)
        truth = sum(a in ages and t in towns for a, t in table.rows)
        assert true_count(codes, cells.counts, query) == truth
        error = QueryError(queries=number + 1, columns=2, selectivity=0.25).measure(one.parts)
        errors.append(error * (number + 1) - sum(errors))
        # {1, 2} and a: 2 rows, so 1/2; {2, 3}: 1 row, so 0; {1, 2} and b: none, so 1 over 1 row
        assert errors[-1] == pytest.approx({2: 0.5, 1: 0.0, 0: 1.0}[truth], abs=1e-9)


def test_withheld_rows_are_not_found_and_starred_cells_are_spread_over_the_column() -> None:
    table = coded([(0,), (1,), (2,), (3,)], [tree_of_four()])
    gone = both(table, [[0, 0, -1, -1]], [(0,)], [None])
    everything = draw(table.cells.domains, 1, 1.0, 0, 0)
    assert reader_of(gone.parts).count(everything) == 2
    assert QueryError(queries=5, columns=1, selectivity=1.0).measure(gone.parts) == (4 - 2) / 4


TABLE = pa.table(
    {
        "age": [20 + i * 7 % 31 for i in range(60)],
        "town": [f"t{i % 5}" for i in range(60)],
        "ill": [f"i{i % 4}" for i in range(60)],
    }
)
ASKED = {
    "columns": {"age": "quasi", "town": "quasi", "ill": "sensitive"},
    "constraints": [{"k": 6}],
    "metrics": [{"name": "query-error", "queries": 50, "seed": 4}],
}


def test_the_same_seed_asks_the_same_on_any_row_order_and_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = shoal.anonymize(TABLE, ASKED).metrics["query-error"]
    assert found
    monkeypatch.setenv("SHOAL_THREADS", "1")
    assert shoal.anonymize(shuffled(TABLE, 5), ASKED).metrics["query-error"] == found
    other = {**ASKED, "metrics": [{"name": "query-error", "queries": 50, "seed": 5}]}
    assert shoal.anonymize(TABLE, other).metrics["query-error"] != found


def test_a_raw_table_answers_exactly() -> None:
    raw = {**ASKED, "constraints": [{"k": 1}], "method": "mondrian"}
    found = shoal.anonymize(TABLE, raw)
    assert found.metrics["mean-ncp"] == 0
    assert found.metrics["query-error"] == 0


@pytest.mark.parametrize(
    "wrong",
    [{"queries": 0}, {"columns": 0}, {"selectivity": 0}, {"selectivity": 1.1}, {"seed": -1}],
)
def test_options_out_of_bounds_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        QueryError(**wrong)
