"""With one class that is the whole table, the class tells nothing beyond the table."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import shoal
from shoal.engines.formats.base import format_to_write


@pytest.mark.parametrize("person", [False, True])
def test_the_best_guess_is_the_base_rate(tmp_path: Path, person: bool) -> None:
    ids = [str(i // 2) for i in range(40)]
    table = pa.table(
        {"id": ids, "age": [30] * 40, "s": ["ill" if i % 2 else f"v{i % 3}" for i in range(40)]}
    )
    policy = {
        "columns": {"id": "person" if person else "identifier", "age": "quasi", "s": "sensitive"},
        "constraints": [{"k": 5}],
    }
    csv.write_csv(table, tmp_path / "t.csv")
    out, key = tmp_path / "r.csv", tmp_path / "key.csv"
    shoal.run(tmp_path / "t.csv", policy, out, **({"key": key} if person else {}))
    found = shoal.criteria(out, policy, **({"key": key} if person else {}))
    one = found.inference.columns["s"]
    assert found.unit == ("person" if person else "row")
    assert one.base_rate == one.best_guess == (1.0 if person else 0.5)


def test_a_preset_with_emptied_constraints() -> None:
    with pytest.raises(shoal.PolicyError, match="constraints: found nothing; delete the key"):
        shoal.Policy.load(
            {"columns": {"age": "quasi"}, "constraints": None, "preset": "cell-size-5"}
        )


@pytest.mark.parametrize("ending", ["xyz", "sas7bdat"])
def test_only_what_can_be_written_is_proposed_for_a_key(tmp_path: Path, ending: str) -> None:
    with pytest.raises(shoal.InputError, match="Allowed: ") as error:
        format_to_write(tmp_path / f"key.{ending}")
    allowed = str(error.value).partition("Allowed: ")[2]
    assert ".csv" in allowed
    assert ".xls" not in allowed.replace(".xlsx", "")
    assert ".sas7bdat" not in allowed
