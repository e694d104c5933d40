"""What names say."""

import pytest

from shoal.encoding.vocabulary import hint_of, is_postal, words_of


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


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ("Vorname Nachname Straße Telefonnummer Steuer-ID Sozialversicherungsnummer", "person"),
        ("prénom nom_patient courriel téléphone_portable numéro_sécu", "person"),
        ("apellidos nombre correo_electrónico teléfono dirección id_paciente", "person"),
        ("cognome nome codice_fiscale cellulare indirizzo", "person"),
        ("voornaam achternaam telefoonnummer burgerservicenummer straat", "person"),
        ("apelido telemóvel endereço número_utente", "person"),
        ("imię nazwisko pesel telefon ulica", "person"),
        ("fornavn etternavn fødselsnummer personnummer sähköposti sukunimi", "person"),
        ("Alter Geschlecht Geburtsdatum PLZ Wohnort Staatsangehörigkeit Familienstand", "quasi"),
        ("Staatsangehoerigkeit Groesse Haushaltsgroesse Taetigkeit", "quasi"),
        ("âge sexe date_de_naissance code_postal commune état_civil", "quasi"),
        ("edad sexo fecha_nacimiento código_postal municipio estado_civil", "quasi"),
        ("età sesso data_nascita comune stato_civile cittadinanza", "quasi"),
        ("leeftijd geslacht geboortedatum woonplaats burgerlijke_staat", "quasi"),
        ("idade género data_nascimento concelho profissão", "quasi"),
        ("wiek płeć data_urodzenia kod_pocztowy województwo zawód", "quasi"),
        ("alder kjønn fødselsdato postnummer sivilstand yrke ikä sukupuoli kunta", "quasi"),
        ("Diagnose Einkommen Gehalt Krankheit Gewerkschaft", "sensitive"),
        ("maladie salaire revenu traitement syndicat", "sensitive"),
        ("enfermedad diagnóstico salario ingresos deuda", "sensitive"),
        ("malattia diagnosi stipendio reddito", "sensitive"),
        ("ziekte salaris inkomen vakbond", "sensitive"),
        ("doença salário rendimento dívida", "sensitive"),
        ("choroba rozpoznanie dochód wynagrodzenie", "sensitive"),
        ("sykdom lønn inntekt sjukdom sairaus palkka", "sensitive"),
        ("hh_id household_number HaushaltsID famid", "household"),
        ("fnlwgt perwt sampling_weight Hochrechnungsfaktor", "weight"),
    ],
)
def test_names_in_the_languages_of_europe(names, hint):
    for name in names.split():
        found = hint_of(name)
        assert found is not None, name
        assert found[0] == hint, name


@pytest.mark.parametrize(
    "name", ["average", "package", "capacity", "region_weight_x", "nombre_total", "var17", "q1_a"]
)
def test_names_that_say_nothing_of_a_person(name):
    found = hint_of(name)
    assert found is None or found[0] != "person"
