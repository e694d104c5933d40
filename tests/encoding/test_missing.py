"""Codes for missing values: declared ones are found in every spelling, likely ones in few columns."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.encoding.missing import code_list, is_missing, likely_codes


def test_declared_codes_are_found_in_every_spelling() -> None:
    texts = pa.array(["NA", "na ", "n.a", "-9", "-9.0", "-90", "", "  ", "\u200b", None])
    found = is_missing(texts, ("NA", "-9"))
    assert found.tolist() == [True, True, False, True, True, False, True, True, True, False]
    exact = is_missing(texts, ("NA", "-9"), exact=True)
    assert exact.tolist() == [True, False, False, True, False, False, True, True, True, False]
    assert is_missing(texts).tolist() == [False] * 6 + [True] * 3 + [False]


SCALE = [str(i) for i in range(1, 10)]
AGES = [str(i) for i in range(18, 91)]


@pytest.mark.parametrize(
    ("texts", "codes"),
    [
        (["HIV", "NA", "flu", ""], ["NA"]),
        (["a", "n/a", "NaN", "null", "?", "-", ".", "Missing", "UNKNOWN "], None),
        (
            [
                "a",
                "NaT",
                "--",
                "—",
                "– ",
                "…",
                "(null)",
                "\\N",
                "#VALUE!",
                "k.A.",
                "N.a",
                "Inconnu",
            ],
            None,
        ),
        (["a", "none", "no", "x"], []),
        (["a", "-b", "+", "x-", "----------", "0/0"], []),
        (SCALE, []),
        ([*SCALE, "99"], ["99"]),
        (["1", "2", "3", "4", "5", "9"], ["9"]),
        (["1", "2", "3", "4", "5", "8", "9"], ["8", "9"]),
        (["1", "2", "3", "4", "5", "8"], []),
        (["1", "2", "9"], ["9"]),
        (["1", "9"], []),
        (["0", "1", "-9"], ["-9"]),
        (["-1", "0", "1"], ["-1"]),
        (["-1", "1", "2", "3"], ["-1"]),
        (["-5", "-9", "3"], []),
        (["-7", "-8", "-9", "1.5", "2.25"], ["-7", "-8", "-9"]),
        ([*AGES, "99"], ["99"]),
        ([*AGES, "97", "99"], ["97", "99"]),
        ([*AGES, "91", "92", "93", "94", "95", "96", "97", "98", "99"], []),
        ([*AGES, "999", "NA"], ["999", "NA"]),
        (["1200", "1350", "9999.0"], ["9999.0"]),
        (["900", "999", "1500", "3000"], []),
        (["9.99", "19.99", "99"], []),
        (["1", "2", "3", "99", "x"], []),
        (["5", "10", "20", "50", "99"], []),
        ([], []),
    ],
)
def test_likely_codes(texts: list[str], codes: list[str] | None) -> None:
    wanted = texts[1:] if codes is None else codes
    assert likely_codes(pa.array(texts, pa.string())) == sorted(wanted)


def test_codes_as_a_policy_lists_them() -> None:
    assert (
        code_list(["NA", "n/a", "?", "-9", "-9.0", "#N/A"]) == '[NA, n/a, "?", -9, "-9.0", "#N/A"]'
    )
    assert code_list([]) == "[]"


@pytest.mark.parametrize("memory", [None, "200MB"])
def test_codes_are_read_as_the_numbers_of_the_table(tmp_path: Path, memory: str | None) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "r.csv"
    wages = ["-9,0", "-9", "\u22129", "1,5", "1,50", "2,5"]
    table.write_text("age;wage\n" + "".join(f"30;{w}\n" for w in wages), encoding="utf-8")
    wage: dict[str, Any] = {"role": "sensitive"}
    policy = {
        "columns": {"age": "quasi", "wage": wage},
        "constraints": [{"l": 1, "of": "wage"}],
        "read": {"decimal": ","},
    }
    with pytest.raises(shoal.InputError, match=r"likely to stand for a missing value"):
        shoal.run(table, policy | {"constraints": [{"k": 2}]}, out, memory=memory)
    wage["missing"] = [-9]
    release = shoal.run(table, policy, out, memory=memory)
    assert release.findings[0].reached == 2
    assert shoal.verify(out, policy, memory=memory).findings[0].reached == 2


@pytest.mark.parametrize("memory", [None, "200MB"])
def test_respelling_a_code_never_strengthens_a_finding(tmp_path: Path, memory: str | None) -> None:
    ages = ["1"] * 10 + ["2"] * 18
    ills = ["HIV"] * 2 + ["NA"] * 8 + ["hiv"] * 8 + ["flu"] * 10
    policy = {
        "columns": {"age": "quasi", "ill": {"role": "sensitive", "missing": ["NA"]}},
        "constraints": [{"beta": 20, "of": "ill"}, {"t": 1, "of": "ill"}],
    }
    for code in ("NA", "na", " Na "):
        path = tmp_path / f"{code.strip()}.csv"
        rows = [f"{a},{code if i == 'NA' else i}\n" for a, i in zip(ages, ills, strict=True)]
        path.write_text("age,ill\n" + "".join(rows))
        # in one class HIV is every known value, in the table 2 of 20 are spelled so
        found = shoal.verify(path, policy, memory=memory).findings
        assert [one.reached for one in found] == [9, 0.9]
