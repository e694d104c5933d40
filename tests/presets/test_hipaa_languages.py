"""HIPAA Safe Harbor on tables whose columns are not named in English, or not recognised at all."""

from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

import shoal
from shoal.cli.render.presets import show_presets
from shoal.engines.files import wrap
from shoal.engines.release_table import MemoryRelease, Verdict, with_presets
from shoal.policy import Policy
from shoal.presets.hipaa_safe_harbor import FULL_DATE
from shoal.presets.identifiers import shows
from shoal.verification.presets import PresetOutcome

PHONES = "phone or fax numbers"


def load(columns: dict[str, object], **options: object) -> Policy:
    preset = {"name": "hipaa-safe-harbor", **options}
    return Policy.load({"columns": columns, "constraints": [{"k": 1}], "preset": preset})


def outcome(cells: dict[str, list[str]], **options: object) -> PresetOutcome:
    required = load({**dict.fromkeys(cells, "plain"), "q": "quasi"}, **options)
    cells = {**cells, "q": ["1"] * 2}
    released = MemoryRelease(wrap(pa.table(cells)))
    (found,) = with_presets(released, required, Verdict(())).presets
    return found


@pytest.mark.parametrize(
    "name",
    [
        "Nachname",
        "Versichertennummer",
        "Krankenkassennummer",
        "Patientennummer",
        "Kfz-Kennzeichen",
        "Wohnort",
        "Straße",
        "Strasse",
        "Geburtsort",
        "Geburtsmonat",
        "prénom",
        "courriel",
        "ville",
        "commune",
        "apellidos",
        "móvil",
        "ciudad",
        "cognome",
        "codice_fiscale",
        "città",
        "achternaam",
        "woonplaats",
        "sobrenome",
        "cidade",
        "nazwisko",
        "miasto",
        "etternavn",
        "kommune",
        "efternamn",
        "personnummer",
        "sukunimi",
        "kaupunki",
        "lieu_de_naissance",
        "Nom",
        "Name",
        "hhid",
    ],
)
def test_identifiers_and_places_are_refused_in_every_language(name: str) -> None:
    with pytest.raises(shoal.PolicyError, match="by its name it holds"):
        load({"x": "quasi", name: "plain"})
    assert name in load({"x": "quasi", name: "plain"}, not_identifiers=[name]).columns


@pytest.mark.parametrize(
    "name", ["PLZ", "code_postal", "Código Postal", "kod pocztowy", "postnr", "ZCTA5", "homezip"]
)
def test_postal_codes_need_a_table(name: str) -> None:
    with pytest.raises(shoal.PolicyError, match="zip codes only by areas"):
        load({name: "quasi"})


@pytest.mark.parametrize(
    "name",
    [
        "Geburtsdatum",
        "Geburtsjahr",
        "date_de_naissance",
        "fecha_nacimiento",
        "dataNascita",
        "geboortedatum",
        "data_de_nascimento",
        "data_urodzenia",
        "fødselsdato",
        "födelseår",
        "syntymäaika",
        "Geburt",
        "birth_yr",
        "year_born",
        "dobyear",
    ],
)
def test_births_need_the_year_of_the_data(name: str) -> None:
    with pytest.raises(shoal.PolicyError, match="say of which year the data are"):
        load({name: "quasi"})
    assert load({name: "quasi"}, year=2024).columns[name].bottom == 1934


def test_dates_and_ages_are_recognised() -> None:
    found = load(dict.fromkeys(["Aufnahmedatum", "Alter", "Alter_Monate", "opname-datum"], "quasi"))
    assert found.columns["Aufnahmedatum"].part == found.columns["opname-datum"].part == "year"
    assert found.columns["Alter"].top == 90
    assert found.columns["Alter_Monate"].top is None
    english = load(dict.fromkeys(["age_last_month", "ageyrs", "age in weeks", "admit_dt"], "quasi"))
    assert english.columns["age_last_month"].top == english.columns["ageyrs"].top == 90
    assert english.columns["age in weeks"].top is None
    assert english.columns["admit_dt"].part == "year"
    broken = outcome({"Altersgruppe": ["30-39", "90-99"]})
    assert [one.column for one in broken.violations] == ["Altersgruppe"]


def test_what_was_not_recognised_is_not_ticked() -> None:
    found = outcome({"x": ["a", "b"], "Alter": ["30", "40"]})
    by_name = {check.name: check for check in found.checks}
    states = {name: check.holds for name, check in by_name.items()}
    assert states == {
        "identifiers": True,
        "zip codes": None,
        "dates": True,
        "columns of dates": None,
        "ages": True,
        "years of birth": None,
    }
    assert found.holds
    assert by_name["zip codes"].unchecked.startswith("No column of zip codes was recognised")
    assert [text for text in found.to_judge if "was recognised" in text] == list(found.to_judge[:3])
    as_json = {check["name"]: check for check in found.to_dict()["checks"]}
    assert as_json["zip codes"]["holds"] is None
    assert as_json["zip codes"]["unchecked"]
    console = Console(width=200, record=True, quiet=False)
    show_presets(console, [found])
    lines = [line for line in console.export_text().splitlines() if "20,000" in line]
    assert len(lines) == 2
    assert all("No column of zip codes was recognised" in line for line in lines)
    assert not any("✔" in line for line in lines)


def test_the_report_shows_what_was_not_checked(tmp_path: Path) -> None:
    required = load({"x": "quasi"})
    shoal.anonymize(pa.table({"x": ["a", "b"]}), required).report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "not checked" in page
    assert "No column of zip codes was recognised" in page


@pytest.mark.parametrize(
    "text",
    [
        "ruft an: 0351 4567263",
        "+49 159 5859364",
        "0049 351 4567263",
        "06 12 34 56 78",
        "(0351) 456726",
    ],
)
def test_phone_numbers_of_other_countries(text: str) -> None:
    assert shows(PHONES, text)


@pytest.mark.parametrize("text", ["0.5 4567263", "01-02-2019", "000 12345678", "code 0012345678"])
def test_numbers_that_are_no_phone_numbers(text: str) -> None:
    assert not shows(PHONES, text)


@pytest.mark.parametrize(
    "text", ["4. März 2019", "4 de marzo de 2019", "1er août 2019", "3 maja 2019"]
)
def test_dates_in_words(text: str) -> None:
    assert FULL_DATE.search(text)
