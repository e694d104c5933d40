"""What every method that climbs hierarchies must hold; the other methods have `test_suite.py`."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import Infeasible, PolicyError
from tests import naive
from tests.methods.everyone import COLUMNS, everyone, leaves_under, write_hierarchies
from tests.releases import every_method, raw_text, shuffled, takes_k_alone, text_rows

pytestmark = pytest.mark.parametrize("method", every_method(climbing=True))
QUASI = ["zip", "hours", "visit", "school", "race"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_hierarchies(tmp_path)
    return tmp_path


def policy(folder: Path, method: dict[str, Any], **keys: Any) -> dict[str, Any]:
    columns = {name: COLUMNS[name] for name in (*QUASI, "ill", "ward")}
    asked = {"constraints": [{"k": 7}], "default": "drop", **keys}
    return {"columns": columns, "method": method, "folder": folder, **asked}


def test_k_holds_on_the_published_text(method: dict[str, Any], folder: Path) -> None:
    release = shoal.anonymize(everyone(400), policy(folder, method))
    classes = naive.counts_by_class(text_rows(release.table.select(QUASI)), range(len(QUASI)))
    assert min(classes.values()) >= 7
    assert len(classes) == release.published_classes
    assert release.rows == release.published_rows + release.suppressed_rows
    assert release.suppressed_rows < 7


def test_every_value_lies_inside_its_label(method: dict[str, Any], folder: Path) -> None:
    table = everyone(400)
    release = shoal.anonymize(
        table, policy(folder, method, order="kept", suppressed="starred", suppression=0.9)
    )
    trees = leaves_under()
    for name in QUASI:
        raw = table[name].to_pylist()
        for label, value in zip(release.table[name].to_pylist(), raw, strict=True):
            assert naive.inside(label, raw_text(value), trees.get(name)), (name, label)


def test_same_rows_in_any_order_and_with_any_threads(
    method: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = everyone(300)
    first = shoal.anonymize(table, policy(folder, method)).table
    assert first.equals(shoal.anonymize(shuffled(table, 5), policy(folder, method)).table)
    monkeypatch.setenv("SHOAL_THREADS", "1")
    assert first.equals(shoal.anonymize(table, policy(folder, method)).table)


def test_k_of_one_changes_nothing(method: dict[str, Any], folder: Path) -> None:
    table = everyone(80)
    release = shoal.anonymize(table, policy(folder, method, constraints=[{"k": 1}]))
    names = release.table.column_names
    assert Counter(text_rows(release.table)) == Counter(text_rows(table.select(names)))
    assert release.metrics["precision"] == 1


def test_more_than_there_are_rows_is_infeasible(method: dict[str, Any], folder: Path) -> None:
    with pytest.raises(Infeasible, match="largest k it allows is 20"):
        shoal.anonymize(everyone(20), policy(folder, method, constraints=[{"k": 21}]))


def test_what_it_cannot_honour_is_refused_before_any_work(
    method: dict[str, Any], folder: Path
) -> None:
    table, other = everyone(50), [{"k": 2}, {"l": 2, "of": "ill"}]
    if takes_k_alone(method):
        with pytest.raises(PolicyError, match=r"honours k alone.* l of ill.*Leave these"):
            shoal.anonymize(table, policy(folder, method, constraints=other))
    else:
        assert shoal.anonymize(table, policy(folder, method, constraints=other)).verified
    bare = policy(folder, method)
    bare["columns"] = {**bare["columns"], "age": "quasi"}
    with pytest.raises(PolicyError, match="age has none"):
        shoal.anonymize(table, bare)
