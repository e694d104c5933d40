"""Column rules and pseudonyms: what they publish on every engine; a check finds what breaks them."""

import hashlib
import hmac
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding.pseudonyms import Pseudonyms
from shoal.encoding.reading import ValueReading
from shoal.encoding.rules import ColumnRule, rule_of
from shoal.engines.files import LocalFiles
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.verification.rules import PublishedRule

KEY = "0123456789abcdef0123456789abcdef"
AGES = [*range(10, 30), *range(80, 100)]


def policy(**more: Any) -> dict[str, Any]:
    return {
        "columns": {
            "id": "pseudonym",
            "age": {"role": "quasi", "top": 90, "bottom": 18},
            "wage": {"role": "sensitive", "round": 500, "top": 3000},
            "hours": {"role": "plain", "round": 0.5},
            "ill": "sensitive",
        },
        "constraints": [{"k": 4}, {"l": 2, "of": "ill"}],
        "pseudonym": {"key_env": "LINKAGE"},
        "seed": 1,
        **more,
    }


def table() -> pa.Table:
    n = len(AGES)
    return pa.table(
        {
            "id": [f"P{i // 2:03}" for i in range(n)],
            "age": AGES,
            "wage": [i * 97 for i in range(n)],
            "hours": [i * 0.7 for i in range(n)],
            "ill": [("flu", "gout", "cold")[i % 3] for i in range(n)],
        }
    )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKAGE", KEY)


def slow_twin(
    text: str, top: Fraction | None, bottom: Fraction | None, base: Fraction | None
) -> str:
    """The rule with fractions, one text at a time."""
    number = Fraction(text)
    if base is not None:
        times = abs(number) / base
        whole = times.numerator // times.denominator
        whole += times - whole >= Fraction(1, 2)
        number = (-1 if number < 0 else 1) * whole * base
    if top is not None and number >= top:
        return f"{float(top):g}+"
    if bottom is not None and number <= bottom:
        return f"≤{float(bottom):g}"
    return str(number)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.decimals(-300, 300, places=2).map(str), min_size=1, max_size=5),
    st.sampled_from([None, 90, 12.5]),
    st.sampled_from([None, -20, 0]),
    st.sampled_from([None, 5, 0.5, 0.25]),
)
def test_the_rule_is_that_of_the_plain_twin(
    texts: list[str], top: float | None, bottom: float | None, base: float | None
) -> None:
    rule = rule_of("x", top, bottom, base)
    if rule is None:
        return
    found = rule(pa.array(texts)).to_pylist()
    ends = [None if end is None else Fraction(str(end)) for end in (top, bottom, base)]
    for text, published in zip(texts, found, strict=True):
        plain = slow_twin(text, *ends)
        is_label = plain.startswith("≤") or plain.endswith("+")
        assert published == plain if is_label else Fraction(published) == Fraction(plain)
        assert rule.holds(published)
    assert not PublishedRule("x", rule).is_broken(pa.array(found))


@pytest.mark.parametrize(
    ("column", "published"),
    [
        (pa.array([12, 88, 95, None]), ["≤15", "90+", "90+", None]),
        (pa.array([12.4, 62.6, float("nan")]), ["≤15", "65", None]),
        (pa.array(["62.5", "62.4", "", "NA"]), ["65", "60", "", "NA"]),
        (pa.array([Decimal("17.5"), Decimal("17.4")]), ["20", "≤15"]),
    ],
)
def test_rounding_comes_first_and_missing_values_stay(
    column: pa.Array, published: list[Any]
) -> None:
    rule = rule_of("x", 90, 15, 5, missing=("NA",))
    assert rule is not None
    assert rule(column).to_pylist() == published


def test_rounding_alone_keeps_numbers_numbers() -> None:
    rule = ColumnRule("x", base=Decimal(5))
    assert rule(pa.array([12, 13, None])).to_pylist() == [10, 15, None]
    assert rule(pa.array([12.5, -12.5])).to_pylist() == [15.0, -15.0]
    assert rule(pa.array([Decimal("12.50")])).to_pylist() == [Decimal("15.00")]


def test_numbers_are_read_as_the_policy_says() -> None:
    german = ValueReading(decimal=",", thousands=".")
    rule = ColumnRule("x", top=Decimal(1000), reading=german)
    assert rule(pa.array(["1.234,5", "12,5", "7"])).to_pylist() == ["1000+", "12.5", "7"]
    with pytest.raises(InputError, match="values that are not numbers") as refused:
        ColumnRule("x", top=Decimal(90))(pa.array(["Smith"]))
    assert "Smith" not in str(refused.value)


@pytest.mark.parametrize(
    ("ending", "memory"),
    [("frame", None), ("parquet", None), ("parquet", "500MB"), ("csv", "500MB")],
)
def test_every_engine_publishes_the_same(tmp_path: Path, ending: str, memory: str | None) -> None:
    rows, out = table(), tmp_path / "out.csv"
    source = tmp_path / f"t.{'parquet' if ending == 'frame' else ending}"
    LocalFiles().write(rows, source)
    # numbers and texts hash differently, so a text file has a release of its own
    plain = shoal.anonymize(source if ending == "csv" else rows, policy()).table
    expected = sorted(map(tuple, _texts(plain.to_pandas()).values))
    if ending == "frame":
        found = shoal.anonymize(rows.to_pandas(), policy()).table
    else:
        shoal.run(source, policy(), out, memory=memory)
        found = pd.read_csv(out, dtype=str)
    texts = _texts(found)
    assert sorted(map(tuple, texts.values)) == expected
    ages = set(texts["age"])
    assert "90+" in ages or any(age.endswith("90+]") for age in ages)
    assert not any(str(age) in ages for age in (91, 95, 99, 10))
    assert set(texts["wage"]) <= {*(str(500 * i) for i in range(6)), "3000+"}
    assert all(float(hours) * 2 % 1 == 0 for hours in texts["hours"])


def _texts(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.astype(str).assign(hours=frame["hours"].astype(float).astype(str))


@pytest.mark.parametrize("memory", [None, "500MB"])
@pytest.mark.parametrize(
    ("column", "raw"), [("age", "95"), ("wage", "1234"), ("hours", "1.7"), ("id", "P001")]
)
def test_a_value_that_breaks_a_rule_fails_the_check(
    tmp_path: Path, column: str, raw: str, memory: str | None
) -> None:
    release = shoal.anonymize(table(), policy()).table.to_pandas().astype(str)
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv"
    release.to_csv(good, index=False)
    assert shoal.verify(good, policy(), memory=memory).holds
    release.loc[0, column] = raw
    release.to_csv(bad, index=False)
    with pytest.raises(
        VerificationFailed, match=f"Column '{column}' has published values"
    ) as failed:
        shoal.verify(bad, policy(), memory=memory)
    assert raw not in str(failed.value)


@pytest.mark.parametrize(
    ("label", "holds"),
    [
        ("[20~90+]", True),
        ("[≤18~25]", True),
        ("{20, 90+}", True),
        ("[20~95]", False),
        ("[10~25]", False),
        ("{20, 12}", False),
        ("*", True),
        ("elderly", False),
    ],
)
def test_labels_of_a_quasi_column_are_checked(label: str, holds: bool) -> None:
    rule = rule_of("age", 90, 18, None)
    found = PublishedRule("age", rule, generalised=True)
    assert found.is_broken(pa.array([label])) is not holds


def test_an_attacker_is_linked_through_the_rules() -> None:
    release = shoal.anonymize(table(), policy())
    found = shoal.attack(release, known=table().select(["age", "ill"]))
    assert found.release.linked == len(AGES)
    assert found.release.unread == {}


def test_a_token_is_a_keyed_hash_and_links_tables() -> None:
    tokens = Pseudonyms("id", KEY.encode())
    found = tokens(pa.array(["P001", " p001 ", "P002", None, " "])).to_pylist()
    plain = hmac.new(KEY.encode(), b"p001", hashlib.sha256).hexdigest()[:32]
    assert found[:2] == [plain, plain]
    assert found[2] not in (plain, None)
    assert found[3:] == [None, None]
    assert tokens(pa.array([7, 8])).to_pylist() == tokens(pa.array(["7", "8"])).to_pylist()
    assert KEY not in repr(tokens)
    first, second = (
        shoal.anonymize(table(), policy()),
        shoal.anonymize(table().slice(0, 20), policy()),
    )
    assert set(second.table["id"].to_pylist()) <= set(first.table["id"].to_pylist())
    assert any("can be linked" in warning for warning in first.warnings)


def test_the_key_is_found_or_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "linkage.key"
    file.write_text(KEY + "\n")
    same = shoal.anonymize(table(), policy(pseudonym={"key_file": str(file)}))
    assert same.table.equals(shoal.anonymize(table(), policy()).table)
    monkeypatch.delenv("LINKAGE")
    for given_key, message in (
        ({"key_env": "LINKAGE"}, "LINKAGE is not set"),
        ({"key_file": "nowhere.key"}, "cannot be read"),
        ({}, "key_file"),
        ({"key": KEY}, "unknown key"),
        (None, "say where the secret key"),
    ):
        with pytest.raises(PolicyError, match=message) as refused:
            shoal.anonymize(table(), policy(pseudonym=given_key))
        assert KEY not in str(refused.value)
    file.write_text("short")
    with pytest.raises(PolicyError, match="has 5 bytes"):
        shoal.anonymize(table(), policy(pseudonym={"key_file": str(file)}))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"role": "identifier", "top": 90}, "only a quasi or sensitive or plain column"),
        ({"role": "quasi", "top": 90, "bottom": 95}, "must be below `top`"),
        ({"role": "quasi", "round": 0}, "must be above 0"),
        ({"role": "quasi", "top": "old"}, "must be a number"),
        ({"role": "quasi", "top": 90, "hierarchy": {"intervals": [5]}}, "cannot be combined"),
        ({"role": "quasi", "round": 5, "type": "text"}, "is for numbers"),
        ({"role": "plain", "top": True}, "must be a number"),
    ],
)
def test_rules_that_cannot_be(column: dict[str, Any], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        shoal.Policy.load({"columns": {"x": "quasi", "age": column}, "constraints": [{"k": 2}]})


def test_rules_are_part_of_what_a_policy_means() -> None:
    loaded = shoal.Policy.load(policy())
    assert shoal.Policy.load(loaded.to_yaml()) == loaded
    columns = {**policy()["columns"], "age": {"role": "quasi", "top": 85, "bottom": 18}}
    assert shoal.Policy.load(policy(columns=columns)) != loaded
    assert KEY not in loaded.to_yaml()


@pytest.mark.parametrize("memory", [None, "200MB"])
def test_a_likely_code_is_asked_about_before_a_rule_hides_it(
    tmp_path: Path, memory: str | None
) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "r.csv"
    table.write_text("age,wage\n" + "".join(f"30,{w}\n" for w in (1, 2, 3, 4, 999, 999)))
    wage: dict[str, Any] = {"role": "sensitive", "top": 4}
    policy: dict[str, Any] = {"columns": {"age": "quasi", "wage": wage}, "constraints": [{"k": 2}]}
    with pytest.raises(shoal.InputError, match=r"'999'.*likely.*missing: \[999\]"):
        shoal.run(table, policy, out, memory=memory)
    assert not out.exists()
    wage["missing"] = [999]
    shoal.run(table, policy, out, memory=memory)
    assert sorted(out.read_text().split()[1:]) == sorted(
        ["30,1", "30,2", "30,3", "30,4+", *2 * ["30,999"]]
    )
    wage["missing"] = []
    shoal.run(table, policy, out, memory=memory, force=True)
    assert out.read_text().count("30,4+") == 3


@pytest.mark.parametrize("cell", ["1e308", "-1e400", "9" * 400])
@pytest.mark.parametrize("role", ["quasi", "plain", "sensitive"])
def test_a_number_that_is_too_large_to_be_rounded(cell: str, role: str) -> None:
    table = pa.table({"age": ["1", "2", "3", "4"], "pay": ["10", "20", "30", cell]})
    policy = {
        "columns": {"age": "quasi", "pay": {"role": role, "round": 5}},
        "constraints": [{"k": 2}],
    }
    with pytest.raises(
        shoal.InputError, match="'pay' has a number too large to be rounded"
    ) as told:
        shoal.anonymize(table, policy)
    assert cell not in str(told.value)
