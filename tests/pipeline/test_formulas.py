"""Cells that a spreadsheet would run are reported, or escaped so that everything else still works."""

import csv
import gzip
import io
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.files import wrap
from shoal.engines.formula_cells import NoFormula
from shoal.engines.release_table import MemoryRelease
from shoal.errors import VerificationFailed
from shoal.io.formulas import escaped, is_run, unescaped
from tests.examples import examples

TEXTS = st.text("=+-@\t\r'a1.,e\n", max_size=6)
POLICY: dict[str, Any] = {
    "columns": {"=age": "quasi", "town": "quasi", "ill": "sensitive", "note": "plain"},
    "constraints": [{"k": 2}, {"l": 2, "of": "ill"}],
    "seed": 1,
}
ROWS = [
    ["-5", "@Ath", "=1+1", "-3"],
    ["-4", "@Ath", "flu", "'=2"],
    ["7", "+Huy", "=1+1", "=2"],
    ["9", "+Huy", "flu", "\t=cmd"],
] * 3


def plain_is_run(text: str) -> bool:
    """The same by looking at characters one by one."""
    if not text or text[0] not in "=+-@\t\r":
        return False
    body = re.split("[eE]", text[1:] if text[0] in "+-" else "x", maxsplit=1)
    digits = bool(body[0]) and all(c in "0123456789.," for c in body[0])
    number = digits and any(c.isdigit() for c in body[0])
    if number and len(body) > 1:
        number = body[1].lstrip("+-").isdigit() and len(body[1]) - len(body[1].lstrip("+-")) < 2
    return not number


@examples(400)
@given(TEXTS, TEXTS)
def test_every_escaped_text_has_one_meaning_and_is_not_run(one: str, other: str) -> None:
    assert is_run(one) is plain_is_run(one)
    assert unescaped(escaped(one)) == one
    assert not is_run(escaped(one))
    assert (escaped(one) == escaped(other)) == (one == other)


@examples(100)
@given(st.lists(st.none() | TEXTS, max_size=8), st.integers(0, 3), st.booleans())
def test_rows_are_counted_as_cell_by_cell(
    texts: list[str | None], skipped: int, coded: bool
) -> None:
    column = pa.array(texts, pa.string()).slice(skipped)
    found = MemoryRelease(wrap(pa.table({"a": column.dictionary_encode() if coded else column})))
    check = NoFormula("formulas", "a")
    expected = sum(one is not None and plain_is_run(one) for one in texts[skipped:])
    assert found.broken_rows([check]) == {check: expected}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["=age", "town", "ill", "note"], *ROWS])
    return path


def cells(path: Path) -> list[list[str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.reader(io.StringIO(text, newline="")))


def test_they_are_reported_by_default_and_no_value_is_shown(table: Path, tmp_path: Path) -> None:
    with pytest.warns(shoal.ShoalWarning, match=r"would run cells"):
        release = shoal.run(table, POLICY, tmp_path / "r.csv")
    (text,) = [one for one in release.warnings if "spreadsheet" in one]
    for part in ("6 in 'ill'", "6 in 'note'", "1 column name", "12 in 'town'"):
        assert part in text
    assert "cmd" not in text
    assert not [
        one for one in shoal.run(table, POLICY, tmp_path / "r.parquet").warnings if "run" in one
    ]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize("memory", [None, "300MB"])
@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz"])
def test_an_escaped_release_is_the_same_release(
    table: Path, tmp_path: Path, memory: str | None, name: str
) -> None:
    shoal.run(table, POLICY, tmp_path / f"plain-{name}", memory=memory)
    policy, path = {**POLICY, "formulas": "escaped"}, tmp_path / name
    shoal.run(table, policy, path, memory=memory, report=tmp_path / "r.json")
    written = cells(path)
    assert not [cell for row in written for cell in row if plain_is_run(cell)]
    assert any(cell == "-3" for row in written for cell in row)  # numbers stay
    assert [[unescaped(cell) for cell in row] for row in written] == cells(
        tmp_path / f"plain-{name}"
    )
    checked = shoal.verify(path, policy, memory=memory, certificate=tmp_path / "r.json")
    checked.check()
    assert checked.certificate is not None
    assert checked.certificate.fits
    decoded = shoal.decode(path, policy)
    plain = shoal.decode(tmp_path / f"plain-{name}", POLICY)
    assert decoded.equals(plain)
    assert shoal.utility(table, path, policy).to_dict()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_a_file_that_is_not_escaped_is_found(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.duckdb.csv.escape_sql", lambda column: column)
    with pytest.raises(VerificationFailed, match="would be run by a spreadsheet, although"):
        shoal.run(table, POLICY, tmp_path / "r.csv", formulas="escaped")
    assert not (tmp_path / "r.csv").exists()
