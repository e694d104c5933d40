"""What names say."""

import pytest

from shoal.risk.vocabulary import hint_of, is_postal, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("birth_date", ["birth", "date"]),
        ("birthDate", ["birth", "date"]),
        ("BirthDate", ["birth", "date"]),
        ("birth-date", ["birth", "date"]),
        ("Birth Date", ["birth", "date"]),
        ("patientID", ["patient", "id"]),
        ("HIVStatus", ["hiv", "status"]),
        ("ZIP5", ["zip", "5"]),
        ("Größe", ["grosse"]),
        ("", []),
        ("__", []),
    ],
)
def test_names_fall_into_words(name, words):
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("name", "person"),
        ("first_name", "person"),
        ("PatientName", "person"),
        ("country_name", "quasi"),
        ("disease_name", "sensitive"),
        ("id", "person"),
        ("patient_id", "person"),
        ("customer number", "person"),
        ("ward_id", None),
        ("code", None),
        ("e-mail", "person"),
        ("email_address", "person"),
        ("phone number", "person"),
        ("SSN", "person"),
        ("home_address", "person"),
        ("ipAddress", "person"),
        ("age", "quasi"),
        ("page", None),
        ("sex", "quasi"),
        ("dob", "quasi"),
        ("date_of_birth", "quasi"),
        ("zip", "quasi"),
        ("Postal Code", "quasi"),
        ("marital-status", "quasi"),
        ("native-country", "quasi"),
        ("hours-per-week", "quasi"),
        ("workclass", "quasi"),
        ("number_of_children", "quasi"),
        ("health_region", "quasi"),
        ("disease", "sensitive"),
        ("PrimaryDiagnosis", "sensitive"),
        ("salary", "sensitive"),
        ("salary-class", "sensitive"),
        ("religion", "sensitive"),
        ("sexual_orientation", "sensitive"),
        ("protection_level", "preference"),
        ("ppl", "preference"),
        ("privacyLevel", "preference"),
        ("x", None),
        ("", None),
    ],
)
def test_names_hint_at_roles(name, hint):
    found = hint_of(name)
    assert (found and found[0]) == hint


@pytest.mark.parametrize(
    ("name", "postal"),
    [
        ("zip", True),
        ("home_zip_code", True),
        ("post-code", True),
        ("zipper", False),
        ("age", False),
    ],
)
def test_postal_codes_are_told_by_name(name, postal):
    assert is_postal(name) is postal
