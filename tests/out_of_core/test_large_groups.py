"""Groups larger than a fragment, and rows with many equals: the same release, figures and report as in
memory, though their rows are never in memory together."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal.engines import encode, large_groups, relational, tie_splits
from shoal.engines.duckdb import parts
from shoal.engines.large_groups import LargeGroups
from shoal.errors import InputError
from shoal.policy import Policy
from tests.out_of_core.certificates import certificate_in, require_same
from tests.out_of_core.patients import COLUMNS, TREES, patients
from tests.out_of_core.test_run import large, rows_of

SECRET: list[dict[str, Any]] = [{"k": 4}, {"l": 2, "of": "illness"}]
CASES: dict[str, tuple[Any, list[dict[str, Any]], dict[str, Any], int]] = {
    "equal rows": ("mondrian", [{"k": 5}], {}, 1),
    "equal rows, l": ("mondrian", SECRET, {}, 1),
    "equal rows, trees": ("mondrian", SECRET, TREES["columns"], 1),
    "not to be separated": ("least-loss-partition", [{"k": 400}], {}, 1),
    "not to be separated, t": (
        "flexible-partition",
        [{"k": 30}, {"t": 0.02, "of": "illness"}],
        {},
        1,
    ),
    "cut through equal rows": ("flexible-partition", [{"k": 5}], {}, 0),
    "cut through equal rows, l": ("least-loss-partition", SECRET, {}, 0),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Patients of whom half have the same quasi-identifiers; some rows are equal altogether."""
    path = tmp_path_factory.mktemp("groups") / "people.parquet"
    some = patients(700)
    for name, value in {"age": 34, "zip": "1037", "job": "nurse", "sex": "f"}.items():
        column = some.column(name).to_pylist()
        column[:350] = [value] * 350
        some = some.set_column(
            some.schema.get_field_index(name), name, pa.array(column, some.schema.field(name).type)
        )
    equal = some.slice(0, 3)
    pq.write_table(pa.concat_tables([some, *[equal] * 40]).replace_schema_metadata(None), path)
    return path


def policy_of(name: str, **more: Any) -> Policy:
    method, constraints, columns, _ = CASES[name]
    return Policy.load(
        {
            "columns": COLUMNS | columns,
            "constraints": constraints,
            "method": method,
            "target": "ward",
            "metrics": ["recognition-rate", "cm", "query-error"],
            **more,
        }
    )


def require_as_in_memory(
    source: Path, policy: Policy, folder: Path, *, without: Sequence[str] = ()
) -> None:
    """Run on both engines, and compare what they published, found, measured and reported.

    without: fields of the certificate that are null out of core.
    """
    folders = [folder / "one", folder / "other"]
    for each in folders:
        each.mkdir()
    releases = [each / "release.parquet" for each in folders]
    reports = [each / "release.json" for each in folders]
    one = shoal.run(source, policy, releases[0], report=reports[0])
    other = large(source, policy, releases[1], report=reports[1])
    assert rows_of(releases[1]) == rows_of(releases[0])
    assert other.findings == one.findings
    assert (other.groups, other.published_classes) == (one.groups, one.published_classes)
    assert other.column_loss == pytest.approx(one.column_loss)
    assert set(other.metrics) == set(one.metrics)
    for metric, figure in other.metrics.items():
        assert figure == pytest.approx(one.metrics[metric]), metric
    certificates = [certificate_in(path) for path in reports]
    assert [name for name in without if certificates[1][name] is not None] == []
    require_same(*({**found, **dict.fromkeys(without)} for found in certificates))


@pytest.fixture
def labelled(monkeypatch: pytest.MonkeyPatch) -> list[LargeGroups]:
    """What is labelled from counts."""
    found: list[LargeGroups] = []
    before = relational.label_large_groups

    def watched(*arguments: Any) -> LargeGroups:
        found.append(before(*arguments))
        return found[-1]

    monkeypatch.setattr(relational, "label_large_groups", watched)
    return found


QUICK = ("equal rows, l", "not to be separated, t", "cut through equal rows, l")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in CASES],
)
def test_the_same_as_in_memory(
    name: str,
    source: Path,
    tmp_path: Path,
    labelled: list[LargeGroups],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tie_splits, "FEW", 20)  # equal rows are searched by their keys
    monkeypatch.setattr(parts, "FEW_ROWS", 8)  # parts of a group have files of their own
    require_as_in_memory(source, policy_of(name), tmp_path)
    (groups,) = labelled
    assert len(groups.labels) >= CASES[name][-1]


@pytest.mark.long
def test_a_group_of_too_many_different_rows_is_handled_as_a_whole(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = large_groups.label_large_groups
    monkeypatch.setattr(relational, "label_large_groups", lambda *a: asked(*a, most=3))
    require_as_in_memory(source, policy_of("equal rows, l"), tmp_path)


def test_a_group_that_does_not_fit_is_refused_before_its_rows_are_read(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = large_groups.label_large_groups
    monkeypatch.setattr(relational, "label_large_groups", lambda *a: asked(*a, most=3))
    monkeypatch.setattr(relational, "ROW_BYTES", 10_000_000)
    with pytest.raises(InputError, match=r"a group of \d+ rows .* at most 2\.0 GB .* --memory"):
        large(source, policy_of("equal rows, l"), tmp_path / "release.parquet")
    assert not (tmp_path / "release.parquet").exists()


@pytest.mark.long
@pytest.mark.parametrize(("most", "frequent"), [(1_000_000, 10_000), (0, 20), (0, 10_000)])
def test_equal_rows_are_numbered_as_in_memory(
    most: int, frequent: int, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encode, "MOST_NUMBERED", most)
    monkeypatch.setattr(encode, "FREQUENT", frequent)
    require_as_in_memory(source, policy_of("cut through equal rows, l"), tmp_path)


@pytest.mark.long
def test_different_rows_that_share_a_number_are_not_taken_for_equal(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # what is the same for equal rows is the same for all
    monkeypatch.setattr(encode, "_stirred", _only_of_many(encode._stirred))
    require_as_in_memory(source, policy_of("cut through equal rows, l"), tmp_path)


def _only_of_many(stirred: Any) -> Any:
    """As `stirred`, but the same for all rows where more than one word is stirred in."""

    def same(hashes: Any, words: Any) -> Any:
        listed = list(words)
        return stirred(hashes, listed) if len(listed) == 1 else np.zeros_like(hashes)

    return same


@pytest.mark.long
def test_people_and_identifiers_stay_beside_rows_that_pass_in_parts(
    source: Path, tmp_path: Path, labelled: list[LargeGroups]
) -> None:
    table = pq.read_table(source)
    ids = [f"p{i % 300}" for i in range(len(table))]
    pq.write_table(table.set_column(0, "name", pa.array(ids)), tmp_path / "ids.parquet")
    policy = policy_of("equal rows, l").with_changes(person="name")
    # docs/report.md: `criteria` are null where people are counted and the table is larger than memory
    require_as_in_memory(tmp_path / "ids.parquet", policy, tmp_path, without=["criteria"])
    assert labelled[0].labels
