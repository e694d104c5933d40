"""Tables of many columns: the work grows with the columns, not with their square."""

from collections import Counter
from pathlib import Path

import pytest

import shoal
from shoal.policy import Policy


def test_columns_are_asked_for_a_few_times_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"c{i}" for i in range(400)]
    lines = [",".join(names), *(",".join(str((r + i) % 3) for i in range(400)) for r in range(6))]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n")
    calls: Counter[str] = Counter()
    published = Policy.published

    def counted(self: Policy, columns: list[str]) -> tuple[str, ...]:
        calls["published"] += 1
        return published(self, columns)

    monkeypatch.setattr(Policy, "published", counted)
    columns = {name: "quasi" if i < 3 else "plain" for i, name in enumerate(names)}
    policy = {"columns": columns, "constraints": [{"k": 2}], "seed": 1}
    release = shoal.run(tmp_path / "wide.csv", policy, tmp_path / "out.csv")
    assert release.published_rows == 6
    assert calls["published"] < 20
