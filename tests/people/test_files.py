"""Random tables with several rows per person: what the written file and its key hold."""

from collections import defaultdict
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from tests.examples import examples
from tests.people.tables import without_person, written_rows

METHODS = ["least-loss-partition", "mondrian", "k-clustering", "bottom-up", "top-down"]


def random_table(draw: Random) -> pa.Table:
    people = draw.randint(4, 25)
    rows = []
    for person in range(people):
        own = draw.randrange(6), draw.choice("ab")
        for _ in range(draw.randint(1, 5)):
            changed = draw.random() < 0.3
            age, town = (draw.randrange(6), draw.choice("ab")) if changed else own
            rows.append((f"p{person}", age, town, draw.choice(["x", "y", "z", None])))
    draw.shuffle(rows)
    columns = map(list, zip(*rows, strict=True))
    return pa.table(dict(zip(("who", "age", "town", "ill"), columns, strict=True)))


def require(rows: list[dict[str, str]], k: int, l: int, alpha: float) -> None:  # noqa: E741
    """Count the people of every class by hand."""
    classes: dict[Any, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        mine = classes[row["age"], row["town"]][row["person"]]
        if row["ill"]:
            mine.add(row["ill"])
    for people in classes.values():
        assert len(people) >= k
        known = [values for values in people.values() if values]
        every = set().union(*known)
        if l > 1:
            assert len(every) >= l
        for value in every:
            having = sum(value in values for values in known)
            assert len(people) - having >= l - 1
            assert having <= alpha * len(known)


@pytest.mark.parametrize("method", METHODS)
@examples(8)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 4),
    more=st.sampled_from([(1, 1.0), (2, 1.0), (1, 0.9)]),
    ending=st.sampled_from(["csv", "parquet"]),
)
def test_people_in_file_and_key(
    method: Any, seed: int, k: int, more: tuple[int, float], ending: str
) -> None:
    (least, alpha), table = more, random_table(Random(seed))
    constraints: list[dict[str, Any]] = [{"k": k}]
    if least > 1:
        constraints.append({"l": least, "of": "ill"})
    if alpha < 1:
        constraints.append({"alpha": alpha, "of": "ill"})
    policy = {
        "columns": {"who": "person", "age": "quasi", "town": "quasi", "ill": "sensitive"},
        "constraints": constraints,
        "method": method,
        "seed": seed,
    }
    try:
        release = shoal.anonymize(table, policy)
    except shoal.Infeasible:
        return
    with TemporaryDirectory() as folder:
        path, key = Path(folder) / f"out.{ending}", Path(folder) / "key.csv"
        release.write(path, key=key)
        rows = written_rows(key)
        require(rows, k, least, alpha)
        assert without_person(rows) == without_person(written_rows(path))
        assert release.published_people == len({row["person"] for row in rows})
        # whose row is whose: every person's rows as they were, but for what was coarsened
        by_person: dict[str, list[str]] = defaultdict(list)
        for row in rows:
            by_person[row["person"]].append(row["ill"])
        if not release.suppressed_rows:
            raw: dict[str, list[str]] = defaultdict(list)
            for one in table.to_pylist():
                raw[one["who"]].append(one["ill"] or "")
            assert sorted(map(sorted, by_person.values())) == sorted(map(sorted, raw.values()))
        found = shoal.verify(path, policy, key=key)
        assert found.findings == release.findings
