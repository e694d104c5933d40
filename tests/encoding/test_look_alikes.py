"""Values that a reader takes for one are counted, and nothing else is."""

import unicodedata

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.look_alikes import CYRILLIC, GREEK, SIGNS, LookAlikes, look_alikes
from tests.examples import examples


@pytest.mark.parametrize(
    ("texts", "drawn"),
    [
        (["rak", "r\u0430k", "flu"], 1),
        (["HIV", "\u041dIV", "\u0397\u0399V"], 2),
        (["Crohn's", "Crohn’s", "crohn\u2019s"], 1),
        (["a-b", "a–b", "a‐b"], 2),
        (["naïve's", "naïve’s"], 1),
        (["рак", "грипп", "Рак", "сор"], 0),
        (["сор", "cop"], 1),
        (["ΗΠΑ", "ΚΑΡ", "νόσος", "όσο"], 0),
        (["ılık", "ilik"], 0),
        (["flu", "gout", "Grippe", "Épilepsie", "Epilepsie"], 0),
        (["O157", "0157", "l1", "I1"], 0),
    ],
)
def test_drawn_alike(texts: list[str], drawn: int) -> None:
    found = look_alikes(pa.array(texts)) or LookAlikes()
    assert (found.drawn, found.numbers) == (drawn, 0)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1000", "1,000"], 1),
        (["1000.0", "1,000", "1'000", "1 000"], 3),
        (["1", "1,0", "1,00"], 2),
        (["1", "1,000", "25"], 0),  # marks between thousands
        (["1", "1,000", "2,5"], 1),  # decimal commas
        (["1000", "1,000", "2,5"], 0),
        (["12,500", "12,500.5", "12500.50"], 1),
        (["5 %", "5,0 %", "5"], 1),
        (["1,2", "3,4", "12"], 0),
        (["1,2,3", "123", "1.2"], 0),
        (["2020 01 02", "20200102"], 0),
        (["1000", "2000", "1e3"], 0),  # spellings of one value
        (["flu, gout", "flu"], 0),
    ],
)
def test_numbers_in_two_ways(texts: list[str], numbers: int) -> None:
    found = look_alikes(pa.array(texts)) or LookAlikes()
    assert (found.drawn, found.numbers) == (0, numbers)
    assert look_alikes(pa.array(texts), numbers=False) is None


@examples(100)
@given(
    st.sampled_from([CYRILLIC, GREEK, SIGNS]),
    st.lists(st.text(max_size=6), unique=True, max_size=12),
    st.data(),
)
def test_a_text_with_one_other_letter(
    pairs: tuple[str, str], others: list[str], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(pairs[0]) - 1))
    plain, alike = f"x{pairs[1][at]}y", f"x{pairs[0][at]}y"
    few = [text for text in others if text.isascii() and "x" not in text.lower()]
    found = look_alikes(pa.array([plain, alike, *few]), numbers=False)
    assert found == LookAlikes(drawn=1)
    assert look_alikes(pa.array([plain, *few])) in (None, look_alikes(pa.array(few, pa.string())))


@pytest.mark.parametrize("pairs", [CYRILLIC, GREEK])
def test_no_two_letters_of_a_script_look_alike(pairs: tuple[str, str]) -> None:
    seen: dict[str, str] = {}
    for letter, alike in zip(*pairs, strict=True):
        assert seen.setdefault(alike, letter) == letter


def test_every_letter_and_sign_is_left_by_normalisation() -> None:
    for letters, alike in (CYRILLIC, GREEK, SIGNS):
        assert len(letters) == len(alike)
        once = {unicodedata.normalize("NFKC", letter) for letter in letters}
        assert once <= {*letters}


def test_a_run_and_an_inspection_warn() -> None:
    ill = ["rak", "r\u0430k", "flu", "gout"] * 5
    table = pa.table({"age": [20, 20, 30, 30] * 5, "diagnosis": ill})
    release = shoal.anonymize(table, quasi="age", sensitive="diagnosis", k=2, l=2, seed=1)
    warned = [text for text in release.warnings if "looks like another" in text]
    assert len(warned) == 1
    assert warned[0].startswith("diagnosis: 1 value ")
    assert not any(text in warned[0] for text in ill)
    exact = {"role": "sensitive", "spelling": "exact"}
    policy = {
        "columns": {"age": "quasi", "diagnosis": exact},
        "constraints": [{"k": 2}, {"l": 2, "of": "diagnosis"}],
    }
    assert not any("looks like" in text for text in shoal.anonymize(table, policy).warnings)
    assert any(text in warned for text in shoal.inspect(table).warnings)
