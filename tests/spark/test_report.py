"""A report of a frame from a cluster is that of one machine; that of files is in `test_command.py`."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines.session_release import SessionRelease
from shoal.engines.spark.session import SparkTables
from shoal.io.csv_dialect import CsvOptions
from shoal.report.certificate_check import differences_of, read_certificate
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.patients import patients
from tests.out_of_core.test_run import policy_of
from tests.spark.cases import rows_of


def require_fits(
    session: SparkTables, certificate: dict[str, Any], folder: Path, policy: Any
) -> None:
    names = pq.read_schema(next(folder.glob("*.parquet"))).names
    schema = session.read("release", [folder], names, CsvOptions())
    release = SessionRelease(session, "release", names, schema)
    findings = release.verify(policy).findings
    assert differences_of(certificate, policy, release, findings) == []
    certificate = certificate | {"release": certificate["release"] | {"digest": "0" * 64}}
    assert "digests differ" in " ".join(differences_of(certificate, policy, release, findings))


@pytest.mark.long
@pytest.mark.parametrize("late", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_of_a_frame(session: SparkTables, tmp_path: Path, late: bool) -> None:
    table: pa.Table = patients(700)
    pq.write_table(table, tmp_path / "in.parquet")
    reports = {name: tmp_path / f"{name}.json" for name in ("one", "frame")}
    policy = policy_of("classfly-plus")
    shoal.run(tmp_path / "in.parquet", policy, tmp_path / "one.parquet", report=reports["one"])
    session.read("mine", [tmp_path / "in.parquet"], table.column_names, CsvOptions())
    places = ", ".join(f"p{i}" for i in range(table.num_columns))
    session.keep("handed", f"SELECT {places} FROM mine")
    frame = session.frame("handed", table.column_names)
    release = shoal.anonymize(frame, policy)
    release.write(tmp_path / "frame.parquet", report=None if late else reports["frame"])
    if late:
        assert release.report(reports["frame"]) == reports["frame"]
    one, other = (certificate_in(reports[each]) for each in ("one", "frame"))
    names = [[told[table].pop("name") for table in ("input", "release")] for told in (one, other)]
    # a frame has no name, nor has what was not yet written
    assert names == [["in.parquet", "one.parquet"], [None, None if late else "frame.parquet"]]
    require_same(one, other)
    certificate = read_certificate(reports["frame"])
    assert certificate["environment"]["engine"] == "spark"
    assert "pyspark" in certificate["environment"]
    require_fits(session, certificate, tmp_path / "frame.parquet", policy)
    read = [pq.read_table(tmp_path / f"{name}.parquet") for name in ("one", "frame")]
    assert rows_of(read[0]) == rows_of(read[1])
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]
