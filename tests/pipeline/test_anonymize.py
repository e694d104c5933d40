"""Frames in, the same kind of frame out, with everything a publisher should know."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal.errors import InputError, PolicyError
from tests.releases import Fixed, text_rows

TABLE = pa.table(
    {
        "name": [f"n{i}" for i in range(40)],
        "age": [20 + i * 7 % 31 for i in range(40)],
        "town": [f"t{i % 3}" for i in range(40)],
        "ill": [f"i{i % 4}" for i in range(40)],
        "ward": pa.array([i % 5 for i in range(40)], pa.int16()),
    }
)
POLICY: dict[str, Any] = {
    "columns": {
        "name": "identifier",
        "age": "quasi",
        "town": "quasi",
        "ill": "sensitive",
        "ward": "plain",
    },
    "constraints": [{"k": 4}, {"l": 2, "of": "ill"}],
}


def test_every_kind_of_frame_gives_the_same_release() -> None:
    expected = text_rows(shoal.anonymize(TABLE, POLICY).table)
    pandas = shoal.anonymize(TABLE.to_pandas(), POLICY).table
    assert isinstance(pandas, pd.DataFrame)
    assert text_rows(pa.Table.from_pandas(pandas, preserve_index=False)) == expected
    polars = shoal.anonymize(pl.from_arrow(TABLE), POLICY).table
    assert isinstance(polars, pl.DataFrame)
    assert text_rows(polars.to_arrow()) == expected


def test_a_duckdb_relation_comes_back_as_one() -> None:
    relation = shoal.anonymize(duckdb.from_arrow(TABLE), POLICY).table
    assert isinstance(relation, duckdb.DuckDBPyRelation)
    assert text_rows(relation.to_arrow_table()) == text_rows(shoal.anonymize(TABLE, POLICY).table)


def test_files_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    TABLE.to_pandas().to_csv(path, index=False)
    released = shoal.anonymize(path, POLICY).table
    assert text_rows(released) == text_rows(shoal.anonymize(str(path), POLICY).table)
    assert released.num_rows == 40


def test_untouched_columns_keep_their_types() -> None:
    released = shoal.anonymize(TABLE, POLICY).table
    assert released.schema.field("ward").type == pa.int16()
    assert released.schema.field("age").type == pa.string()
    assert released.column_names == ["age", "town", "ill", "ward"]


def test_keywords_make_a_policy_or_change_one() -> None:
    by_words = shoal.anonymize(
        TABLE,
        quasi=["age", "town"],
        sensitive="ill",
        plain="ward",
        identifiers="name",
        k=4,
        l=2,
    )
    by_policy = shoal.anonymize(TABLE, POLICY)
    assert by_words.table.equals(by_policy.table)
    changed = shoal.anonymize(TABLE, POLICY, seed=9, method="mondrian")
    assert (changed.seed, changed.method) == (9, "mondrian")


def test_losing_nearly_all_is_worth_a_warning() -> None:
    release = shoal.anonymize(TABLE, POLICY, constraints=[{"k": 40}])
    assert any("Nearly all detail" in words for words in release.warnings)
    assert not any("detail" in words for words in shoal.anonymize(TABLE, POLICY).warnings)


def test_what_a_release_tells() -> None:
    release = shoal.anonymize(TABLE, {**POLICY, "target": "ward"})
    assert (release.rows, release.published_rows, release.suppressed_rows) == (40, 40, 0)
    assert release.verified
    assert release.method == "local-recoding"
    assert release.metrics["groups"] == release.groups
    assert release.metrics["cm"] is not None
    assert set(release.column_loss) == {"age", "town"}
    assert np.mean(list(release.column_loss.values())) == pytest.approx(release.metrics["mean-ncp"])
    assert set(release.seconds) >= {"encode", "group", "publish", "measure", "verify"}
    told = release.to_dict()
    for key in ("rows", "groups", "published_classes", "suppressed_rows", "method", "verified"):
        assert told[key] == getattr(release, key)
    assert told["guarantees"][0] | {"seconds": 0} == {
        "model": "k",
        "asked": 4,
        "reached": release.findings[0].reached,
        "columns": ("age", "town"),
        "of": None,
        "classes": release.published_classes,
        "failing": 0,
        "smallest_failing": None,
        "rows": 40,
        "counted": "rows",
        "options": {},
        "holds": True,
        "seconds": 0,
    }
    assert "40 of 40 rows" in repr(release)


def test_without_a_target_there_is_no_cm() -> None:
    assert shoal.anonymize(TABLE, POLICY).metrics["cm"] is None


def test_groups_that_read_alike_are_one_class() -> None:
    table = pa.table({"age": [1, 9, 1, 9, 5, 5]})
    release = shoal.anonymize(table, quasi="age", k=2, method=Fixed(((0, 0, 1, 1, 2, 2),)))
    assert (release.groups, release.published_classes) == (3, 2)
    assert release.findings[0].reached == 2


def test_progress_is_told_step_by_step() -> None:
    seen: list[tuple[str, float]] = []
    shoal.anonymize(TABLE, POLICY, progress=lambda event: seen.append((event.step, event.share)))
    steps = list(dict.fromkeys(step for step, _ in seen))
    assert steps == ["encode", "group", "refine", "publish", "measure", "verify", "truth"]
    assert all(0 <= share <= 1 for _, share in seen)


def test_warnings_and_notes() -> None:
    unguarded = shoal.anonymize(TABLE, {**POLICY, "constraints": [{"k": 4}]})
    assert any("sensitive column ill" in warning for warning in unguarded.warnings)
    several = [{"k": 4, "on": ["age"]}, {"k": 6, "on": ["town"]}]
    release = shoal.anonymize(TABLE, {**POLICY, "constraints": several})
    assert any("at least 6 rows" in note for note in release.notes)
    noted = shoal.anonymize(TABLE, {**POLICY, "method": Fixed(((0,) * 40,), notes=("all in one",))})
    assert "all in one" in noted.notes


def test_a_policy_for_another_table() -> None:
    with pytest.raises(PolicyError, match="also has shoe"):
        shoal.anonymize(TABLE.append_column("shoe", TABLE["ward"]), POLICY)
    with pytest.raises(PolicyError, match="no such column"):
        shoal.anonymize(TABLE.drop("town"), POLICY)
    dropped = shoal.anonymize(
        TABLE.append_column("shoe", TABLE["ward"]), {**POLICY, "default": "drop"}
    )
    assert "shoe" not in dropped.table.column_names


def test_an_all_missing_quasi_identifier_is_refused() -> None:
    for kind in (pa.null(), pa.string(), pa.float64()):
        table = TABLE.set_column(2, "town", pa.nulls(40, kind))
        with pytest.raises(InputError, match="'town' is a quasi-identifier but all of its values"):
            shoal.anonymize(table, POLICY)


def test_lists_and_structs_may_be_plain_but_nothing_else() -> None:
    lists = TABLE.set_column(4, "ward", pa.array([[i % 3] for i in range(40)]))
    released = shoal.anonymize(lists, POLICY).table
    assert released.schema.field("ward").type == pa.list_(pa.int64())
    for role in ("quasi", "sensitive"):
        columns = {**POLICY["columns"], "ward": role}
        with pytest.raises(InputError, match="'ward' has the type list"):
            shoal.anonymize(lists, {**POLICY, "columns": columns})


def test_views_of_text_are_texts() -> None:
    view = pa.array([f"w{i % 5}" for i in range(40)], pa.string_view())
    released = shoal.anonymize(TABLE.set_column(4, "ward", view), POLICY).table
    assert sorted(released["ward"].to_pylist()) == sorted(view.to_pylist())


def test_a_star_among_sensitive_values_is_refused() -> None:
    """Whoever reads a `*` could not tell it from a hidden value."""
    stars = TABLE.set_column(3, "ill", pa.array(["*", "flu"] * 20))
    with pytest.raises(shoal.InputError, match=r"'ill' is sensitive and reads '\*' in 20 rows"):
        shoal.anonymize(stars, POLICY)


@pytest.mark.parametrize("kind", [pa.timestamp("us", "UTC"), pa.time64("us")], ids=str)
def test_an_order_that_no_reader_could_find_again_is_refused(kind: pa.DataType) -> None:
    table = pa.table({"age": [1] * 8, "at": pa.array(range(8), pa.int64()).cast(kind)})
    columns = {"age": "quasi", "at": {"role": "sensitive", "kind": "ordered"}}
    asked = {"columns": columns, "constraints": [{"t": 1, "of": "at", "distance": "ordered"}]}
    with pytest.raises(shoal.InputError, match="cannot be recognised in a release"):
        shoal.anonymize(table, asked)


def test_not_a_number_among_sensitive_values_is_no_value() -> None:
    costs = pa.array([float("nan"), 1.0, 2.0, None] * 10)
    release = shoal.anonymize(TABLE.set_column(3, "ill", costs), POLICY)
    assert release.findings[1].reached == 2


@pytest.mark.parametrize("costs", [[float("nan"), None], [0.0, -0.0]], ids=["nan", "zero"])
def test_floats_that_count_as_one_leave_in_no_order_of_the_input(costs: list[float | None]) -> None:
    table = pa.table({"age": [1] * 20, "cost": pa.array(costs * 10)})
    first = shoal.anonymize(table, quasi="age", sensitive="cost", k=2).table
    turned = shoal.anonymize(
        table.take(pa.array(range(20)[::-1])), quasi="age", sensitive="cost", k=2
    )
    assert [repr(v) for v in first["cost"].to_pylist()] == [
        repr(v) for v in turned.table["cost"].to_pylist()
    ]
