"""Spellings of one value fold alike, others do not."""

import re
import sys
import unicodedata
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.encoding.spelling import fold, fold_texts, is_blank, merge_spellings
from tests.examples import examples


@pytest.mark.parametrize(
    "spellings",
    [
        ["HIV", "hiv", " HIV\t", "ＨＩＶ", "H\u200bIV", "\ufeffhiv"],
        ["Straße", "STRASSE", "strasse"],
        [
            "HIV",
            "HIV\x07",
            "\x00hiv",
            "H\x7fIV",
            "HIV\ufe0f",
            "H\u034fIV",
            "HIV\U000e0101",
            "HI\u3164V",
        ],
        ["é", "e\u0301", "É", "e\u034f\u0301", "e\u200d\u0301"],
        ["lung  cancer", "Lung cancer", "lung\u00a0cancer", "lung\u2800cancer\u2800"],
        ["50000", "50000.0", "+50000", "5e4", "5.0E+4", "050000", " 50000 ", "５００００"],
        ["0", "-0", "0.00", ".0", "0e9"],
        ["0.1", ".1", "0.10", "1e-1"],
        ["1e400", "10e399", "1" + "0" * 400, "1" + "0" * 400 + ".0"],
        ["1e-401", "0." + "0" * 400 + "1"],
        ["2e398", "2" + "0" * 398, "20e397"],
        ["-5", "\u22125", "-5.0", "－5"],
        ["12", "١٢", "१२"],
        ["5%", "5 %", "5.0%", " +5\u00a0% "],
        [
            "1964-03-07",
            "1964/3/7",
            "07.03.1964",
            "7.3.1964",
            "1964-03-07T00:00",
            "1964-03-07 00:00:00",
        ],
        ["1964-03-07T12:30", "1964-03-07 12:30:00.000"],
        ["1964-03-07T12:30Z", "1964-03-07 12:30:00+00:00"],
        ["1964-03-07T23:30:05.5-0130", "1964-03-08 01:00:05.50Z", "1964-03-08T11:00:05.5+10"],
        ["1964-03-07T00:00Z", "1964-03-07 02:00+02:00"],
        ["Müller", "MÃ¼ller", "MÃƒÂ¼ller", "M&uuml;ller", "M&#252;LLER", "mu\u0308ller"],
        ["Ácido “x”", "Ã\x81cido â€œxâ€\x9d".replace("â€œ", "â\x80\x9c").replace("â€", "â\x80")],
        ["A & B <5", "A &amp; B &lt;5", "a&nbsp;& b &#x3C;5"],
    ],
)
def test_spellings_of_one_value(spellings: list[str]) -> None:
    assert len({fold(text) for text in spellings}) == 1
    assert len(set(fold_texts(pa.array(spellings)).to_pylist())) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "b"),
        ("a b", "ab"),
        ("1", "1.01"),
        ("12345678901234567890.1", "12345678901234567890.2"),
        ("03/04/2020", "04/03/2020"),
        ("1964-02-30", "1964-03-01"),
        ("1964-03-07T12:30", "1964-03-07T12:30Z"),
        ("1964-03-07T12:30+01:00", "1964-03-07T12:30-01:00"),
        ("1964-03-07T12:30+25:00", "1964-03-07T11:30+24:00"),
        ("1964-03-07T12:30+01:00", "1964-03-07T12:30"),
        ("9999-12-31T23:30-01:00", "9999-12-31T23:30Z"),
        ("1e99999", "1e99998"),
        ("Ã", "ã ¼"),
        ("R&D", "R&E"),
        ("R&D;", "RD;"),
        ("a&b;c", "abc"),
        ("١", "٢"),
    ],
)
def test_other_values(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_numbers_of_a_text_column_are_texts() -> None:
    texts = pa.array(["250.1", "250.10", "A", "a"])
    assert fold_texts(texts, numbers=False).to_pylist() == ["250.1", "250.10", "a", "a"]


def test_every_character_that_is_not_drawn_is_left_out() -> None:
    unseen = [
        chr(number)
        for number in range(sys.maxunicode + 1)
        if unicodedata.category(chr(number)) in ("Cc", "Cf") and not chr(number).isspace()
    ]
    # those of Default_Ignorable_Code_Point that are assigned and of another category
    others = (
        "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\ufe00\ufe0f\uffa0\U000e01ef"
    )
    assert len(unseen) > 200
    assert {fold(f"fl{character}u") for character in (*unseen, *others)} == {"flu"}


def test_diversity_is_not_counted_over_what_nobody_sees() -> None:
    seen = {
        "columns": {"age": "quasi", "disease": "sensitive"},
        "constraints": [{"l": 2, "of": "disease"}],
    }
    for other in ("flu\x07", "flu\ufe0f", "f\u034flu"):
        release = pa.table({"age": ["30"] * 4, "disease": ["flu", other] * 2})
        assert not shoal.verify(release, seen).holds
        with pytest.raises(shoal.Infeasible):
            shoal.anonymize(release, seen)


def plain(text: str) -> object:
    """What a text means, in the plainest terms."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = unicodedata.normalize("NFKC", re.sub("[\x07\u200b\u034f\ufe0f]", "", text))
    text = re.sub(r"\s+", " ", text).strip()
    return Fraction(text) if re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", text) else text


TEXTS = st.lists(
    st.text(alphabet="aAÀßée\u03010015.+- \u200b\x07\u034f\ufe0fＡ５", max_size=5),
    min_size=1,
    max_size=12,
)


@examples(150)
@given(TEXTS)
def test_texts_fold_alike_exactly_if_they_mean_the_same(texts: list[str]) -> None:
    folded = fold_texts(pa.array(texts, pa.string())).to_pylist()
    for i, one in enumerate(texts):
        assert fold(one) == folded[i]
        assert fold(folded[i]) == folded[i]
        for j, other in enumerate(texts):
            assert (folded[i] == folded[j]) == (plain(one) == plain(other)), (one, other)
    assert is_blank(pa.array(texts, pa.string())).to_pylist() == [plain(t) == "" for t in texts]


@examples(100)
@given(TEXTS, st.data())
def test_merged_codes_are_those_of_equal_texts_and_equal_codes(
    texts: list[str], data: st.DataObject
) -> None:
    texts = list(dict.fromkeys(texts))
    codes = data.draw(st.lists(st.integers(0, 6), min_size=len(texts), max_size=len(texts)))
    rows = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    merged, found = merge_spellings(
        pa.array(texts, pa.string()), np.array(codes, np.int32), np.array(rows)
    )
    groups = [{i} for i in range(len(texts))]
    for i, one in enumerate(texts):
        for j, other in enumerate(texts):
            if plain(one) == plain(other) or codes[i] == codes[j]:
                both = groups[i] | groups[j]
                for k in both:
                    groups[k] = both
    assert merged.tolist() == [min(codes[k] for k in group) for group in groups]
    values = len({frozenset(group) for group in groups})
    alone = sum(rows[i] == 1 and len(group) > 1 for i, group in enumerate(groups))
    if found is None:
        assert values == len(texts)
    else:
        assert (found.spellings, found.values, found.alone) == (len(texts), values, alone)


def test_a_number_too_long_to_compute_with_is_a_text() -> None:
    long = "7" * 1_000_001
    assert fold_texts(pa.array([long, "7"])).to_pylist() == [long, "7"]


@pytest.mark.parametrize("star", ["*", " *", "*\u200b", "＊", "\ufe61 ", "\u2800*"])
def test_what_reads_as_a_star_is_no_value(star: str) -> None:
    table = pa.table({"age": [20, 20, 30, 30], "ill": ["flu", star, "flu", "gout"]})
    policy = {
        "columns": {"age": "quasi", "ill": "sensitive"},
        "constraints": [{"l": 2, "of": "ill"}],
    }
    with pytest.raises(shoal.InputError, match="suppressed"):
        shoal.anonymize(table, policy)
    found = shoal.verify(table, policy)
    assert [finding.reached for finding in found] == [1]


def test_a_code_is_likely_whatever_is_not_drawn_in_it() -> None:
    table = pa.table({"age": [20, 20, 30, 30], "ill": ["flu", "NA" + "\u200b" * 30, "flu", "gout"]})
    with pytest.raises(shoal.InputError, match="missing"):
        shoal.anonymize(table, quasi="age", sensitive="ill", l=2)


def test_a_blank_of_html_is_no_value() -> None:
    texts = pa.array(["&nbsp;", " &#160; ", "&", "&amp;", "a"])
    assert is_blank(texts).to_pylist() == [True, True, False, False, False]
