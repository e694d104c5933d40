"""A release in a session is judged as one in memory, class by class in any number of pieces."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import plugins
from shoal.arrays import Ints
from shoal.encoding.counts import Counts
from shoal.engines.capabilities import check_capabilities
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.files import wrap
from shoal.engines.release_table import MemoryRelease
from shoal.engines.session_release import ReadClasses, SessionRelease
from shoal.engines.sessions import Session
from shoal.errors import HierarchyError, InputError, PolicyError, VerificationFailed
from shoal.io.csv_dialect import CsvOptions
from shoal.models.base import Model
from shoal.policy import Policy
from shoal.verification.check import Finding, require
from tests.examples import examples

NAN = float("nan")
ILL = {
    "role": "sensitive",
    "hierarchy": {"tree": {"any": {"lung": ["flu", "cold"], "skin": ["rash"]}}},
}
COLUMNS: dict[str, Any] = {
    "age": "quasi",
    "town": "quasi",
    "sex": "quasi",
    "ill": ILL,
    "pay": {"role": "sensitive", "kind": "ordered"},
    "dose": {"role": "sensitive", "missing": []},
    "ward": "plain",
}
ANY_MODEL = st.sampled_from(
    [
        {"k": 2},
        {"k": 2, "on": ["age"]},
        {"k": 3, "on": ["sex", "town"]},
        {"l": 2, "of": "ill"},
        {"l": 2, "of": "dose"},
        {"alpha": 0.6, "of": "ill"},
        {"entropy-l": 1.5, "of": "pay"},
        {"recursive-l": 2, "c": 2, "of": "dose"},
        {"t": 0.3, "of": "ill"},
        {"t": 0.3, "of": "ill", "distance": "hierarchical"},
        {"t": 0.3, "of": "pay", "distance": "ordered"},
        {"beta": 1, "of": "ill"},
        {"beta": 1, "of": "dose", "enhanced": True},
        {"delta": 1, "of": "ill"},
        {"average-risk": 0.4},
    ]
)
LABELS = st.sampled_from(["[1~2]", "[3~4]", "*", None])
ROWS = st.fixed_dictionaries(
    {
        "age": LABELS,
        "town": LABELS,
        "sex": st.sampled_from(["f", "*"]),
        "ill": st.sampled_from(["flu", "cold", "rash", "*", None]),
        "pay": st.sampled_from(["1", "+1", "10", "9", "*", None]),
        "dose": st.sampled_from([0.0, -0.0, 1.5, NAN, None]),
        "ward": st.sampled_from(["A", "*", None]),
    }
)
STARS = {name: None if name == "dose" else "*" for name in COLUMNS}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = DuckSession("500MB", tmp_path_factory.mktemp("rows"))
    yield made
    made.close()


def verified(
    session: Session, table: pa.Table, policy: Policy, path: Path, piece_rows: int = 3
) -> tuple[Finding, ...]:
    pq.write_table(table, path)
    names = table.column_names
    schema = session.read("published", [path], names, CsvOptions())
    release = SessionRelease(session, "published", names, schema, piece_rows)
    return release.verify(policy).findings


@examples(25)
@given(
    rows=st.lists(ROWS, max_size=25),
    stars=st.integers(0, 3),
    models=st.lists(ANY_MODEL, min_size=1, max_size=4, unique_by=str),
    suppressed=st.sampled_from(["withheld", "starred"]),
    as_text=st.booleans(),
    piece_rows=st.sampled_from([1, 4, 100]),
)
def test_findings_are_those_of_memory(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    stars: int,
    models: list[dict[str, Any]],
    suppressed: str,
    as_text: bool,
    piece_rows: int,
) -> None:
    policy = Policy.load({"columns": COLUMNS, "constraints": models, "suppressed": suppressed})
    every = [*rows, *[STARS] * stars]
    texts_of = {
        name: pa.array([row[name] for row in every], pa.string())
        for name in COLUMNS
        if name != "dose"
    }
    dose = pa.array([row["dose"] for row in every], pa.float64())
    if as_text:  # as in a CSV file, where stars are possible too
        texts = [None if v is None else str(v) for v in dose.to_pylist()]
        dose = pa.array([*texts[: len(rows)], *["*"] * stars], pa.string())
    table = pa.table(texts_of | {"dose": dose}).select(list(COLUMNS))
    path = tmp_path_factory.getbasetemp() / "release.parquet"
    expected = MemoryRelease(wrap(table)).verify(policy).findings
    found = verified(session, table, policy, path, piece_rows)
    assert found == expected
    assert [str(one.reached) for one in found] == [str(one.reached) for one in expected]
    schema = session.read("again", [path], table.column_names, CsvOptions())
    release = SessionRelease(session, "again", table.column_names, schema, piece_rows)
    again = release.verify(policy, survey=True)
    assert again.findings == expected
    assert again.strengths == shoal.verify(table, policy).strengths


def released(**columns: Any) -> pa.Table:
    made = {"age": ["[1~2]"] * 4 + ["[3~4]"], "ill": ["flu", "cold", "flu", "rash", "flu"]}
    return pa.table(made | columns)


POLICY = Policy.load({"columns": {"age": "quasi", "ill": ILL}, "constraints": [{"k": 2}]})


def test_failing_classes_are_reported(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "release.parquet"
    findings = verified(session, released(), POLICY, path)
    with pytest.raises(VerificationFailed, match="1 of 2 published classes fall short"):
        require(findings)
    with pytest.raises(PolicyError, match="no column 'ill'"):
        verified(session, released().drop(["ill"]), POLICY, path)
    with pytest.raises(VerificationFailed, match="has the columns 'name'"):
        verified(session, released(name=["x"] * 5), POLICY, path)
    strange = POLICY.replace_keys(constraints=[{"l": 1, "of": "ill"}])
    with pytest.raises(
        HierarchyError, match="The release's column 'ill' holds values that have no"
    ):
        verified(session, released(ill=["what"] * 5), strange, path)


def test_values_that_appear_during_verification_are_refused() -> None:
    see = ReadClasses((("p0", pa.string()),), (), ((0, pa.array(["flu"])),), (), 1)
    batch = pa.RecordBatch.from_pydict({"p0": ["flu", "*", None]})
    assert see(batch).column("s0").to_pylist() == [0, -1, -1]
    with pytest.raises(InputError, match="changed while it was being verified"):
        see(pa.RecordBatch.from_pydict({"p0": ["flu", "cold"]}))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"order": "kept"}, "`order: kept` keeps the order"),
        ({"publish": "anatomy", "constraints": [{"l": 2, "of": "ill"}]}, "`publish: anatomy`"),
        ({"population": "people.csv", "constraints": [{"k-map": 2}]}, "k-map compares groups"),
        (
            {
                "columns": {
                    "age": "quasi",
                    "ill": ILL
                    | {"levels": {1: ["flu", "cold"], 3: ["rash"]}, "preference": "wish"},
                    "wish": "preference",
                },
            },
            "'ill' has a `preference`",
        ),
    ],
)
def test_unsupported_policies_are_refused(keys: dict[str, Any], words: str) -> None:
    policy = POLICY.replace_keys(**keys)
    with pytest.raises(PolicyError, match=words):
        check_capabilities("large", policy)
    check_capabilities("large", POLICY)


def test_models_of_a_whole_release_are_judged_from_its_classes_and_rows() -> None:
    for name, model in plugins.models().items():
        for each in model.examples():
            assert not each.release_wide or each.over(3, 9) is not None, name


@dataclass(frozen=True)
class Whim(Model):
    """A model that judges a release as a whole, and says no more."""

    whim: int = 1
    release_wide: ClassVar[bool] = True

    def strengths(self, counts: Counts) -> Ints:
        return counts.sizes


def test_a_model_that_cannot_be_checked_in_pieces_is_refused() -> None:
    policy = POLICY.model_copy(update={"constraints": (Whim(),)})
    with pytest.raises(PolicyError, match="judges the release as a whole"):
        check_capabilities("large", policy)


def test_columns_of_too_many_values_are_left_out_of_a_survey(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.session_release.MAX_VALUES", 1)
    path = tmp_path / "release.parquet"
    pq.write_table(released(), path)
    schema = session.read("many", [path], ["age", "ill"], CsvOptions())
    release = SessionRelease(session, "many", ["age", "ill"], schema)
    verdict = release.verify(POLICY, survey=True)
    assert [one.model for one in verdict.findings] == ["k"]
    assert [(one.model, one.of) for one in verdict.strengths] == [
        ("k", None),
        ("average-risk", None),
    ]
    guarded = POLICY.replace_keys(constraints=[{"l": 1, "of": "ill"}])
    with pytest.raises(InputError, match="'ill' has 3 distinct values"):
        release.verify(guarded, survey=True)


@pytest.mark.parametrize(
    ("first", "second", "reached"),
    [
        ([b"61", b"b", b"b"], [b"a", b"\xff", b"\xff"], 1),
        ([b"a", b"b", b"b"], [b"a", b"\xff", b"\xff"], 2),
        ([b"*", b"*", b"a"], [b"*", b"\xff", b"a"], 1),
        ([b"b'\\xff'", b"a"], [b"\xff", b"a"], 1),
    ],
)
def test_bytes_have_the_same_text_in_every_batch(
    session: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    first: list[bytes],
    second: list[bytes],
    reached: int,
) -> None:
    size = len(first)
    monkeypatch.setattr("shoal.engines.duckdb.session.BATCH", size)
    batches = []
    spell = ReadClasses.__call__

    def noted(see: ReadClasses, batch: pa.RecordBatch) -> pa.RecordBatch:
        batches.append(len(batch))
        return spell(see, batch)

    monkeypatch.setattr(ReadClasses, "__call__", noted)
    policy = Policy.load(
        {
            "columns": {"age": "quasi", "ill": "sensitive"},
            "constraints": [{"k": 2}, {"l": 1, "of": "ill"}, {"t": 0.5, "of": "ill"}],
            "suppressed": "starred",
        }
    )
    table = pa.table({"age": first + second, "ill": second + first})
    expected = MemoryRelease(wrap(table)).verify(policy).findings
    assert verified(session, table, policy, tmp_path / "release.parquet", 100) == expected
    assert batches == [size, size]
    assert expected[0].reached == reached
