import os
import stat
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

import shoal
from shoal.engines.person_key import PersonKey, random_numbers
from tests.people.tables import POLICY, people_by_class, visits, without_person, written_rows

QUASI = ["age", "sex"]


@pytest.fixture(scope="module")
def release() -> Any:
    return shoal.anonymize(visits(), POLICY)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("key_ending", ["csv", "parquet", "arrow"])
def test_a_key_is_the_release_with_one_more_column(
    release: Any, tmp_path: Path, ending: str, key_ending: str
) -> None:
    path, key = tmp_path / f"out.{ending}", tmp_path / f"key.{key_ending}"
    release.write(path, key=key)
    if os.name == "posix":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.stat().st_mode) != 0o600
    if key_ending != "arrow":
        assert without_person(written_rows(key)) == without_person(written_rows(path))
        assert min(map(len, people_by_class(key, QUASI).values())) >= 5
    found = shoal.verify(path, POLICY, key=key)
    assert found.holds
    assert found.counted == "people"
    assert found.people == 60
    assert not found.notes
    assert not found.warnings
    assert found.findings == release.findings
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([path.name, key.name])


def test_without_a_key_rows_are_counted_and_it_is_said(release: Any, tmp_path: Path) -> None:
    release.write(tmp_path / "out.csv")
    found = shoal.verify(tmp_path / "out.csv", POLICY)
    assert found.counted == "rows"
    assert found.people is None
    assert "People are counted with the key" in found.notes[0]
    assert found.to_dict()["notes"] == list(found.notes)
    assert {one.counted for one in found} == {"rows"}
    assert "rows counted" in repr(found)


def test_a_release_counts_its_own_people(release: Any) -> None:
    assert shoal.verify(release).findings == release.findings
    assert shoal.verify(release).people == 60


def test_numbers_are_drawn_afresh_and_follow_no_id(release: Any, tmp_path: Path) -> None:
    seen = []
    for name in ("one.csv", "two.csv"):
        release.write_key(tmp_path / name)
        seen.append([row["person"] for row in written_rows(tmp_path / name)])
    assert seen[0] != seen[1]
    assert sorted(set(map(int, seen[0]))) == list(range(1, 61))
    other = shoal.anonymize(visits(), POLICY)
    assert list(other.key.people) != list(release.key.people)  # type: ignore[union-attr]


def test_a_column_called_person_keeps_its_name(tmp_path: Path) -> None:
    table = visits().rename_columns(["patient", "age", "sex", "illness", "person"])
    release = shoal.anonymize(
        table, person="patient", quasi=QUASI, sensitive="illness", plain="person", k=5
    )
    release.write(tmp_path / "out.csv", key=tmp_path / "key.csv")
    names = ["age", "sex", "illness", "person", "person_2"]
    assert list(written_rows(tmp_path / "key.csv")[0]) == names
    assert shoal.verify(release.table, release.policy, key=tmp_path / "key.csv").people == 60


def test_a_key_may_hold_labels_that_are_missing(tmp_path: Path) -> None:
    table = visits()
    sex = ["NA"] * 30 + table["sex"].to_pylist()[30:]
    table = table.set_column(table.column_names.index("sex"), "sex", pa.array(sex))
    csv.write_csv(table, tmp_path / "in.csv")
    policy = {
        "columns": {
            "patient": "person",
            "age": "quasi",
            "sex": {"role": "quasi", "missing": ["NA"]},
            "illness": {"role": "sensitive"},
            "ward": "plain",
        },
        "constraints": [{"k": 5}],
    }
    out, key = tmp_path / "out.csv", tmp_path / "key.parquet"
    release = shoal.run(tmp_path / "in.csv", policy, out, key=key)
    assert shoal.verify(out, policy, key=key).people == release.people


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_rows_are_matched_in_any_order(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    cells = st.sampled_from(["a", "b", "", None])
    rows = [(data.draw(cells), data.draw(st.integers(0, 2))) for _ in range(n)]
    people = [data.draw(st.integers(0, 3)) for _ in range(n)]
    table = pa.table({"x": pa.array([r[0] for r in rows], pa.string()), "y": [r[1] for r in rows]})
    key = PersonKey.of(table, random_numbers(pa.array(people).to_numpy()))
    order = data.draw(st.permutations(range(n)))
    found = key.people_of(table.take(pa.array(order))).tolist()
    wanted = key.people.tolist()
    # equal rows may change places: what must stay is which people have which rows
    assert sorted((str(rows[i]), p) for i, p in zip(order, found, strict=True)) == sorted(
        (str(row), p) for row, p in zip(rows, wanted, strict=True)
    )


def test_a_shuffled_release_fits_its_key(release: Any, tmp_path: Path) -> None:
    release.write_key(tmp_path / "key.parquet")
    order = sorted(range(len(release.table)), key=lambda i: (i * 7919) % 1009)
    found = shoal.verify(release.table.take(order), POLICY, key=tmp_path / "key.parquet")
    assert found.findings == release.findings


def test_a_key_may_be_a_frame(release: Any, tmp_path: Path) -> None:
    release.write_key(tmp_path / "key.parquet")
    key = pq.read_table(tmp_path / "key.parquet")
    assert shoal.verify(release.table, POLICY, key=key).people == 60


def test_numbers_may_be_spelled_otherwise_in_another_format(tmp_path: Path) -> None:
    table = visits().append_column("weight", pa.array([float(i % 7) for i in range(len(visits()))]))
    policy = {**POLICY, "columns": {**POLICY["columns"], "weight": "plain"}}
    release = shoal.anonymize(table, policy)
    release.write(tmp_path / "out.csv", key=tmp_path / "key.parquet")
    assert "3.0" in {row["weight"] for row in written_rows(tmp_path / "out.csv")}
    assert shoal.verify(tmp_path / "out.csv", policy, key=tmp_path / "key.parquet").people == 60


def test_a_key_that_others_can_read_is_warned_of(release: Any, tmp_path: Path) -> None:
    if os.name != "posix":
        pytest.skip("only POSIX files have such permissions")
    key = release.write_key(tmp_path / "key.csv")
    key.chmod(0o640)
    (warning,) = shoal.verify(release.table, POLICY, key=key).warnings
    assert "mode 640" in warning
    assert f"chmod 600 {key}" in warning


def refused(work: Any) -> str:
    with pytest.raises(shoal.ShoalError) as caught:
        work()
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_key_of_another_release_is_refused(release: Any, tmp_path: Path) -> None:
    other = shoal.anonymize(visits(seed=2), POLICY)
    key = other.write_key(tmp_path / "key.csv")
    message = refused(lambda: shoal.verify(release.table, POLICY, key=key))
    assert message.startswith("The key does not fit this release: the key was made for other rows.")


def test_a_table_that_is_no_key_is_refused(release: Any) -> None:
    for columns, words in ((["age", "sex"], "lacks 'illness', 'ward'"), (None, "has 0 more")):
        rows = release.table if columns is None else release.table.select(columns)
        message = refused(lambda rows=rows: shoal.verify(release.table, POLICY, key=rows))
        assert words in message
    holes = release.table.append_column("person", pa.array([None] * len(release.table), pa.int64()))
    message = refused(lambda: shoal.verify(release.table, POLICY, key=holes))
    assert "rows of the key have no person" in message
    blank = release.table.append_column("person", pa.array([" "] * len(release.table)))
    message = refused(lambda: shoal.verify(release.table, POLICY, key=blank))
    assert "rows of the key have no person" in message


def test_a_person_of_a_key_may_be_spelled_otherwise(release: Any, tmp_path: Path) -> None:
    release.write(tmp_path / "out.csv", key=tmp_path / "key.csv")
    key = pd.read_csv(tmp_path / "key.csv", dtype=str, keep_default_na=False)
    key["person"] = [f"{one}.0" if i % 2 else f" {one}" for i, one in enumerate(key["person"])]
    key.to_csv(tmp_path / "other.csv", index=False)
    (tmp_path / "other.csv").chmod(0o600)
    for memory in (None, "200MB"):
        key_of_another_program = tmp_path / "other.csv"
        found = shoal.verify(
            tmp_path / "out.csv", POLICY, key=key_of_another_program, memory=memory
        )
        assert found.people == 60
        assert found.findings == release.findings


def test_a_key_needs_a_person_column(release: Any, tmp_path: Path) -> None:
    plain = {**POLICY, "columns": {**POLICY["columns"], "patient": "identifier"}}
    key = release.write_key(tmp_path / "key.csv")
    assert "no column of the policy has the role person" in refused(
        lambda: shoal.verify(release.table, plain, key=key)
    )
    source = tmp_path / "in.parquet"
    pq.write_table(visits(), source)
    target = tmp_path / "out.csv"
    assert "no column of the policy has the role person" in refused(
        lambda: shoal.run(source, plain, target, key=tmp_path / "new.csv")
    )
    assert not target.exists()


def test_a_key_is_never_written_over_another_file(tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.csv"
    pq.write_table(visits(), source)
    there = tmp_path / "key.csv"
    there.write_text("mine")
    for key, words in (
        (there, "exists already. Pass --force"),
        (target, "is named for two files of this run"),
        (source, "is the input itself"),
        (tmp_path / "key.docx", "the extension '.docx' is unknown"),
    ):
        force = key in (source, target)
        message = refused(
            lambda key=key, force=force: shoal.run(source, POLICY, target, key=key, force=force)
        )
        assert words in message
        assert not target.exists()
    assert there.read_text() == "mine"
    shoal.run(source, POLICY, target, key=there, force=True)
    if os.name == "posix":
        assert stat.S_IMODE(there.stat().st_mode) == 0o600


def test_release_and_key_appear_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines.memory import MemoryEngine

    def fails(*_: Any) -> None:
        raise OSError("the disk is full")

    source = tmp_path / "in.parquet"
    pq.write_table(visits(), source)
    monkeypatch.setattr(MemoryEngine, "write_key", fails)
    with pytest.raises(OSError, match="disk"):
        shoal.run(source, POLICY, tmp_path / "out.csv", key=tmp_path / "key.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_a_table_that_was_changed_is_not_written(tmp_path: Path) -> None:
    import pandas as pd

    release = shoal.anonymize(visits().to_pandas(), POLICY)
    assert isinstance(release.table, pd.DataFrame)
    release.table.loc[0, "ward"] = "Z"
    with pytest.raises(shoal.VerificationFailed, match="not what was verified"):
        release.write(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_rows_that_were_sorted_again_keep_their_people(tmp_path: Path) -> None:
    release = shoal.anonymize(visits().to_pandas(), POLICY)
    ordered = release.table.sort_values("illness")
    for name in ordered:  # in place, as somebody may do it
        release.table[name] = ordered[name].to_numpy()
    release.write(tmp_path / "out.csv", key=tmp_path / "key.csv")
    assert min(map(len, people_by_class(tmp_path / "key.csv", QUASI).values())) >= 5
    found = shoal.verify(tmp_path / "out.csv", POLICY, key=tmp_path / "key.csv")
    assert found.findings == release.findings


def test_a_value_that_is_a_columns_name_is_no_question_of_a_release(tmp_path: Path) -> None:
    table = visits()
    sex = pa.array(["sex" if value == "f" else "other" for value in table["sex"].to_pylist()])
    table = table.set_column(table.column_names.index("sex"), "sex", sex)
    csv.write_csv(table, tmp_path / "in.csv")
    with pytest.raises(shoal.InputError, match="the first line looks like data"):
        shoal.draft_policy(tmp_path / "in.csv")
    draft = shoal.draft_policy(tmp_path / "in.csv", read={"header": True})
    assert "read: {header: true}" in draft.text
    draft.decided("quasi").write(tmp_path / "policy.yaml")
    out, key = tmp_path / "out.csv", tmp_path / "key.csv"
    release = shoal.run(tmp_path / "in.csv", tmp_path / "policy.yaml", out, key=key)
    found = shoal.verify(out, tmp_path / "policy.yaml", key=key)
    assert found.holds
    assert found.people == release.people
    known = shoal.attack(out, tmp_path / "policy.yaml", known=table, key=key)
    assert known.people == release.people
