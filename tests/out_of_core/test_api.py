"""The functions of Python return the same for tables larger than memory as for those in memory."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.errors import InputError
from shoal.policy import Policy
from tests.out_of_core.patients import COLUMNS, patients

MEMORY = "500MB"
POLICY = Policy.load({"columns": COLUMNS, "constraints": [{"k": 4}, {"l": 2, "of": "illness"}]})


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with a release, and the same in the part files of a folder."""
    folder = tmp_path_factory.mktemp("asked")
    pq.write_table(patients(300), folder / "people.parquet")
    shoal.run(folder / "people.parquet", POLICY, folder / "release.parquet")
    (folder / "parts").mkdir()
    table = pq.read_table(folder / "release.parquet")
    for i in range(4):
        pq.write_table(table.slice(i * 80, 80), folder / "parts" / f"{i}.parquet")
    return folder / "release.parquet"


def test_verify_and_survey(release: Path) -> None:
    parts = release.parent / "parts"
    found = shoal.verify(parts, POLICY, memory=MEMORY)
    assert found.findings == shoal.verify(release, POLICY).findings
    assert found.strengths == shoal.verify(release, POLICY).strengths
    with pytest.raises(InputError, match="is a directory"):
        shoal.verify(parts, POLICY)
    with pytest.raises(InputError, match="not for a frame"):
        shoal.verify(pq.read_table(release), POLICY, memory=MEMORY)


def test_assess(release: Path) -> None:
    parts, quasi = release.parent / "parts", list(POLICY.quasi)
    more = {"fraction": 0.1, "threshold": 0.1}
    expected = shoal.assess(release, quasi, **more).to_dict()  # type: ignore[arg-type]
    found = shoal.assess(parts, quasi, memory=MEMORY, **more).to_dict()  # type: ignore[arg-type]
    assert found.keys() == expected.keys()
    for key in ("quasi", "minimal_uniques", "estimated"):
        assert found.pop(key) == expected.pop(key)
    for key, figures in expected.items():
        for name, figure in figures.items():
            assert found[key][name] == (
                pytest.approx(figure) if isinstance(figure, float | dict) else figure
            )
    for wrong, words in (
        ({"msu": 2}, "need all rows in memory"),
        ({"population": patients(5)}, "population: not supported"),
        ({"threshold": 2.0}, "threshold: found 2"),
    ):
        with pytest.raises(InputError, match=words):
            shoal.assess(parts, quasi, memory=MEMORY, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"has no column 'agee'.*'age'"):
        shoal.assess(parts, "agee", memory=MEMORY)
    with pytest.raises(InputError, match="not for a frame"):
        shoal.assess(pa.table({"age": [1]}), "age", memory=MEMORY)
