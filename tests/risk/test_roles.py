"""Suggested roles, by name and by values."""

import pyarrow as pa
import pytest

from shoal.risk.columns import contents_of, suggest


def suggestion(name, values):
    return suggest(contents_of(name, pa.array(values)))


IDS = [f"A{i}" for i in range(100)]
FEW = ["a", "b", "c"] * 40
MANY = [str(i % 30) for i in range(300)]


@pytest.mark.parametrize(
    ("name", "values", "role", "treatment"),
    [
        ("name", FEW, "identifier", "dropped"),
        ("thing", IDS, "identifier", "dropped"),
        ("thing", list(range(100)), "identifier", "dropped"),
        ("thing", [f"{7 * i + 233}.0" for i in range(100)], "identifier", "dropped"),
        ("thing", [i / 7 for i in range(100)], "plain", "kept"),  # judged with all others
        ("thing", IDS[:10], "quasi", "unordered"),  # a small table proves nothing
        ("ward_id", MANY, "quasi", "ordered"),
        ("case_id", IDS + IDS[:50], "identifier", "dropped"),
        (
            "remarks",
            ["so it came that " * 4 + str(i % 70) for i in range(100)],
            "identifier",
            "dropped",
        ),
        ("blob", [b"\xff", b"\xfe"] * 20, "identifier", "dropped"),
        ("diagnosis", [[1], [2]] * 20, "identifier", "dropped"),
        ("age", list(range(100)), "quasi", "ordered"),
        ("sex", ["f", "m"] * 20, "quasi", "unordered"),
        ("zip", ["02138", "01000"] * 20, "quasi", "mask"),
        ("zip", [2138, 99950] * 20, "quasi", "mask"),
        ("postcode", ["SW1A 1AA", "N1"] * 20, "quasi", "mask"),
        ("postcode", ["somewhere in the old town", "N1"] * 20, "quasi", "unordered"),
        ("area", ["001", "002"] * 20, "quasi", "mask"),
        ("birth", ["1964-03-07", "1970-01-01"] * 20, "quasi", "date"),
        ("birth", ["07.03.1964", "31.12.1970"] * 20, "quasi", "date"),
        ("age", [None] * 40, "plain", "kept"),
        ("thing", MANY, "plain", "kept"),
        ("thing", [f"at {each}" for each in MANY], "quasi", "unordered"),
        ("salary", list(range(100)), "sensitive", "kept"),
        ("protection_level", [1, 2] * 20, "preference", "read"),
        ("thing", FEW, "plain", "kept"),
        ("thing", ["a"] * 40, "plain", "kept"),
        ("thing", [None] * 40, "plain", "kept"),
        ("thing", [], "plain", "kept"),
    ],
)
def test_roles(name, values, role, treatment):
    found = suggestion(name, values)
    assert (found.role, found.treatment) == (role, treatment)
    assert found.reason
    assert "\n" not in found.reason


def test_the_reason_quotes_the_part_of_the_name_that_spoke():
    assert suggestion("age", [1, 2]).reason == "by its name others may know it"
    assert suggestion("first_age_seen", [1, 2]).reason == "by 'age' in its name others may know it"
