"""People are counted out of core as in memory: the same rows and findings, and counted plainly."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.files import LocalFiles, wrap
from shoal.engines.queries import PERSON, select
from shoal.engines.release_table import MemoryRelease
from shoal.engines.session_people import keep_people
from shoal.engines.session_release import SessionRelease
from shoal.engines.sessions import Session
from shoal.errors import Infeasible, InputError, PolicyError, VerificationFailed
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.verification.check import Finding
from tests.examples import examples
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.session_runs import run_in
from tests.out_of_core.test_session_release import ANY_MODEL, COLUMNS, ROWS, STARS
from tests.spark.cases import read_all, rows_of

METHODS: list[Any] = [
    "least-loss-partition",
    "flexible-partition",
    {"name": "flexible-partition", "dimension": "widest"},
    "mondrian",
    {"name": "mondrian", "strict": False},
    {"name": "k-clustering", "block_rows": 12},
    {"name": "top-down", "block_rows": 12},
]
MODELS: list[list[dict[str, Any]]] = [
    [{"k": 3}],
    [{"k": 2}, {"l": 2, "of": "ill"}],
    [{"k": 2}, {"alpha": 0.9, "of": "ill"}],
    [{"average-risk": 0.4}, {"k": 3, "on": ["age"]}],
    [{"k": 2}, {"t": 0.6, "of": "ill"}, {"beta": 5, "of": "ill"}],
]
ROLES: dict[str, Any] = {
    "id": "person",
    "age": "quasi",
    "town": {"role": "quasi", "kind": "unordered"},
    "ill": "sensitive",
    "paid": "plain",
    "row": "plain",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    made = DuckSession("500MB", tmp_path_factory.mktemp("rows"))
    yield made
    made.close()


def visits(draw: Random, rows: int, people: int, *, numbered: bool) -> pa.Table:
    """Visits of people whose ids are spelled in several ways; `numbered` tells all of them apart."""

    def spelled(person: int) -> str:
        return draw.choice([f"Pß{person}", f"pss{person}", f" PSS{person}\t", f"Ｐß{person}"])

    return pa.table(
        {
            "id": [spelled(draw.randrange(people)) for _ in range(rows)],
            "age": [draw.choice([None, 20, 30, 31, 47, 60]) for _ in range(rows)],
            "town": [draw.choice("abc") for _ in range(rows)],
            "ill": [draw.choice(["flu", "FLU", "cold", "HIV", "", None]) for _ in range(rows)],
            "paid": [draw.choice([0.0, -0.0, 1e20, 2.5]) for _ in range(rows)],
            "row": [i if numbered else i % 2 for i in range(rows)],
        }
    )


def folded(text: str) -> str:
    """Plainly what makes ids and spellings one."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def require_people(path: Path, table: pa.Table, models: list[dict[str, Any]]) -> None:
    """Count the people of every published class plainly; rows are known by their numbers."""
    ids = table["id"].to_pylist()
    classes: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    wanted = {name: figure for one in models for name, figure in one.items()}
    on = list(wanted.get("on", ["age", "town"]))
    for row in read_all(path).to_pylist():
        mine = classes[tuple(row[name] for name in on)]
        values = mine[folded(ids[int(row["row"])])]
        if row["ill"]:
            values.add(folded(row["ill"]))
    for people in classes.values():
        assert len(people) >= wanted["k"]
        known = [values for values in people.values() if values]
        for value in set().union(*known):
            having = sum(value in values for values in known)
            assert having <= wanted.get("alpha", 1) * len(known)
            assert len(people) - having >= wanted.get("l", 1) - 1
        assert len(set().union(*known)) >= wanted.get("l", 0)


@pytest.mark.parametrize("method", METHODS, ids=str)
@examples(6)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(6, 60),
    people=st.integers(2, 25),
    models=st.sampled_from(MODELS),
    numbered=st.booleans(),
    kind=st.sampled_from([".parquet", ".csv"]),
    fragment_rows=st.sampled_from([1, 10]),
)
def test_the_same_rows_and_findings_as_in_memory(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    method: Any,
    seed: int,
    rows: int,
    people: int,
    models: list[dict[str, Any]],
    numbered: bool,
    kind: str,
    fragment_rows: int,
) -> None:
    if isinstance(method, dict) and "block_rows" in method:  # rows suppressed there change others
        models = [one for one in models if not one.keys() & {"t", "beta"}]
    policy = Policy.load({"columns": ROLES, "constraints": models, "method": method, "seed": 3})
    table = visits(Random(seed), rows, people, numbered=numbered)
    folder = tmp_path_factory.mktemp("people")
    source, there, here = (folder / f"{name}{kind}" for name in ("in", "there", "here"))
    LocalFiles().write(table, source)
    try:
        memory = shoal.run(source, policy, here)
    except (Infeasible, InputError) as error:
        # no engine but this one knows the numbers of rows
        words = re.sub(r" \(data rows? [^)]*\)", "", str(error))
        with pytest.raises(type(error), match=re.escape(words)):
            run_in(session, source, policy, there, folders=False, fragment_rows=fragment_rows)
        assert not there.exists()
        return
    found = run_in(session, source, policy, there, folders=False, fragment_rows=fragment_rows)
    assert rows_of(read_all(there)) == rows_of(read_all(here))
    assert found.findings == memory.findings
    assert {finding.counted for finding in found.findings} == {"people"}
    assert (found.groups, found.published_classes) == (memory.groups, memory.published_classes)
    assert found.measured.people == memory.measured.people
    assert found.measured.suppressed_people == memory.measured.suppressed_people
    assert found.measured.group_people == memory.measured.group_people
    assert found.measured.merged_ids == memory.measured.merged_ids
    if numbered:
        require_people(there, table, models)


@examples(15)
@given(
    rows=st.lists(st.tuples(ROWS, st.integers(0, 5)), max_size=25),
    stars=st.integers(0, 3),
    models=st.lists(ANY_MODEL, min_size=1, max_size=4, unique_by=str),
    suppressed=st.sampled_from(["withheld", "starred"]),
    piece_rows=st.sampled_from([1, 4, 100]),
)
def test_any_release_is_judged_as_in_memory(
    session: Session,
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[dict[str, Any], int]],
    stars: int,
    models: list[dict[str, Any]],
    suppressed: str,
    piece_rows: int,
) -> None:
    columns = COLUMNS | {"id": "person"}
    policy = Policy.load({"columns": columns, "constraints": models, "suppressed": suppressed})
    every = [*rows, *[(STARS, 0)] * stars]
    kinds = {name: pa.float64() if name == "dose" else pa.string() for name in COLUMNS}
    table = pa.table({n: pa.array([row[n] for row, _ in every], kinds[n]) for n in COLUMNS})
    people = [number for _, number in every]
    release = MemoryRelease(wrap(table), people=np.array(people, np.int64))
    expected = release.verify(policy, survey=True)
    path = tmp_path_factory.getbasetemp() / "people.parquet"
    found = paired(session, table, people, path, piece_rows).verify(policy, survey=True)
    assert found.findings == expected.findings
    assert [str(f.reached) for f in found.findings] == [str(f.reached) for f in expected.findings]
    assert {finding.counted for finding in found.findings} == {"people"}
    assert found.strengths == expected.strengths


def paired(
    session: Session,
    table: pa.Table,
    people: list[int],
    path: Path,
    piece_rows: int = 3,
    released: pa.Table | None = None,
) -> SessionRelease:
    """A release in a session, whose rows are `released`, or the table's."""
    names = table.column_names
    pq.write_table(table.append_column("person", pa.array(people, pa.int64())), path)
    schema = session.read("with_people", [path], [*names, "person"], CsvOptions())
    places = [(f"p{i}", schema.types[i]) for i in range(len(names))]
    rows = select("with_people", [*(p for p, _ in places), f"p{len(names)} AS {PERSON}"])
    known = keep_people(session, "people", rows, places)
    pq.write_table(table if released is None else released, path)
    schema = session.read("release", [path], names, CsvOptions())
    return SessionRelease(session, "release", names, schema, piece_rows, known)


TWO = Policy.load({"columns": {"age": "quasi", "id": "person"}, "constraints": [{"k": 2}]})


def test_values_are_counted_in_people_for_the_report(tmp_path: Path) -> None:
    """40 people with two visits each; a value of most people is one of fewer than half of the rows."""
    ill = ["flu" if i % 2 else f"rare {i}" if i % 8 else None for i in range(80)]
    table = pa.table(
        {"id": [i // 2 for i in range(80)], "age": [20 + i // 40 for i in range(80)], "ill": ill}
    )
    pq.write_table(table, tmp_path / "in.parquet")
    roles = {"id": "person", "age": "quasi", "ill": "sensitive"}
    policy = Policy.load({"columns": roles, "constraints": [{"k": 5}], "method": "mondrian"})
    found = []
    for name, memory in (("one", None), ("other", "1GB")):
        folder = tmp_path / name
        folder.mkdir()
        shoal.run(
            tmp_path / "in.parquet",
            policy,
            folder / "out.parquet",
            report=folder / "out.json",
            memory=memory,
        )
        found.append(certificate_in(folder / "out.json"))
    for certificate in found:
        assert any(
            "100.0 % of all people have the value 'flu'" in w for w in certificate["warnings"]
        )
        bars = certificate["cost"]["columns"]["ill"]["distribution"]
        assert [(bar["label"], bar["before"]) for bar in bars] == [
            ("flu", 0.5),
            ("missing", 0.125),
            ("others", 0.375),
        ]
    assert found[1]["criteria"] is None  # not counted there, as docs/report.md says
    require_same(*({**certificate, "criteria": None} for certificate in found))


def test_spellings_of_a_number_are_different_classes(session: Session, tmp_path: Path) -> None:
    """39 and 39.0 are one number, but a reader tells them apart: nobody may stand in both."""
    table = pa.table({"age": ["39", "39", "39.0", "39.0"]})
    (finding,) = _findings(paired(session, table, [1, 1, 2, 3], tmp_path / "x.parquet"))
    assert (finding.classes, finding.failing, finding.reached, finding.rows) == (2, 1, 1, 4)
    assert finding.smallest_failing == 1


@pytest.mark.parametrize("released", [["a", "a", "b"], ["a", "a"], ["a", "a", "a", "b"], ["a"] * 3])
def test_a_release_of_other_rows_is_refused(
    session: Session, tmp_path: Path, released: list[str]
) -> None:
    table = pa.table({"age": ["a", "b", "b"]})
    release = paired(
        session, table, [1, 2, 3], tmp_path / "x.parquet", released=pa.table({"age": released})
    )
    with pytest.raises(VerificationFailed, match="does not have the very rows"):
        release.verify(TWO)


def _findings(release: SessionRelease) -> tuple[Finding, ...]:
    return release.verify(TWO).findings


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["a", None, " \u00a0", "b"], "2 of 4 rows have no id: whose they are is not known"),
        ([None, "", "\t", None], "all of its values are missing"),
        (["x", " X", "ｘ", "x"], "all 4 rows have the same id"),
    ],
)
@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_ids_that_tell_nobody_apart(
    session: Session, tmp_path: Path, ids: list[str | None], words: str, kind: str
) -> None:
    source = tmp_path / f"in{kind}"
    # a table of nothing but quasi-identifiers that are wrong too: the ids are looked at first
    LocalFiles().write(pa.table({"id": ids, "age": pa.nulls(4, pa.string())}), source)
    with pytest.raises(InputError, match=re.escape(words)):
        run_in(session, source, TWO, tmp_path / f"out{kind}", folders=False)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"method": "datafly"}, "method: datafly does not count the people of 'id' on tables"),
        (
            {"columns": {"age": "quasi", "id": {"role": "person", "together": True}}},
            "`together` of column 'id' protects all rows of a person at once, which is not supported",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    session: Session, tmp_path: Path, keys: dict[str, Any], words: str
) -> None:
    policy = TWO.replace_keys(**keys)
    LocalFiles().write(pa.table({"id": ["a", "b"], "age": ["1", "2"]}), tmp_path / "in.csv")
    with pytest.raises(PolicyError, match=words):
        run_in(session, tmp_path / "in.csv", policy, tmp_path / "out.csv", folders=False)


def test_classes_that_do_not_hold_are_settled_in_one_place(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups that share a label may break a model together; then all rows are grouped as in memory."""
    source, table = tmp_path / "in.parquet", visits(Random(2), 70, 30, numbered=True)
    LocalFiles().write(table, source)
    models = [{"k": 3}, {"l": 2, "of": "ill"}]
    policy = Policy.load({"columns": ROLES, "constraints": models, "seed": 3})
    shoal.run(source, policy, tmp_path / "here.parquet")
    monkeypatch.setattr("shoal.engines.relational.classes_hold", lambda *_: False)
    run_in(session, source, policy, tmp_path / "there.parquet", folders=False, fragment_rows=5)
    here, there = (rows_of(read_all(tmp_path / f"{name}.parquet")) for name in ("here", "there"))
    assert here == there
    require_people(tmp_path / "there.parquet", table, models)
    monkeypatch.setattr("shoal.engines.relational.MOST_SETTLED", 69)
    with pytest.raises(Infeasible, match="Groups with the same label are one class to a reader"):
        run_in(session, source, policy, tmp_path / "none.parquet", folders=False)
