"""Methods inside blocks: each block as a table of its own, blocks as a plain twin finds them."""

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.errors import PolicyError
from shoal.methods.blocks import group_rows
from shoal.methods.k_clustering import KClustering
from shoal.methods.l_clustering import LClustering
from shoal.methods.top_down import TopDown
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from tests import naive
from tests.coded import Coded, coded, coded_tables
from tests.examples import examples
from tests.personal.naive import mix

METHODS = (KClustering, LClustering, TopDown)


def seed_of(rows: list[naive.Row], seed: int) -> int:
    """From the block alone: how many rows it has, and the smallest one."""
    state = seed
    for word in (len(rows), *min(rows)):
        state = mix(state, word)
    return state


@examples(40)
@given(
    table=coded_tables(),
    method=st.sampled_from(METHODS),
    k=st.integers(1, 3),
    diverse=st.integers(1, 3),
    block_rows=st.integers(2, 12),
    seed=st.integers(0, 2**40),
)
def test_every_block_is_grouped_as_a_table_of_its_own(
    table: Coded, method: type, k: int, diverse: int, block_rows: int, seed: int
) -> None:
    models: tuple[Model, ...] = (K(k), L(diverse, "illness"))
    requirement, holds = Requirement(models), table.holds(max(k, diverse), diverse)
    everyone = list(range(len(table.rows)))
    assume(holds(everyone))
    least = max(k, diverse, block_rows)

    def block_holds(group: naive.Group) -> bool:
        return len(group) >= least and holds(group)

    blocks = naive.flexible(table.columns, table.rows, least, block_holds, dimension="widest")
    expected, hidden = [], []
    for block in map(sorted, blocks):
        rows = [table.rows[i] for i in block]
        part = coded(
            rows,
            list(zip(table.cells.domains, table.columns, strict=True)),
            [table.sensitive[i] for i in block],
        )
        own = seed if len(table.rows) < 2 * block_rows else seed_of(rows, seed)
        (alone,) = method().group(part.cells, requirement, own, lambda _: None)
        found: dict[int, list[int]] = {}
        for row, group in zip(block, alone.group.tolist(), strict=True):
            found.setdefault(group, []).append(row)
        hidden += found.pop(-1, [])
        expected += found.values()
    (grouping,) = group_rows(
        method(block_rows=block_rows), table.cells, requirement, seed, lambda _: None
    )
    got: dict[int, list[int]] = {}
    for row, group in enumerate(grouping.group.tolist()):
        got.setdefault(group, []).append(row)
    assert sorted(got.pop(-1, [])) == sorted(hidden)
    assert sorted(got.values()) == sorted(expected)
    assert sorted(got) == list(range(grouping.n_groups))


@pytest.mark.parametrize("name", ["k-clustering", "top-down"])
@pytest.mark.parametrize("model", [{"t": 0.5}, {"beta": 2}, {"delta": 1}])
def test_models_that_compare_with_the_whole_table_are_refused(
    name: str, model: dict[str, float]
) -> None:
    table = pa.table({"age": [1, 2, 3, 4], "illness": ["a", "b", "a", "b"]})
    policy = {
        "columns": {"age": "quasi", "illness": "sensitive"},
        "constraints": [{"k": 2}, {**model, "of": "illness"}],
        "method": {"name": name, "block_rows": 100},
    }
    with pytest.raises(PolicyError, match="Leave `block_rows` out, or use least-loss-partition"):
        shoal.anonymize(table, policy)


def test_too_small_a_block_is_a_mistake_in_the_policy() -> None:
    table = pa.table({"age": [1, 2, 3, 4]})
    with pytest.raises(PolicyError, match="block_rows"):
        shoal.anonymize(table, quasi="age", k=2, method={"name": "k-clustering", "block_rows": 1})
