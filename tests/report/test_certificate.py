"""The certificate of the made-up hospital: what it may hold, and that nothing changes it."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.drawing.page import can_draw
from shoal.engines.files import LocalFiles
from shoal.policy import Policy
from shoal.release import Release
from shoal.report.certificate import certificate, seal_of
from shoal.report.certificate_check import FIGURES
from shoal.sample import write_sample
from shoal.sample.hospital import hospital
from tests.releases import shuffled, text_rows

ROWS = 3000
COMMON = 10


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder, rows=ROWS)
    return folder


@pytest.fixture(scope="module")
def release(sample: Path) -> Release:
    return shoal.run(
        sample / "hospital.csv",
        sample / "policy.yaml",
        sample / "release.csv",
        report=sample / ("report.html" if can_draw() else "report.json"),
    )


@pytest.fixture(scope="module")
def told(sample: Path, release: Release) -> dict[str, Any]:
    assert release.verified
    found: dict[str, Any] = json.loads((sample / "report.json").read_text(encoding="utf-8"))
    return found


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, str):
        yield value


def rare_values(sample: Path) -> dict[str, set[str]]:
    """Per column the values that may not be seen; of identifiers all of them."""
    policy = Policy.load(sample / "policy.yaml")
    table = hospital(ROWS)
    rows = text_rows(table)
    found = {}
    for i, name in enumerate(table.column_names):
        counts = Counter(row[i] for row in rows if row[i] is not None)
        hidden = name in ("name", "birth_date")
        assert policy.columns[name].role == "identifier" or not hidden
        found[name] = {value for value, n in counts.items() if value and (hidden or n < COMMON)}
    assert all(len(found[name]) > 20 for name in ("name", "birth_date", "zip", "salary"))
    assert found["age"]
    assert found["nationality"]
    return found


def occurs(value: str, text: str) -> bool:
    """Whether it stands there as a whole word."""
    return value in text and bool(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text))


def test_no_identifier_and_no_rare_value(sample: Path, told: dict[str, Any]) -> None:
    told = told | {"made": ""}
    whole, texts = json.dumps(told, ensure_ascii=False), set(leaves(told))
    for name, values in rare_values(sample).items():
        assert not values & texts, name
        long = [value for value in values if len(value) >= 4]
        assert not [value for value in long if occurs(value, whole)], name
        if name in ("age", "nationality", "salary"):  # the edges of a hierarchy are the policy's
            at = told["sample"]["columns"].index(name)
            cells = [row[at] for row in told["sample"]["rows"] if row[at] is not None]
            assert not [v for v in values for cell in cells if occurs(v, cell)], name


@pytest.mark.skipif(not can_draw(), reason="what draws charts is not installed")
def test_none_in_the_page_either(sample: Path, release: Release) -> None:
    assert release.verified
    page = (sample / "report.html").read_text(encoding="utf-8")
    assert "<h1" in page
    for name in ("name", "birth_date", "nationality"):
        values = rare_values(sample)[name]
        assert not [value for value in values if occurs(value, page)], name


def test_a_value_that_is_there_would_be_found(told: dict[str, Any]) -> None:
    assert occurs("Ann Lee", json.dumps(["was Ann Lee, 1"]))
    assert any(cell is not None for row in told["sample"]["rows"] for cell in row)
    assert told["sample"]["hidden"] > 0


def test_it_tells_what_was_found(told: dict[str, Any], release: Release) -> None:
    assert told["verified"] is True
    assert told["input"]["rows"] == ROWS
    assert told["input"]["columns"] == hospital(5).column_names
    assert told["release"]["rows"] == release.published_rows
    assert told["policy"]["digest"] == release.policy.fingerprint()
    for one, finding in zip(told["guarantees"], release.findings, strict=True):
        assert {key: one[key] for key in FIGURES} == {
            key: finding.to_dict()[key] for key in FIGURES
        }
        assert one["words"].endswith(".")
    after = told["class_sizes"]["after"]
    assert sum(one["rows"] for one in after) == release.published_rows
    assert sum(one["classes"] for one in after) == release.published_classes
    assert told["risk"]["after"]["prosecutor"]["highest"] == 1 / release.findings[0].reached
    assert told["risk"]["before"]["unique_rows"] > 0.9 * ROWS
    assert told["cost"]["columns"]["age"]["loss"] == release.column_loss["age"]


def test_the_same_on_shuffled_rows_and_in_memory(sample: Path, told: dict[str, Any]) -> None:
    raw = LocalFiles().read(sample / "hospital.csv")
    for other in (raw, shuffled(raw, 3)):
        again = certificate(shoal.anonymize(other, str(sample / "policy.yaml")))
        again = json.loads(json.dumps(again))
        assert (told["input"]["name"], told["release"]["name"]) == ("hospital.csv", "release.csv")
        for part in ("input", "release"):  # a frame has no name
            assert again[part]["name"] is None
            again[part]["name"] = told[part]["name"]
        for changing in ("seconds", "seal", "made", "seed_commitment"):
            assert changing in again
            again[changing] = told[changing]
        assert again == told


def test_its_seal_is_of_all_it_tells(told: dict[str, Any]) -> None:
    assert told["seal"] == seal_of(told)
    for key in told:
        if key != "seal":
            assert seal_of(told | {key: "else"}) != told["seal"]
