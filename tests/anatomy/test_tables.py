"""The two tables: against the twin, with every method, whatever the table holds."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import shoal
from shoal.policy import Policy
from tests.anatomy.plain import Watched, people, policy, twin
from tests.examples import examples
from tests.releases import Fixed, every_method, shuffled, text_rows

SHOWN = ["age", "town", "ward"]
SECRET = ["ill", "pay"]


def texts(release: shoal.Release) -> tuple[Any, Any]:
    """Both tables of a release as text."""
    first = text_rows(release.table.select([*SHOWN, "group"]))
    return first, {name: text_rows(table) for name, table in release.sensitive_tables.items()}


@pytest.mark.parametrize("method", every_method())
def test_every_method_gives_what_the_twin_gives(method: dict[str, Any]) -> None:
    table = people(60)
    made = Policy.load(policy(method=method)).method
    watched = Watched(made, ([],))
    release = shoal.anonymize(table, policy(method=watched))
    assert texts(release) == twin(table, watched.seen[0], SHOWN, SECRET)
    assert release.table.column_names == ["age", "town", "ward", "group"]
    for name, found in release.sensitive_tables.items():
        assert found.column_names == ["group", name, "count"]
    assert release.verified
    assert release.groups == max(watched.seen[0]) + 1


@pytest.mark.parametrize("method", every_method())
def test_the_order_of_the_input_gives_nothing_away(method: dict[str, Any]) -> None:
    table = people(60)
    first = shoal.anonymize(table, policy(method=method))
    again = shoal.anonymize(shuffled(table, 3), policy(method=method))
    assert again.table.equals(first.table)
    assert again.sensitive_tables == first.sensitive_tables


def test_the_names_of_groups_and_their_making_give_nothing_away() -> None:
    table = people(12)
    groups = [i % 3 for i in range(12)]
    renamed = [(2, 0, 1)[g] for g in groups]
    releases = [
        shoal.anonymize(
            table, policy(constraints=[{"l": 1, "of": "ill"}], method=Fixed((tuple(g),)))
        )
        for g in (groups, renamed)
    ]
    assert texts(releases[0]) == texts(releases[1])


def test_a_sensitive_value_has_no_say_in_where_a_row_stands() -> None:
    """Swapped between two people of a group, values leave both tables as they were."""
    table = people(12)
    asked = policy(constraints=[{"l": 1, "of": "ill"}], method=Fixed(((0,) * 6 + (1,) * 6,)))
    ill = table["ill"].to_pylist()
    swapped = [*ill[5::-1], *ill[:5:-1]]
    assert swapped != ill
    other = table.set_column(1, "ill", pa.array(swapped))
    assert texts(shoal.anonymize(table, asked)) == texts(shoal.anonymize(other, asked))


cells = st.fixed_dictionaries(
    {
        "age": st.integers(9, 11),
        "ill": st.none() | st.sampled_from(["flu", "a*", "", "b"]),
        "town": st.none() | st.sampled_from(["*", "[1~2]", "é", "{a}"]),
        "ward": st.none() | st.sampled_from(["x", "y"]),
        "pay": st.none() | st.integers(1, 2),
    }
)
SCHEMA = pa.schema(
    {
        "age": pa.int64(),
        "ill": pa.string(),
        "town": pa.string(),
        "ward": pa.string(),
        "pay": pa.int64(),
    }
)


MISSING = {"age": 9, "ill": None, "town": None, "ward": None, "pay": None}
TWO_KINDS_OF_MISSING = [
    *[(MISSING, 0)] * 8,
    (MISSING | {"town": "*"}, 0),
    (MISSING | {"ill": "flu"}, 0),
    (MISSING | {"ill": ""}, 0),
]


@example(rows=TWO_KINDS_OF_MISSING, least=1)
@examples(20)
@given(
    rows=st.lists(st.tuples(cells, st.integers(-1, 3)), min_size=1, max_size=14),
    least=st.integers(1, 2),
)
def test_any_table_and_any_groups(rows: list[tuple[dict[str, Any], int]], least: int) -> None:
    table = pa.Table.from_pylist([row for row, _ in rows], SCHEMA)
    groups = [group for _, group in rows]
    if table["town"].null_count == len(rows):
        return  # refused, whatever is published
    asked = policy(constraints=[{"l": least, "of": "ill"}], method=Fixed((tuple(groups),)))
    inside: dict[int, set[str]] = {}
    for row, group in rows:
        inside.setdefault(group, set()).update({row["ill"]} - {None, ""})  # blank is missing
    inside.pop(-1, None)
    if not inside:
        with pytest.raises(shoal.Infeasible):
            shoal.anonymize(table, asked)
        return
    if min(map(len, inside.values())) < least:
        with pytest.raises(shoal.VerificationFailed):
            shoal.anonymize(table, asked)
        return
    release = shoal.anonymize(table, asked)
    assert texts(release) == twin(table, groups, SHOWN, SECRET)
    withheld = groups.count(-1)
    assert (release.published_rows, release.suppressed_rows) == (len(rows) - withheld, withheld)
    assert release.findings[0].reached == min(map(len, inside.values()))
    assert release.largest_share == pytest.approx(shares(rows))
    assert set(release.column_loss.values()) == {withheld / len(rows)}


def shares(rows: list[tuple[dict[str, Any], int]]) -> dict[str, float]:
    """The largest share of a value among the known ones of a group."""
    found = {}
    for name in SECRET:
        best = 0.0
        for group in {group for _, group in rows if group >= 0}:
            values = [row[name] for row, of in rows if of == group]
            real = Counter(value for value in values if value not in (None, "", "*"))
            best = max([best, *(n / real.total() for n in real.values())])
        found[name] = best
    return found


@examples(25)
@given(
    rows=st.lists(st.tuples(cells, st.integers(0, 2)), min_size=2, max_size=12),
    data=st.data(),
)
def test_any_order_of_any_table(
    rows: list[tuple[dict[str, Any], int]], data: st.DataObject
) -> None:
    # equal rows may go to either group, so they go to one
    rows = [(row, row["age"] - 9) for row, _ in rows]
    rows = [({**row, "ill": row["ill"] or "flu", "town": row["town"] or "*"}, g) for row, g in rows]
    moved = data.draw(st.permutations(rows))
    made = []
    for order in (rows, moved):
        names = sorted({g for _, g in order})
        groups = tuple(names.index(g) for _, g in order)
        asked = policy(constraints=[{"l": 1, "of": "pay"}], method=Fixed((groups,)))
        table = pa.Table.from_pylist([{**row, "pay": row["pay"] or 1} for row, _ in order], SCHEMA)
        made.append(shoal.anonymize(table, asked))
    assert made[0].table.equals(made[1].table)
    assert made[0].sensitive_tables == made[1].sensitive_tables


def test_values_are_published_as_they_are() -> None:
    table = pa.table({"code": ["*", "[1~2]", "a*", "\\"], "n": [1, 2, None, 4], "s": list("abcd")})
    columns = {"code": "quasi", "n": "quasi", "s": "sensitive"}
    asked = {"columns": columns, "constraints": [{"l": 4, "of": "s"}], "publish": "anatomy"}
    release = shoal.anonymize(table, asked)
    assert release.table.select(["code", "n"]).schema == table.select(["code", "n"]).schema
    assert sorted(release.table["code"].to_pylist()) == sorted(table["code"].to_pylist())
    assert release.table["group"].to_pylist() == [1] * 4


def test_numbers_that_are_none_and_zeros() -> None:
    """What reads alike is one value; not a number is a missing one."""
    nan = float("nan")
    table = pa.table({"q": [1, 1, 1, 1, 1, 1], "s": [0.0, -0.0, nan, None, 1.0, 2.5]})
    asked = {"columns": {"q": "quasi", "s": "sensitive"}, "constraints": [{"l": 3, "of": "s"}]}
    release = shoal.anonymize(table, asked, publish="anatomy")
    found = release.sensitive_tables["s"]
    assert found["count"].to_pylist() == [2, 1, 1, 2]
    assert found["s"].to_pylist()[1:3] == [1.0, 2.5]
    for seed in range(5):
        again = shoal.anonymize(shuffled(table, seed), asked, publish="anatomy")
        assert repr(again.sensitive_tables) == repr(release.sensitive_tables)


def test_the_report_says_what_is_and_is_not_protected() -> None:
    tree = {"mask": "right"}
    columns = {"zip": {"role": "quasi", "hierarchy": tree}, "s": "sensitive", "t": "plain"}
    table = pa.table({"zip": ["01", "02", "01", "02"], "s": list("aaab"), "t": [0, 0, 1, 1]})
    asked = {"columns": columns, "constraints": [{"l": 2, "of": "s"}], "publish": "anatomy"}
    release = shoal.anonymize(table, asked, target="s")
    assert release.largest_share == {"s": 0.75}
    assert release.column_loss == {"zip": 0.0}
    measured = {name: release.metrics[name] for name in ("precision", "mean-ncp", "groups", "cm")}
    assert measured == {"precision": 1.0, "mean-ncp": 0.0, "groups": 1.0, "cm": None}
    assert release.metrics["largest-group"] == 4.0
    assert shoal.anonymize(table, asked, target="t").metrics["cm"] == 2.0
    assert release.published_classes == 2
    assert release.columns["zip"].levels == {0: 4}
    said = " ".join(release.notes)
    for words in ("Xiao and Tao", "exact", "75.0 % for s", "1/l", "knows the values of others"):
        assert words in said
    assert not any("seed" in warning for warning in release.warnings)
    assert any("seed" in warning for warning in shoal.anonymize(table, asked, seed=8471).warnings)
    data = release.to_dict()
    assert (data["publish"], data["largest_share"]) == ("anatomy", {"s": 0.75})
    assert data["guarantees"][0]["columns"] == ("group",)


def test_people_ordered_by_their_values_are_noticed() -> None:
    table = pa.table({"age": [1, 2, 3, 4, 10], "ill": ["b", "a", "b", "a", "b"]})
    columns = {"age": "quasi", "ill": "sensitive"}
    asked = {"columns": columns, "constraints": [{"l": 2, "of": "ill"}], "publish": "anatomy"}
    release = shoal.anonymize(table, {**asked, "seed": 5})
    values = dict(zip(table["age"].to_pylist(), table["ill"].to_pylist(), strict=True))
    rows = sorted(
        release.table.to_pylist(), key=lambda row: (row["group"], values[row["age"]], -row["age"])
    )
    told = replace(release, table=pa.Table.from_pylist(rows))
    with pytest.raises(shoal.VerificationFailed, match="not sorted by group"):
        shoal.verify(told)
    assert shoal.verify(release).holds
