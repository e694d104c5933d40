"""What every method must pass, whatever it does inside: judged by the published text alone."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from tests import naive
from tests.methods.everyone import (
    COLUMNS,
    QUASI,
    SIZES,
    everyone,
    leaves_under,
    policy,
    write_hierarchies,
)
from tests.releases import every_method, raw_text, shuffled, text_rows

pytestmark = pytest.mark.parametrize("method", every_method())
PLACES = list(range(len(QUASI)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_hierarchies(tmp_path)
    return tmp_path


def published(release: shoal.Release) -> pa.Table:
    """The quasi-identifiers in the policy's order, then the others."""
    return release.table.select([*QUASI, "ill", "ward"])


def test_k_holds_on_the_published_text(method: dict[str, Any], folder: Path) -> None:
    release = shoal.anonymize(everyone(300), policy(folder, method))
    classes = naive.counts_by_class(text_rows(published(release)), PLACES)
    assert min(classes.values()) >= 7
    assert len(classes) == release.published_classes > 1
    assert release.findings[0].reached == min(classes.values())
    assert release.verified


def test_k_and_l_hold_on_the_published_text(method: dict[str, Any], folder: Path) -> None:
    asked = policy(folder, method, constraints=[{"k": 4}, {"l": 3, "of": "ill"}])
    release = shoal.anonymize(everyone(300), asked)
    rows = text_rows(published(release))
    assert min(naive.counts_by_class(rows, PLACES).values()) >= 4
    assert min(naive.distinct_by_class(rows, PLACES, of=len(QUASI)).values()) >= 3
    assert release.groups > 1


def test_l_alone_holds_on_the_published_text(method: dict[str, Any], folder: Path) -> None:
    asked = policy(folder, method, constraints=[{"l": 4, "of": "ill"}])
    release = shoal.anonymize(everyone(300), asked)
    rows = text_rows(published(release))
    assert min(naive.distinct_by_class(rows, PLACES, of=len(QUASI)).values()) >= 4
    assert release.groups > 1


def test_several_k_hold_each_on_its_own_columns(method: dict[str, Any], folder: Path) -> None:
    constraints = [{"k": 6, "on": ["age", "zip"]}, {"k": 3, "on": ["zip", "town", "race"]}]
    release = shoal.anonymize(everyone(200), policy(folder, method, constraints=constraints))
    for k, on in ((6, ["age", "zip"]), (3, ["zip", "town", "race"])):
        classes = naive.counts_by_class(text_rows(release.table.select(on)), range(len(on)))
        assert min(classes.values()) >= k
    assert [finding.columns for finding in release.findings] == [
        ("age", "zip"),
        ("zip", "town", "race"),
    ]


def test_every_value_lies_inside_its_label(method: dict[str, Any], folder: Path) -> None:
    table = everyone(300)
    release = shoal.anonymize(table, policy(folder, method, order="kept"))
    trees = leaves_under()
    for name in QUASI:
        order = SIZES if name == "size" else None
        for label, raw in zip(
            release.table[name].to_pylist(), table[name].to_pylist(), strict=True
        ):
            assert naive.inside(label, raw_text(raw), trees.get(name), order), (name, label, raw)
    for name in ("ill", "ward"):
        assert release.table[name].equals(table[name])


def test_sorted_and_kept_releases_hold_the_same_rows(method: dict[str, Any], folder: Path) -> None:
    table = everyone(300)
    kept = shoal.anonymize(table, policy(folder, method, order="kept"))
    by_content = shoal.anonymize(table, policy(folder, method))
    assert Counter(text_rows(kept.table)) == Counter(text_rows(by_content.table))
    assert any("order: kept" in warning for warning in kept.warnings)


def test_rows_in_are_rows_published_and_suppressed(method: dict[str, Any], folder: Path) -> None:
    table = everyone(157)
    release = shoal.anonymize(table, policy(folder, method))
    assert release.rows == 157 == release.published_rows + release.suppressed_rows
    assert release.table.num_rows == release.published_rows
    wards = Counter(release.table["ward"].to_pylist())
    assert wards <= Counter(table["ward"].to_pylist())
    assert wards.total() == release.published_rows
    assert release.table.column_names == [n for n in table.column_names if n != "name"]


def test_same_seed_same_bytes_in_any_order_of_rows(method: dict[str, Any], folder: Path) -> None:
    table = everyone(250)
    written = []
    for i, rows in enumerate((table, table, shuffled(table, 3))):
        release = shoal.anonymize(rows, policy(folder, method, seed=5))
        files = [release.write(folder / f"{i}.{ending}") for ending in ("csv", "arrow")]
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1] == written[2]


def test_the_order_of_columns_in_the_table_changes_nothing(
    method: dict[str, Any], folder: Path
) -> None:
    table = everyone(120)
    turned = table.select(table.column_names[::-1])
    first = shoal.anonymize(table, policy(folder, method)).table
    assert shoal.anonymize(turned, policy(folder, method)).table.select(first.column_names) == first


def test_missing_values_are_values_of_their_own(method: dict[str, Any], folder: Path) -> None:
    if method.get("median") == "below":
        pytest.skip(
            "as published, rows are not cut apart where their median is their largest value"
        )
    table = everyone(240, gaps=0.6)
    release = shoal.anonymize(table, policy(folder, method, order="kept", constraints=[{"k": 2}]))
    rows = text_rows(published(release))
    assert min(naive.counts_by_class(rows, PLACES).values()) >= 2
    trees = leaves_under()
    for name in QUASI:
        order = SIZES if name == "size" else None
        labels, raws = release.table[name].to_pylist(), table[name].to_pylist()
        pairs = list(zip(labels, raws, strict=True))
        assert all(naive.inside(lab, raw_text(r), trees.get(name), order) for lab, r in pairs)
        assert any(label is None for label in labels), "some group shares the missing value"


def test_one_column_is_enough(method: dict[str, Any]) -> None:
    for name in ("age", "town", "zip"):
        table = everyone(80).select([name, "ill"])
        columns = {name: COLUMNS[name], "ill": "sensitive"}
        asked = {"columns": columns, "constraints": [{"k": 5}], "method": method}
        release = shoal.anonymize(table, asked)
        assert min(naive.counts_by_class(text_rows(release.table), [0]).values()) >= 5
