"""An attack on an Anatomy release: exact rows, and what their groups tell."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.errors import InputError
from tests.anatomy.plain import people, policy
from tests.examples import examples

LINKED: dict[str, Any] = {
    "columns": {"age": "quasi", "town": "quasi", "ill": "sensitive"},
    "constraints": [{"l": 1, "of": "ill"}],
    "publish": "anatomy",
    "seed": 5,
}


def plainly(
    rows: list[dict[str, Any]], table: list[dict[str, Any]], known: list[dict[str, Any]], names: Any
) -> tuple[int, Fraction]:
    """People pinned to one value, and the mean chance of the best guess."""
    sizes = Counter(row["group"] for row in rows)
    totals = Counter[str]()
    for one in table:
        totals[one["ill"]] += one["count"]
    totals = Counter({value: n for value, n in totals.items() if value is not None})
    base = Fraction(max(totals.values(), default=0), len(rows))
    pinned, chances = 0, []
    for person in known:
        found = [row["group"] for row in rows if all(row[n] == person[n] for n in names)]
        chance: dict[str, Fraction] = {}
        for group in found:
            for one in table:
                if one["group"] == group and one["ill"] is not None:
                    share = Fraction(one["count"], sizes[group] * len(found))
                    chance[one["ill"]] = chance.get(one["ill"], Fraction(0)) + share
        best = max(chance.values(), default=None)
        pinned += best == 1
        chances.append(base if best is None else best)
    return pinned, sum(chances, Fraction(0)) / len(known)


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from(["1", "2", "3"]),
            "town": st.sampled_from(["a", "b"]),
            "ill": st.sampled_from(["flu", "gout", "cold", None]),
        }
    ),
    min_size=1,
    max_size=14,
)


@examples(20)
@given(ROWS, ROWS, st.sampled_from([["age"], ["town"], ["age", "town"]]), st.sampled_from([1, 2]))
def test_as_done_plainly(
    rows: list[dict[str, Any]], known: list[dict[str, Any]], names: list[str], least: int
) -> None:
    values = {row["ill"] for row in rows} - {None}
    asked = {**LINKED, "constraints": [{"l": min(least, max(1, len(values))), "of": "ill"}]}
    if not values:
        rows = [{**rows[0], "ill": "flu"}, *rows]
    asked["suppression"] = 1.0
    made = shoal.anonymize(pa.Table.from_pylist(rows), asked)
    if not made.published_rows:
        return
    knows = pa.Table.from_pylist(known).select(names)
    found = shoal.attack(made, known=knows).release.sensitive["ill"]
    tables = made.table.to_pylist(), made.sensitive_tables["ill"].to_pylist()
    pinned, chance = plainly(*tables, known, names)
    assert found.pinned == pinned
    assert found.best_guess == pytest.approx(float(chance))


def test_files_beside_it_tell_the_same_and_are_needed(tmp_path: Path) -> None:
    table = people(60)
    made = shoal.anonymize(table, policy())
    file = made.write(tmp_path / "out.csv")
    known = table.select(["age", "town", "ill"])
    found = shoal.attack(made, known=known)
    assert set(found.release.sensitive) == {"ill", "pay"}
    assert found.release.linked == 60
    assert found.release.sensitive["ill"].measured_best_guess is not None
    assert not found.warnings
    assert shoal.attack(file, policy(), known=known) == found
    (warning,) = shoal.attack(made.table, policy(), known=known).warnings
    assert "tables of their own" in warning
    (tmp_path / "out.ill.csv").unlink()
    with pytest.raises(InputError, match=r"needs out\.ill\.csv"):
        shoal.attack(file, policy(), known=known)


def test_on_the_command_line(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 2, 3], "town": list("aab"), "ill": ["flu", "gout", "flu"]})
    shoal.anonymize(table, {**LINKED, "constraints": [{"l": 2, "of": "ill"}]}).write(
        tmp_path / "out.csv"
    )
    (tmp_path / "p.yaml").write_text(yaml.safe_dump(LINKED))
    (tmp_path / "known.csv").write_text("age,town\n1,a\n")
    words = [str(tmp_path / name) for name in ("out.csv", "p.yaml", "known.csv")]
    seen = CliRunner().invoke(app, ["attack", *words[:2], "--known", words[2]])
    assert seen.exit_code == 0, seen.output
    assert "pinned to one ill" in seen.output
    assert "66.7 %" in seen.output
