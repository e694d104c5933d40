import json
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.report.certificate import SEAL, seal_of
from shoal.report.page import cards, page, sizes_view, verdict
from tests.people.tables import POLICY, people_by_class, visits, written_rows

QUASI = ["age", "sex"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("people")
    release = shoal.anonymize(visits(), POLICY)
    release.write(made / "out.csv", key=made / "key.csv", report=made / "report.json")
    return made


@pytest.fixture
def certificate(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return found


def checked(folder: Path, **keys: Any) -> Any:
    path = keys.pop("certificate", folder / "report.json")
    return shoal.verify(folder / "out.csv", POLICY, certificate=path, **keys).certificate


def test_it_says_how_it_was_counted(certificate: dict[str, Any]) -> None:
    people = certificate["people"]
    assert people["counted"] is True
    assert (people["input"], people["published"], people["suppressed"]) == (60, 60, 0)
    assert people["together"] is False
    assert {one["counted"] for one in certificate["guarantees"]} == {"people"}
    assert any("whoever has it alone can count rows" in line for line in certificate["checked"])
    assert any("--key KEY" in line for line in certificate["reproduce"])
    assert certificate["guarantees"][0]["words"] == (
        "Every combination of all quasi columns is shared by at least 5 people."
    )


def test_its_risk_is_that_of_people(folder: Path, certificate: dict[str, Any]) -> None:
    classes = people_by_class(folder / "key.csv", QUASI)
    smallest: dict[str, int] = {}
    for members in classes.values():
        for person in members:
            smallest[person] = min(smallest.get(person, 10**9), len(members))
    risk = certificate["risk"]["after"]
    assert risk["people"] == len(smallest) == 60
    assert risk["unique_people"] == sum(n == 1 for n in smallest.values())
    assert risk["prosecutor"]["highest"] == 1 / min(smallest.values())
    mean = sum(1 / n for n in smallest.values()) / len(smallest)
    assert risk["prosecutor"]["average"] == pytest.approx(mean)
    before = certificate["risk"]["before"]
    raw: dict[tuple[Any, ...], set[str]] = {}
    for row in visits().to_pylist():
        raw.setdefault((row["age"], row["sex"]), set()).add(row["patient"])
    alone = {person for members in raw.values() if len(members) == 1 for person in members}
    assert before["unique_people"] == len(alone)
    assert before["unique_share"] == len(alone) / 60
    after = certificate["class_sizes"]["after"]
    assert sum(one["classes"] for one in after) == len(classes)
    assert sum(one["people"] for one in after) == 60


def test_with_the_key_all_of_it_is_checked(folder: Path) -> None:
    found = checked(folder, key=folder / "key.csv")
    assert found.fits
    assert not found.without_people


def test_without_the_key_its_figures_of_people_are_not_checked(folder: Path) -> None:
    found = checked(folder)
    assert found.fits
    assert found.without_people


def forged(folder: Path, certificate: dict[str, Any], name: str) -> Path:
    certificate[SEAL] = seal_of(certificate)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(certificate))
    return path


def test_other_figures_of_people_are_found_with_the_key(
    folder: Path, certificate: dict[str, Any]
) -> None:
    certificate["people"]["published"] = 59
    certificate["guarantees"][0]["reached"] = 6
    certificate["risk"]["after"]["unique_people"] = 3
    path = forged(folder, certificate, "figures")
    assert checked(folder, certificate=path).fits  # these figures are not in the file
    found = " ".join(checked(folder, certificate=path, key=folder / "key.csv").differences)
    assert "has rows of 60 people, the certificate of 59" in found
    assert "k: reached is 5 in the release, 6 in the certificate" in found
    assert "The risk after" in found


def test_a_certificate_that_counted_rows_does_not_fit(
    folder: Path, certificate: dict[str, Any]
) -> None:
    for one in certificate["guarantees"]:
        one["counted"] = "rows"
    certificate["people"] = None
    found = checked(folder, certificate=forged(folder, certificate, "rows")).differences
    assert "The policy means people, but the certificate counted rows." in found
    assert any("does not say that they were counted" in line for line in found)


def test_a_certificate_of_rows_does_not_claim_people(tmp_path: Path) -> None:
    policy = {**POLICY, "columns": {**POLICY["columns"], "patient": "identifier"}}
    release = shoal.anonymize(visits(), policy)
    release.write(tmp_path / "out.csv", report=tmp_path / "report.json")
    made = json.loads((tmp_path / "report.json").read_text())
    assert made["people"] is None
    assert "people" not in made["risk"]["after"]
    made["people"] = {"counted": True, "published": 60, "together": False}
    found = shoal.verify(
        tmp_path / "out.csv", policy, certificate=forged(tmp_path, made, "claimed")
    ).certificate
    assert found is not None
    assert "no column of the policy has the role person" in " ".join(found.differences)


def test_the_page_speaks_of_people(certificate: dict[str, Any]) -> None:
    assert "published rows of 60 people, counted in people" in verdict(certificate)
    shown = {
        card.name: (card.value.replace("\u00a0", " "), card.more) for card in cards(certificate)
    }
    assert shown["highest risk by what others may know"][0] == "1 in 5 people"
    assert shown["people alone by what others may know"][0] == "0"
    assert shown["people published"] == ("60", "of 60, none suppressed")
    assert shown["classes of rows that look alike"][1].endswith("people on average")
    sizes = sizes_view(certificate)
    assert sizes is not None
    assert sizes.unit == "people"
    assert sizes.rows[0][0] == "1 person"
    html = page(certificate)
    assert "People by how many share their smallest class" in html
    assert "Without the private key only rows can be counted." in html
    assert "different people" in html


def test_the_key_holds_what_the_release_holds(folder: Path) -> None:
    assert len(written_rows(folder / "key.csv")) == len(written_rows(folder / "out.csv"))
