"""A published file is believed only as far as it can be read: ours, tampered with, or anybody's."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import verify
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.verification.check import require

POLICY: dict[str, Any] = {
    "columns": {
        "name": "identifier",
        "age": "quasi",
        "town": "quasi",
        "ill": "sensitive",
        "wish": "preference",
        "ward": "plain",
    },
    "constraints": [{"k": 3}, {"l": 2, "of": "ill"}],
}
TABLE = pa.table(
    {
        "name": [f"SECRET-{i}" for i in range(30)],
        "age": [20 + i * 7 % 40 for i in range(30)],
        "town": [f"SECRET-town-{i % 4}" for i in range(30)],
        "ill": [f"SECRET-ill-{i % 5}" for i in range(30)],
        "wish": [i % 3 for i in range(30)],
        "ward": [f"SECRET-ward-{i}" for i in range(30)],
    }
)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    return shoal.anonymize(TABLE, POLICY).write(tmp_path / "release.csv")


def broken(path: Path, policy: Any = POLICY) -> str:
    with pytest.raises(VerificationFailed) as failed:
        require(verify(path, policy))
    assert failed.value.exit_code == 4
    assert "SECRET" not in str(failed.value), "no raw value in a message"
    return str(failed.value)


def test_our_own_release_holds(published: Path) -> None:
    found = verify(published, POLICY)
    assert all(finding.holds for finding in found)
    require(found)


def test_the_package_offers_it_as_a_function(published: Path) -> None:
    assert shoal.verify(published, POLICY).findings == verify(published, POLICY).findings


def test_a_row_too_few_is_noticed(published: Path) -> None:
    lines = published.read_text().splitlines(keepends=True)
    first = lines[1].rsplit(",", 2)[0]
    of_class = [line for line in lines[1:] if line.startswith(first)]
    kept = [line for line in lines if line not in of_class[2:]]
    published.write_text("".join(kept))
    assert "k = 3 was promised on age, town, but 1 of" in broken(published)


def test_a_label_changed_by_hand_is_noticed(published: Path) -> None:
    header, first, *others = published.read_text().splitlines(keepends=True)
    age = first.split(",")[0]
    published.write_text("".join([header, first.replace(age, "21", 1), *others]))
    assert "the smallest of them has 1 row" in broken(published)


def test_a_sensitive_value_changed_by_hand_is_noticed(published: Path) -> None:
    text = published.read_text()
    for i in range(1, 5):
        text = text.replace(f"SECRET-ill-{i}", "SECRET-ill-0")
    published.write_text(text)
    assert "l = 2 of ill was promised" in broken(published)


def test_starred_sensitive_values_count_for_nothing(published: Path) -> None:
    text = published.read_text()
    for i in range(5):
        text = text.replace(f"SECRET-ill-{i}", "*")
    published.write_text(text)
    assert "really holds l = 0 of ill" in broken(published)


@pytest.mark.parametrize("column", ["name", "wish"])
def test_a_column_that_must_not_be_published_is_refused(tmp_path: Path, column: str) -> None:
    release = shoal.anonymize(TABLE, POLICY).table
    leaking = release.append_column(column, TABLE[column].slice(0, release.num_rows))
    path = tmp_path / "leak.parquet"
    pq.write_table(leaking, path)
    assert f"the columns '{column}', which must not be published" in broken(path)


def test_a_release_without_a_promised_column_is_not_the_policys(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("age,town\n1,x\n1,x\n1,x\n")
    with pytest.raises(PolicyError, match=r"no column 'ill'.*Is this the policy it was made with"):
        verify(path, POLICY)


def test_plain_columns_may_be_left_out(published: Path) -> None:
    lines = [line.rsplit(",", 1)[0] for line in published.read_text().splitlines()]
    published.write_text("\n".join(lines) + "\n")
    require(verify(published, POLICY))


def test_a_foreign_file_is_judged_by_its_text(tmp_path: Path) -> None:
    path = tmp_path / "foreign.csv"
    rows = ["30-39;São Paulo;flu"] * 2 + ["30-39;São Paulo;gout"] + [";;flu"] * 2 + [";;gout"]
    path.write_bytes("\n".join(["age;town;ill", *rows, ""]).encode("cp1252"))
    k, diverse = verify(path, POLICY)
    assert (k.reached, k.classes, k.holds) == (3, 2, True)
    assert (diverse.reached, diverse.holds) == (2, True)
    stricter = {**POLICY, "constraints": [{"k": 4}]}
    assert "2 of 2 published classes fall short" in broken(path, stricter)


def test_nothing_and_an_empty_text_are_two_things(tmp_path: Path) -> None:
    path = tmp_path / "gaps.csv"
    path.write_text('age,town,ill\n1,,a\n1,,b\n1,"",c\n1,"",d\n')
    (k,) = verify(path, {**POLICY, "constraints": [{"k": 2}]})
    assert (k.classes, k.reached) == (2, 2)


def test_starred_rows_are_let_off_only_where_the_policy_says_so(tmp_path: Path) -> None:
    path = tmp_path / "starred.csv"
    path.write_text("age,town,ill\n" + "1,x,a\n1,x,b\n1,x,c\n" + "*,*,*\n")
    broken(path)
    require(verify(path, {**POLICY, "suppressed": "starred"}))
    path.write_text("age,town,ill\n" + "1,x,a\n1,x,b\n1,x,c\n" + "*,*,flu\n")
    broken(path, {**POLICY, "suppressed": "starred"})


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet", "arrow"])
def test_every_format_is_verified_alike(tmp_path: Path, ending: str) -> None:
    path = shoal.anonymize(TABLE, POLICY).write(tmp_path / f"release.{ending}")
    require(verify(path, POLICY))
    broken(path, {**POLICY, "constraints": [{"k": 29}]})


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        verify(tmp_path / "none.csv", POLICY)


def test_not_a_number_counts_towards_no_l(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 1], "town": ["x", "x"], "ill": [1.0, float("nan")]})
    path = tmp_path / "nan.parquet"
    pq.write_table(table, path)
    (diverse,) = verify(path, {**POLICY, "constraints": [{"l": 2, "of": "ill"}]})
    assert diverse.reached == 1


def test_a_release_without_rows_is_not_verified(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("age,ill\n")
    asked = {"columns": {"age": "quasi", "ill": "sensitive"}, "constraints": [{"k": 2}]}
    findings = shoal.verify(path, asked)
    assert findings[0].to_dict()["reached"] is None
    with pytest.raises(VerificationFailed, match="no rows in which a guarantee"):
        require(findings)
