"""Direct identifiers are recognised by what cells hold, and nothing else is taken for one."""

import datetime
import random
import string

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import luhn

import shoal
from shoal.presets.identifiers import FORMS, shows
from shoal.risk.identifiers import PERSONAL_NUMBERS, Recognised, recognise
from tests.examples import examples


def recognised(values: list[str]) -> tuple[Recognised, ...]:
    different = list(dict.fromkeys(values))
    return recognise(pa.array(different), np.array([values.count(v) for v in different], np.int64))


def kind_of(values: list[str]) -> str | None:
    found = recognised(values)
    return found[0].kind if found else None


RNG = random.Random(5)


def digits(n: int) -> str:
    return "".join(RNG.choices(string.digits, k=n))


def mod97(country: str, account: str) -> str:
    """An IBAN with the check digits of ISO 7064, written out."""
    letters = "".join(str(int(c, 36)) for c in f"{account}{country}00")
    return f"{country}{98 - int(letters) % 97:02}{account}"


def weighted(n: int, weights: list[int], modulus: int) -> str:
    """n random digits and a check digit: the weighted sum is a multiple of the modulus."""
    while True:
        body = digits(n)
        if body[0] == "0":
            continue
        for check in string.digits:
            number = body + check
            if sum(w * int(d) for w, d in zip(weights, number, strict=True)) % modulus == 0:
                return number


def nhs() -> str:
    return weighted(9, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 11)


def bsn() -> str:
    return weighted(8, [9, 8, 7, 6, 5, 4, 3, 2, -1], 11)


def pesel() -> str:
    born = datetime.date(1930, 1, 1) + datetime.timedelta(days=RNG.randrange(20000))
    body = born.strftime("%y%m%d") + digits(4)
    total = sum(w * int(d) for w, d in zip([1, 3, 7, 9] * 2 + [1, 3], body, strict=True))
    return f"{body}{-total % 10}"


def dni() -> str:
    number = int(digits(8))
    return f"{number:08}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def nir() -> str:
    body = f"{RNG.choice('12')}{digits(2)}{RNG.randrange(1, 13):02}{RNG.randrange(1, 20):02}{digits(6)}"
    return f"{body}{97 - int(body) % 97:02}"


def personnummer() -> str:
    born = datetime.date(1930, 1, 1) + datetime.timedelta(days=RNG.randrange(20000))
    body = born.strftime("%y%m%d") + digits(3)
    doubled = [int(d) * (2 - i % 2) for i, d in enumerate(body)]
    return f"{body[:6]}-{body[6:]}{-sum(sum(divmod(d, 10)) for d in doubled) % 10}"


POSITIVES = {
    "e-mail addresses": [f"user{i}@mail.example.org" for i in range(30)],
    "web addresses": [f"https://www.example.org/people/{i}" for i in range(30)],
    "phone numbers": [f"+49 151 {digits(7)}" for _ in range(30)],
    "payment card numbers": [
        (body := f"4{digits(14)}") + luhn.calc_check_digit(body) for _ in range(30)
    ],
    "bank account numbers (IBAN)": [mod97("DE", digits(18)) for _ in range(30)],
    "NHS numbers": [nhs() for _ in range(30)],
    "Dutch citizen service numbers": [bsn() for _ in range(30)],
    "Polish PESEL numbers": [pesel() for _ in range(30)],
    "Spanish identity numbers (DNI)": [dni() for _ in range(30)],
    "French social security numbers": [nir() for _ in range(30)],
    "Swedish personal numbers": [personnummer() for _ in range(30)],
    "US social security numbers": [f"123-45-{1000 + i}" for i in range(30)],
    "UK national insurance numbers": [f"AB{100000 + i}C" for i in range(30)],
    "network addresses": [f"192.168.0.{i}" for i in range(30)],
    "names of people": [
        *("Anna Schmidt", "Jürgen Müller", "Peter Meier", "Ole Hansen", "François Dupont"),
        *("Xerxes Doe", "Karin Ek", "Łukasz Nowak", "O'Neil, Sarah"),
    ],
}


@pytest.mark.parametrize("kind", POSITIVES)
def test_columns_of_identifiers(kind: str) -> None:
    found = recognised(POSITIVES[kind])
    assert [one.kind for one in found] == [kind]
    assert found[0].share > 0.5
    table = pd.DataFrame({"field": POSITIVES[kind], "age": range(len(POSITIVES[kind]))})
    column = shoal.draft_policy(table).inspection.columns[0]
    assert column.role == "identifier"
    assert column.identifiers == (found[0].words,)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([f"(617) 555-{1000 + i}" for i in range(30)], "phone numbers"),
        ([f"030/{digits(7)}" for _ in range(30)], "phone numbers"),
        ([f"2001:db8::{i:x}" for i in range(30)], "network addresses"),
        ([f"00:1a:2b:3c:4d:{i:02x}" for i in range(30)], "network addresses"),
        ([" ".join(nhs()[i : i + 3] for i in (0, 3, 6)) for _ in range(30)], None),
    ],
)
def test_other_spellings(values: list[str], kind: str | None) -> None:
    assert kind_of(values) == kind


NEGATIVES = [
    [digits(10) for _ in range(300)],
    [digits(9) for _ in range(300)],
    [digits(11) for _ in range(300)],
    [f"4{digits(15)}" for _ in range(300)],
    [f"{RNG.random():.4f}" for _ in range(50)],
    [f"12:{i:02}:30" for i in range(40)],
    [f"2020-01-{i:02}" for i in range(1, 29)],
    [f"02{i:03}" for i in range(100)],
    ["Paris", "London", "Berlin", "Madrid", "Rome", "Vienna", "Florence", "San Jose"],
    ["Prof-specialty", "Craft-repair", "Sales", "Tech-support", "Armed-Forces", "Other-service"],
    ["E11.9", "J45.0", "I10", "K21.9", "M54.5", "F32.1"],
    ["1.0.2", "2.1.0", "3.4.4", "1.1.1", "10.2.0", "3.3.3"],
    ["male", "female", "other", "unknown", "none", "both"],
    ["take two a day with water after meals", "no complaint since the last visit at all"] * 3,
]


@pytest.mark.parametrize("values", NEGATIVES, ids=range(len(NEGATIVES)))
def test_nothing_else_is_an_identifier(values: list[str]) -> None:
    assert recognised(values) == ()


@examples(25)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=20, unique=True))
def test_any_texts_can_be_looked_at(values: list[str]) -> None:
    for one in recognised(values):
        assert 0 < one.share <= 1


@examples(40)
@given(
    st.lists(st.text(string.ascii_uppercase + string.digits + " -./+", min_size=8, max_size=20)),
    st.sampled_from(sorted(PERSONAL_NUMBERS)),
)
def test_checks_of_any_number_say_yes_or_no(values: list[str], module: str) -> None:
    from shoal.risk.identifiers import _personal

    assert {_personal(module)(value) for value in values} <= {True, False}


@examples(40)
@given(st.integers(10**14, 10**15 - 1), st.integers(1, 9))
def test_one_wrong_digit_is_no_card(body: int, by: int) -> None:
    from shoal.risk.identifiers import _card

    number = f"4{body % 10**14:014}"
    doubled = [int(d) * (1 + (len(number) - i) % 2) for i, d in enumerate(number)]
    right = -sum(sum(divmod(d, 10)) for d in doubled) % 10
    assert _card(f"{number}{right}")
    assert not _card(f"{number}{(right + by) % 10}")


@examples(40)
@given(st.integers(0, 10**18 - 1), st.integers(1, 9))
def test_one_wrong_digit_is_no_account(account: int, by: int) -> None:
    from shoal.risk.identifiers import _iban

    right = mod97("DE", f"{account:018}")
    assert _iban(right)
    assert not _iban(f"{right[:-1]}{(int(right[-1]) + by) % 10}")


NOTES = [
    "called Mr Smith about the pain in the left leg",
    "visit together with Anna Schmidt at the clinic",
    "no complaint since then, rest and come back later",
    "results to be given by phone, +49 30 1234567, in the evening",
    "more about it on www.example.org/x in the archive",
    "pays from DE89 3704 0044 0532 0130 00 every month since May",
    "wrote to jane.doe@example.org about the next visit",
    "card 4111 1111 1111 1111 was declined at the desk",
]


def test_free_text_is_searched_and_no_value_reported() -> None:
    found = {one.kind: one for one in recognised(NOTES)}
    assert set(found) == {
        *("names of people", "phone numbers", "web addresses", "e-mail addresses"),
        *("bank account numbers (IBAN)", "payment card numbers"),
    }
    assert found["names of people"].share == 2 / 8
    assert all(one.inside for one in found.values())
    table = pd.DataFrame({"age": [*range(8)] * 5, "note": NOTES * 5})
    draft = shoal.draft_policy(table)
    assert draft.roles["note"] == "identifier"
    shown = draft.text + str(draft.inspection.to_dict())
    assert "25.0 % of its values contain names of people" in shown
    for secret in ("Smith", "Schmidt", "jane", "4111", "DE89", "1234567"):
        assert secret not in shown


def test_an_expenditure_is_no_identifier() -> None:
    rng = np.random.default_rng(0)
    spent = np.round(rng.lognormal(7, 2, 400)).astype(int)
    table = pd.DataFrame(
        {"age": rng.integers(20, 90, 400), "x17": spent, "expenditure": spent * 3 + 1}
    )
    assert len(set(spent)) > 0.8 * 400
    roles = shoal.draft_policy(table[["age", "x17"]]).roles
    assert roles["x17"] == "undecided"
    assert shoal.draft_policy(table[["age", "expenditure"]]).roles["expenditure"] == "sensitive"
    assert (
        shoal.draft_policy(pd.DataFrame({"age": [1] * 40, "q": range(40)})).roles["q"]
        == "identifier"
    )


INSIDE = {
    "phone numbers": [
        *(
            "call 617-555-{:04}",
            "ruft an: 0351 456{:04}",
            "tel +49 351 456{:04} bitte",
            "0351 456{:04}",
        ),
        *("0351456{:04}", "(0351) 456{:04} ab 8", "06 1234{:04}", "le 01 23 45 67 89 {:04}"),
        *("móvil: 694 15{:04}", "phone 617555{:04}", "kommt, +34 69415{:04}", "020 7946 {:04}"),
    ],
    "e-mail addresses": ["write to a{:04}@example.org now"],
    "social security numbers": ["her number is 123-45-{:04}."],
    "network addresses": ["10.0.0.1 at home {:04}"],
}


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in INSIDE.items() for text in texts]
)
@pytest.mark.parametrize("name", ["remark", "occupation", "diagnosis"])
def test_a_part_of_the_cells_contains_an_identifier(kind: str, text: str, name: str) -> None:
    """Whatever the column is called, it is not published, and no value is in the draft."""
    usual = ["none", "patient was anxious", "came late"]
    cells = [text.format(1000 + i) if i % 5 < 2 else usual[i % 3] for i in range(100)]
    draft = shoal.draft_policy(pd.DataFrame({"age": range(100), name: cells}))
    assert draft.roles[name] == "identifier"
    assert f"40.0 % of its values contain {kind}" in draft.text
    assert not any(cell in draft.text for cell in cells if cell not in usual)


def test_names_inside_of_short_remarks() -> None:
    first, last = ["Anna", "Hans", "Eva", "Peter", "Marie"], ["Müller", "Weber", "Moreau"]
    cells = [f"sister of {first[i % 5]} {last[i % 3]}" if i % 5 < 2 else "none" for i in range(100)]
    draft = shoal.draft_policy(pd.DataFrame({"age": range(100), "remark": cells}))
    assert draft.roles["remark"] == "identifier"
    assert "40.0 % of its values contain names of people" in draft.text


def test_one_value_of_few_is_enough() -> None:
    table = pd.DataFrame({"age": range(40), "x": ["call 617-555-1234", "no", "yes", "late"] * 10})
    assert shoal.draft_policy(table).roles["x"] == "identifier"


@examples(60)
@given(
    st.sampled_from(
        [
            *("617-555-1234", "+49 351 4567263", "a@b.org", "www.a.org", "123-45-6789", "10.1.2.3"),
            *("00:1a:2b:3c:4d:5e", "4111 1111 1111 1111", "12345-6789", "51.0504, 13.7373"),
        ]
    ),
    st.text(max_size=6),
    st.text(max_size=6),
)
def test_a_draft_is_never_weaker_than_the_presets(text: str, before: str, after: str) -> None:
    """What the scan of a preset would find in a release is found before it is drafted."""
    cell = before + text + after
    if any(shows(kind, cell) for kind in FORMS):
        assert recognised([cell, "none", "other"])


WORDS = ("late", "tired", "anxious", "work", "visit", "pain", "again", "wait", "home", "lonely")


@pytest.mark.parametrize("name", ["remark", "occupation", "diagnosis", "notes"])
def test_free_text_is_never_published(name: str) -> None:
    rng = random.Random(1)
    cells = [" ".join(rng.sample(WORDS, 10)) if i % 3 else "none" for i in range(90)]
    draft = shoal.draft_policy(pd.DataFrame({"age": range(90), name: cells}))
    assert draft.roles[name] == "identifier"
    assert "it holds free text, which can say anything" in draft.text
    assert not any(cell in draft.text for cell in cells if cell != "none")


def test_categories_of_several_words_are_no_free_text() -> None:
    titles = [f"{a} of the {b} service" for a in ("Head", "Clerk", "Nurse") for b in "abcd"]
    table = pd.DataFrame({"age": range(120), "title": titles * 10})
    assert shoal.draft_policy(table).roles["title"] == "quasi"


EXAMPLES = {
    "at.vnr": "1237 010180",
    "be.nn": "85.07.30-033 28",
    "bg.egn": "752316 926 3",
    "ch.ssn": "7569217076985",
    "cz.rc": "710319/2745",
    "de.idnr": "36 574 261 809",
    "dk.cpr": "211062-5629",
    "ee.ik": "36805280109",
    "es.dni": "54362315-K",
    "es.nie": "x-2482300w",
    "fi.hetu": "131052-308T",
    "fr.nir": "2 95 10 99 126 111 93",
    "gb.nhs": "943-476-5870",
    "gr.amka": "01013099997",
    "hr.oib": "33392005961",
    "ie.pps": "6433435F",
    "is_.kennitala": "450401-3150",
    "it.codicefiscale": "RCCMNL83S18D969H",
    "nl.bsn": "1112.22.333",
    "no.fodselsnummer": "151086 95088",
    "pl.pesel": "44051401359",
    "pt.cc": "00000000 0 ZZ4",
    "ro.cnp": "1630615123457",
    "se.personnummer": "880320-0016",
    "si.emso": "0101006500006",
    "us.ssn": "536-90-4399",
}
"""Numbers that are documented as examples, one for each kind."""


@pytest.mark.parametrize("module", sorted(PERSONAL_NUMBERS))
def test_personal_numbers_of_every_country(module: str) -> None:
    from shoal.risk.identifiers import _personal

    check = _personal(module)
    assert check(EXAMPLES[module])
    assert not check("00000000")
    assert not check("Springfield")
