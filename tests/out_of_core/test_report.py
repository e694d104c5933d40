"""Reports of releases that no memory holds: when they appear, and how they are checked."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.drawing.page import can_draw
from shoal.engines.duckdb.session import DuckSession
from shoal.engines.release_table import MemoryRelease
from shoal.engines.session_release import SessionRelease
from shoal.errors import Infeasible, InputError
from shoal.io.csv_dialect import CsvOptions
from shoal.policy import Policy
from shoal.report.certificate import SEAL, seal_of
from shoal.report.certificate_check import differences, differences_of, read_certificate
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.patients import COLUMNS, patients
from tests.out_of_core.test_run import policy_of

NAME = "incognito"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("report")
    table = patients(700)
    coded = table["ward"].combine_chunks().dictionary_encode()
    table = table.set_column(table.column_names.index("ward"), "ward", coded)
    pq.write_table(table, made / "in.parquet")
    csv.write_csv(patients(700), made / "in.csv")
    for kind in ("parquet", "csv"):
        for place, more in (("one", {}), ("other", {"memory": "1GB"})):
            (made / place).mkdir(exist_ok=True)  # a certificate names the file of its release
            shoal.run(
                made / f"in.{kind}",
                policy_of(NAME),
                made / place / f"release.{kind}",
                report=made / f"{place}-{kind}.json",
                **more,  # type: ignore[arg-type]
            )
    return made


@pytest.fixture
def session() -> Iterator[DuckSession]:
    made = DuckSession("1GB")
    yield made
    made.close()


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_same_from_every_kind_of_file(folder: Path, kind: str) -> None:
    require_same(*(certificate_in(folder / f"{place}-{kind}.json") for place in ("one", "other")))


def test_the_certificate_names_the_engine(folder: Path) -> None:
    told = json.loads((folder / "other-csv.json").read_text())
    assert told["environment"]["engine"] == "local --memory 1GB"
    assert any(
        "RELEASE --memory 1GB --seed-file SEED --report" in line for line in told["reproduce"]
    )
    assert told["seal"] == seal_of(told)
    told = json.loads((folder / "one-csv.json").read_text())
    assert told["environment"]["engine"] == "local"


def _both(
    session: DuckSession, folder: Path, file: str, told: dict[str, Any]
) -> tuple[list[str], list[str]]:
    """What differs, by a file in memory and in a session."""
    policy, path = policy_of(NAME), folder / file
    findings = MemoryRelease(path).verify(policy).findings
    names = pq.read_schema(path).names
    schema = session.read("release", [path], names, CsvOptions())
    release = SessionRelease(session, "release", names, schema)
    assert release.verify(policy).findings == findings
    here = differences(told, policy, path, {}, findings, CsvOptions())
    return here, differences_of(told, policy, release, findings)


def test_a_certificate_fits_in_a_session_as_in_memory(session: DuckSession, folder: Path) -> None:
    for place in ("one", "other"):
        told = read_certificate(folder / f"{place}-parquet.json")
        assert _both(session, folder, "other/release.parquet", told) == ([], [])


@pytest.mark.parametrize("change", ["cell", "row", "column", "risk"])
def test_a_changed_release_is_detected(session: DuckSession, folder: Path, change: str) -> None:
    told, table = (
        read_certificate(folder / "other-parquet.json"),
        pq.read_table(folder / "one" / "release.parquet"),
    )
    if change == "cell":
        paid = pa.concat_arrays([pa.array([-1.0]), table["paid"].combine_chunks()[1:]])
        table = table.set_column(table.column_names.index("paid"), "paid", paid)
    elif change == "row":
        table = pa.concat_tables([table, table.slice(0, 1)])
    elif change == "column":
        table = table.select(table.column_names[::-1])
    else:
        told["risk"]["after"]["prosecutor"]["highest"] = 0.001
        told[SEAL] = seal_of(told)
    pq.write_table(table, folder / "changed.parquet")
    here, there = _both(session, folder, "changed.parquet", told)
    assert there == here != []


def test_a_page_is_written_without_collecting_rows(folder: Path, tmp_path: Path) -> None:
    if not can_draw():
        pytest.skip("what draws charts is not installed")
    release = shoal.run(
        folder / "in.csv",
        policy_of("least-loss, l"),
        tmp_path / "out.csv",
        report=tmp_path / "report.html",
        memory="1GB",
    )
    assert "report" in release.seconds
    assert (tmp_path / "report.html").read_text(encoding="utf-8").count("<svg") > 3
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "out.csv",
        "report.html",
        "report.json",
    ]
    for call in (release.report, release.write):
        with pytest.raises(InputError, match="files that the run wrote"):
            call(tmp_path / "late.json" if call == release.report else tmp_path / "late.csv")
    assert not list(tmp_path.glob("late*"))


def test_no_evidence_without_a_report(folder: Path, tmp_path: Path) -> None:
    release = shoal.run(folder / "in.csv", policy_of(NAME), tmp_path / "out.csv", memory="1GB")
    assert release.evidence.columns == {}


def test_no_report_without_a_release(folder: Path, tmp_path: Path) -> None:
    policy = Policy.load({"columns": COLUMNS, "constraints": [{"k": 900}]})
    with pytest.raises(Infeasible):
        shoal.run(
            folder / "in.csv",
            policy,
            tmp_path / "out.csv",
            report=tmp_path / "r.json",
            memory="1GB",
        )
    (tmp_path / "r.json").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        shoal.run(
            folder / "in.csv",
            policy_of(NAME),
            tmp_path / "out.csv",
            report=tmp_path / "r.json",
            memory="1GB",
        )
    with pytest.raises(InputError, match=r"\.html"):
        shoal.run(
            folder / "in.csv", policy_of(NAME), tmp_path / "out.csv", report="r.pdf", memory="1GB"
        )
    assert [file.name for file in tmp_path.iterdir()] == ["r.json"]
