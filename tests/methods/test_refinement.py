"""Refinement: never more loss, every model kept, the same groups everywhere."""

from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import shoal
from shoal.encoding.domain import Domain, Kind
from shoal.encoding.grouping import Grouping
from shoal.errors import Infeasible, PolicyError
from shoal.kernels import refinement as kernels
from shoal.kernels.jit import interpreting
from shoal.kernels.refinement import (
    CHAIN,
    DISSOLVE,
    FAR,
    FORM,
    MOVE,
    RECUT,
    SPLIT,
    SWAP,
    gather_near,
    relabel_all,
)
from shoal.methods import refinement
from shoal.methods.k_clustering import KClustering
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.mondrian import Mondrian
from shoal.methods.refinement import _losses, look_once, loss_of, new_block, refined
from shoal.methods.top_down import TopDown
from shoal.models.alpha import Alpha
from shoal.models.base import Model
from shoal.models.k import K
from shoal.models.l import EntropyL, L
from shoal.models.requirement import Requirement
from shoal.models.t import T
from tests import naive
from tests.coded import Coded, coded, coded_tables
from tests.examples import examples
from tests.models import twins

METHODS = (KClustering(), LeastLossPartition(), Mondrian(strict=False), TopDown())
MODELS: dict[Model, Any] = {
    L(2, "illness"): lambda g, _: len(twins.present(g)) >= 2,
    EntropyL(1.5, "illness"): lambda g, _: twins.entropy(g) >= np.log(1.5) - 1e-8,
    T(0.4, "illness"): lambda g, e: (
        bool(twins.present(g)) and twins.total_variation(g, e) <= Fraction(4, 10)
    ),
    Alpha(0.7, "illness"): lambda g, _: (
        max(map(g.count, {*g} - {None}), default=0) * 10 <= 7 * len(g)
    ),
}


def groups_of(grouping: Grouping) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for row, group in enumerate(grouping.group.tolist()):
        if group >= 0:
            found.setdefault(group, []).append(row)
    assert sorted(found) == list(range(grouping.n_groups))
    return list(found.values())


def plain_loss(table: Coded, groups: list[list[int]]) -> int:
    return sum(naive.loss(table.columns, table.rows, group) for group in groups)


@examples(40)
@given(
    table=coded_tables(),
    method=st.sampled_from(METHODS),
    model=st.sampled_from([None, *MODELS]),
    k=st.integers(1, 4),
    passes=st.integers(1, 8),
    block_rows=st.sampled_from([8, 30_000]),
)
def test_no_table_loses_more_and_every_group_still_holds(
    table: Coded, method: Any, model: Model | None, k: int, passes: int, block_rows: int
) -> None:
    requirement = Requirement((K(k),) if model is None else (K(k), model))
    try:
        (before,) = method.group(table.cells, requirement, 3, lambda _: None)
    except Infeasible:
        assume(False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement, "BLOCK_ROWS", block_rows)
        after = refined(table.cells, requirement, before, passes, 3, lambda _: None)
    assert ((after.group < 0) == (before.group < 0)).all()
    was, now = groups_of(before), groups_of(after)
    assert plain_loss(table, now) <= plain_loss(table, was)
    hidden = len(table.rows) - sum(map(len, now))
    full = hidden * naive.UNIT * len(table.columns)
    assert loss_of(table.cells, after) == plain_loss(table, now) + full
    kept = [table.sensitive[row] for group in now for row in group]
    for group in now:
        assert len(group) >= k
        values = [table.sensitive[row] for row in group]
        assert model is None or MODELS[model](values, kept)


class Refusing:
    """In place of the requirement: every third change is taken back, and all labels are compared."""

    def __init__(self, table: Coded, block: Any, order: np.ndarray) -> None:
        self.table, self.block, self.order = table, block, order

    def __call__(self) -> None:
        check_labels(self.table, self.block, self.order)
        before = self.block.group.copy()
        changed, rows, sources = self.block.log[:, : self.block.log_end[1]].copy()
        refused = np.arange(self.block.log_end[0]) % 3 == 0
        refinement.take_back(self.block, refused)
        undone = refused[changed]
        before[rows[undone]] = sources[undone]
        assert (self.block.group == before).all()
        assert not self.block.changed.any()
        check_labels(self.table, self.block, self.order)


def check_labels(table: Coded, block: Any, order: np.ndarray) -> None:
    """What the kernel keeps of every label against a plain count of the rows."""
    n = len(block.group)
    columns = [table.columns[j] for j in order]
    rows = [tuple(table.rows[i][j] for j in order) for i in range(n)]
    total = 0
    for g in range(len(block.rows)):
        mine = np.flatnonzero(block.group == g).tolist()
        assert block.rows[g] == len(mine)
        listed, row = [], block.head[g]
        while row >= 0:
            listed.append(row)
            row = block.after[row]
        assert sorted(listed) == mine
        if not mine:
            continue
        total += naive.loss(columns, rows, mine)
        assert block.cost[n + g] == naive.label_cost(columns, rows, mine)
        for row in mine:
            others = [i for i in mine if i != row]
            if others:
                assert block.cost[row] == naive.label_cost(columns, rows, others)
        assert block.thin[g] == min(block.cost[row] for row in mine)
    assert total == refinement.block_loss(block)


@pytest.mark.parametrize("tables_up_to", [2048, 0])
@examples(15)
@given(table=coded_tables(), k=st.integers(1, 4), judged=st.booleans(), seed=st.integers(0, 99))
def test_losses_kept_row_by_row_are_those_of_a_plain_count(
    tables_up_to: int, table: Coded, k: int, judged: bool, seed: int
) -> None:
    n = len(table.rows)
    assume(n >= k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement, "LARGEST_TABLE", tables_up_to)
        losses = _losses(table.cells.domains, np.ones(len(table.columns)))
    order = np.arange(len(table.columns))
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % max(1, n // k)).astype(np.int32)
    codes = np.array(table.rows, np.int32).reshape(n, -1)
    block = new_block(losses, codes, group, k)
    relabel_all(block)
    check_labels(table, block, order)
    judge: Any = Refusing(table, block, order) if judged else None
    for turn in range(3):
        look_once(block, rng.permutation(n).astype(np.int32), k, 1e8 * (2 - turn), turn, judge)
        check_labels(table, block, order)
        assert block.rows[block.rows > 0].min() >= k


class FromTheFront(np.ndarray[Any, Any]):
    """An array that refuses to be indexed from its end."""

    def __getitem__(self, at: Any) -> Any:
        """An item."""
        assert isinstance(at, slice) or np.min(at) >= 0, at
        return super().__getitem__(at)

    def __setitem__(self, at: Any, value: Any) -> None:
        """Set an item."""
        assert isinstance(at, slice) or np.min(at) >= 0, at
        super().__setitem__(at, value)


def guarded(some: Any) -> Any:
    """The same arrays, which refuse to be indexed from their ends."""
    if isinstance(some, np.ndarray):
        return some.view(FromTheFront)
    return type(some)(*map(guarded, some))


@pytest.mark.parametrize("tables_up_to", [2048, 0])
@examples(15)
@given(table=coded_tables(), k=st.integers(1, 4), judged=st.booleans(), seed=st.integers(0, 99))
def test_no_index_is_negative_so_that_the_compiler_need_not_look(
    tables_up_to: int, table: Coded, k: int, judged: bool, seed: int
) -> None:
    n = len(table.rows)
    assume(n >= k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(refinement, "LARGEST_TABLE", tables_up_to)
        losses = _losses(table.cells.domains, np.ones(len(table.columns)))
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % max(1, n // k)).astype(np.int32)
    codes = np.array(table.rows, np.int32).reshape(n, -1)
    values = rng.integers(-1, 3, (n, 1)).astype(np.int32)
    required = np.full(1, 2 * judged)
    plain, checked = (
        new_block(losses, codes, group, k, values, required.astype(np.int64)) for _ in range(2)
    )
    checked = guarded(checked)
    orders = [rng.permutation(n).astype(np.int32) for _ in range(3)]
    relabel_all(plain)
    with interpreting():
        relabel_all(checked)
    for turn, order in enumerate(orders):
        for block in (plain, checked):
            judge = refinement._ValueJudge(block, k) if judged else None
            with interpreting() if block is checked else nullcontext():
                look_once(block, order, k, 1e8 * (2 - turn), turn, judge)
    assert checked.group.tolist() == plain.group.tolist()


def plain_cut(block: Any, size: int, least: int, limit: int, in_middle: bool) -> int:
    """Where the listed rows lose least when they are cut in two, with every label counted anew."""

    def lost(rows: list[int]) -> int:
        total = 0
        for j, how in enumerate(block.losses.how):
            codes = {int(block.codes[row, j]) for row in rows}
            if how == kernels.SET:
                total += block.losses.loss[block.losses.base[j] + len(codes)]
            else:
                total += kernels.span_loss(block.losses, j, min(codes), max(codes))
        return len(rows) * total

    listed = block.listed[:size].tolist()
    cuts = range(least, size - least + 1)
    found = [(lost(listed[:e]) + lost(listed[e:]), in_middle * abs(2 * e - size), e) for e in cuts]
    best = min(found, default=(limit, 0, 0))
    return best[2] if best[0] < limit else kernels.NONE


@examples(15)
@given(table=coded_tables(), k=st.integers(1, 4), judged=st.booleans(), seed=st.integers(0, 99))
def test_what_cannot_pay_is_passed_over_and_nothing_else(
    table: Coded, k: int, judged: bool, seed: int
) -> None:
    n = len(table.rows)
    assume(n >= k)
    losses = _losses(table.cells.domains, np.ones(len(table.columns)))
    codes = np.array(table.rows, np.int32).reshape(n, -1)
    values = np.random.default_rng(seed).integers(-1, 3, (n, 1)).astype(np.int32)

    def after_passes() -> tuple[list[int], list[int]]:
        rng = np.random.default_rng(seed)
        group = rng.permutation(np.arange(n) % max(1, n // k)).astype(np.int32)
        block = new_block(losses, codes, group, k, values, np.full(1, 2, np.int64))
        judge = refinement._ValueJudge(block, k) if judged else None
        kernels._relabel_all(block)
        for turn in range(3):
            order = rng.permutation(n).astype(np.int32)
            look_once(block, order, k, 1e8 * (2 - turn), turn, judge)
        return block.group.tolist(), block.used.tolist()

    found = after_passes()
    relabel = kernels.relabel

    def without_bound(block: Any, g: int) -> None:
        relabel(block, g)
        block.thin[g] = -(1 << 40)

    with pytest.MonkeyPatch.context() as patch, interpreting():
        patch.setattr(kernels, "relabel", without_bound)
        patch.setattr(kernels, "cheapest_cut", plain_cut)
        assert after_passes() == found


@examples(10)
@given(table=coded_tables(), first=st.integers(1, 3), k=st.integers(1, 3), seed=st.integers(0, 9))
def test_what_is_kept_of_a_run_changes_nothing_in_the_next(
    table: Coded, first: int, k: int, seed: int
) -> None:
    assume(len(table.rows) >= max(first, k))

    def groups(cells: Any, k: int) -> list[int]:
        requirement = Requirement((K(k),))
        (before,) = KClustering().group(cells, requirement, seed, lambda _: None)
        return refined(cells, requirement, before, 14, seed, lambda _: None).group.tolist()

    alone = groups(replace(table.cells), k)
    groups(table.cells, first)
    assert groups(table.cells, k) == alone


def gathered(
    table: Coded, group: list[int], order: list[int], i: int, least: int
) -> tuple[list[int], int] | None:
    """The neighbours that lose least together, one by one, and what the loss changes at most."""
    rows = [tuple(row) for row in table.rows]
    places = [i + by for step in range(1, max(16, least) + 1) for by in (step, -step)]
    near = [order[place] for place in places if 0 <= place < len(order)]

    def cost(some: list[int]) -> int:
        return naive.label_cost(table.columns, rows, some)

    listed, change = [order[i]], 0
    mine = group[order[i]]
    for _ in range(1, least):
        found = []
        for s in near:
            members = [row for row in range(len(rows)) if group[row] == group[s]]
            taken = sum(group[row] == group[s] for row in listed)
            if s in listed or (group[s] != mine and len(members) - taken <= least):
                continue
            leaves = -cost(members)
            if group[s] != mine and taken == 0:
                others = [row for row in members if row != s]
                leaves = len(others) * cost(others) + len(members) * leaves
            wider = least * (cost([*listed, s]) - cost(listed))
            found.append((wider + leaves, s, 0 if group[s] == mine else leaves))
        if not found:
            return None
        _, best, leaves = min(found, key=lambda one: one[0])
        listed.append(best)
        change += leaves
    return listed, least * cost(listed) + change


@examples(25)
@given(table=coded_tables(), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_neighbours_of_a_new_group_are_those_of_a_plain_search(
    table: Coded, k: int, seed: int
) -> None:
    n = len(table.rows)
    assume(n >= k)
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % max(1, n // (k + int(rng.integers(0, 3)))))
    losses = _losses(table.cells.domains, np.ones(len(table.columns)))
    codes = np.array(table.rows, np.int32).reshape(n, -1)
    block = new_block(losses, codes, group.astype(np.int32), k)
    relabel_all(block)
    order = rng.permutation(n).astype(np.int32)
    for i in range(n):
        free = len(block.rows) - 1  # one group more than are needed
        change = gather_near(block, order, i, free, k, FAR)
        expected = gathered(table, group.tolist(), order.tolist(), i, k)
        if expected is None:
            assert change >= FAR
            continue
        assert (block.listed[:k].tolist(), change) == expected
        assert gather_near(block, order, i, free, k, change + 1) == change
        for limit in (change, change - 1, change // 2, 2 * change, 0):
            assert (gather_near(block, order, i, free, k, limit) < limit) == (change < limit)


def test_groups_that_cannot_be_formed_are_passed_over_and_no_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    texts = pa.array([str(i) for i in range(40)], pa.string())
    places = np.arange(40, dtype=np.int64) * (naive.UNIT // 39)
    losses = _losses([Domain("a", Kind.RANGE, texts, -1, places)] * 2, np.ones(2))
    codes = rng.integers(0, 40, (90, 2)).astype(np.int32)
    codes = codes[np.lexsort(codes.T)]
    group = np.repeat(np.arange(18), [4] * 9 + [6] * 9).astype(np.int32)

    def after_passes() -> tuple[list[int], int]:
        block = new_block(losses, codes, group, 4)
        relabel_all(block)
        warmth = refinement.block_loss(block) / 900
        for turn in range(4):
            order = np.argsort(codes[:, turn % 2], kind="stable").astype(np.int32)
            look_once(block, order, 4, warmth if turn < 2 else 0.0, turn, None)
        return block.group.tolist(), int(block.used[FORM])

    with interpreting():
        found = after_passes()
        monkeypatch.setattr(kernels, "stranded", lambda *_: 0)
        assert after_passes() == found
    assert found[1] > 0


@examples(15)
@given(table=coded_tables(), k=st.integers(2, 4), l=st.integers(1, 3))
def test_values_counted_by_the_kernel_are_judged_as_the_requirement_judges_them(
    table: Coded,
    k: int,
    l: int,  # noqa: E741 - the model's own letter
) -> None:
    requirement = Requirement((K(k), L(l, "illness")))
    try:
        (first,) = KClustering().group(table.cells, requirement, 1, lambda _: None)
    except Infeasible:
        assume(False)
    assert requirement.only_counts_values
    found = refined(table.cells, requirement, first, 4, 2, lambda _: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Requirement, "only_counts_values", False)
        asked = refined(table.cells, requirement, first, 4, 2, lambda _: None)
    assert found.group.tolist() == asked.group.tolist()


def census(n: int, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(20, 60, n),
            "town": [f"t{i}" for i in rng.geometric(0.3, n)],
            "zip": [f"{i:04d}" for i in rng.integers(0, 60, n) * 31],
            "job": [f"j{i}" for i in rng.integers(0, 9, n)],
            "ill": [f"i{i}" for i in rng.geometric(0.4, n)],
        }
    )


POLICY: dict[str, Any] = {
    "columns": {
        "age": "quasi",
        "town": {"role": "quasi", "kind": "unordered"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "job": {"role": "quasi", "kind": "unordered"},
        "ill": "sensitive",
    },
    "constraints": [{"k": 3}],
    "method": "least-loss-partition",
    "seed": 5,
}


def test_every_kind_of_change_is_used_and_lowers_the_loss() -> None:
    rng = np.random.default_rng(0)
    texts = pa.array([str(i) for i in range(40)], pa.string())
    places = np.arange(40, dtype=np.int64) * (naive.UNIT // 39)
    pair = Domain("a", Kind.RANGE, texts, -1, places), naive.range_column(places.tolist())
    rows = sorted(map(tuple, rng.integers(0, 40, (600, 2)).tolist()))
    table = coded(rows, [pair, pair])
    losses = _losses(table.cells.domains, np.ones(2))
    group = (np.arange(600) // 4).astype(np.int32)
    group[400:] = 100 + np.arange(200) // 8
    block = new_block(losses, np.array(rows, np.int32), group, 4)
    relabel_all(block)
    first = refinement.block_loss(block)
    for turn in range(12):
        codes = block.codes[:, turn % 2]
        order = np.argsort(codes, kind="stable").astype(np.int32)
        look_once(block, order, 4, first / 6000 if turn < 6 else 0.0, turn, None)
    assert (block.used[[MOVE, SWAP, CHAIN, DISSOLVE, SPLIT, RECUT, FORM]] > 0).all()
    assert refinement.block_loss(block) < 0.8 * first
    check_labels(table, block, np.arange(2))


@pytest.mark.parametrize("constraints", [[{"k": 3}], [{"k": 3}, {"l": 2, "of": "ill"}]])
def test_the_same_rows_for_any_order_and_number_of_threads(
    constraints: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refinement, "BLOCK_ROWS", 100)
    table = census(500)
    found = []
    for threads, order in (("1", None), ("3", 1), ("2", 2)):
        monkeypatch.setenv("SHOAL_THREADS", threads)
        rng = np.random.default_rng(order)
        rows = table if order is None else table.take(pa.array(rng.permutation(500)))
        release = shoal.anonymize(rows, POLICY | {"constraints": constraints}, refine=5)
        found.append(release)
    assert found[0].table.equals(found[1].table)
    assert found[0].table.equals(found[2].table)
    plain = shoal.anonymize(table, POLICY | {"constraints": constraints})
    assert found[0].metrics["mean-ncp"] < 0.97 * plain.metrics["mean-ncp"]
    assert found[0].published_rows == 500
    assert "refine" in found[0].seconds
    assert "refine" not in plain.seconds


def test_more_passes_and_efforts_by_name() -> None:
    table = census(300)
    losses = [
        shoal.anonymize(table, POLICY, refine=effort).metrics["mean-ncp"]
        for effort in (None, 1, "quick", "thorough")
    ]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]
    same = shoal.anonymize(table, POLICY, refine=refinement.PASSES["quick"])
    assert same.metrics["mean-ncp"] == losses[2]


def test_columns_with_a_weight_of_nothing_are_not_spared() -> None:
    table = census(300)
    method = {"name": "l-clustering", "weights": {"age": 0, "job": 0, "zip": 0}}
    constraints = [{"l": 3, "of": "ill"}]
    policy = POLICY | {"method": method, "constraints": constraints}
    before = shoal.anonymize(table, policy)
    after = shoal.anonymize(table, policy, refine="quick")
    lost = [release.measured.evidence.columns["town"].loss for release in (before, after)]
    assert lost[1] < lost[0]


def test_people_are_counted_in_refined_classes() -> None:
    table = census(400)
    ids = pa.array(np.random.default_rng(1).integers(0, 150, 400))
    table = table.append_column("id", ids)
    columns = POLICY["columns"] | {"id": "person"}
    constraints = [{"k": 3}, {"l": 2, "of": "ill"}]
    policy = POLICY | {"columns": columns, "constraints": constraints}
    before = shoal.anonymize(table, policy, method="k-clustering")
    after = shoal.anonymize(table, policy, method="k-clustering", refine="quick")
    assert all(finding.holds for finding in after.findings)
    assert after.metrics["mean-ncp"] <= before.metrics["mean-ncp"]


def test_out_of_core_as_in_memory(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(census(600), tmp_path / "table.csv")
    policy = POLICY | {
        "method": {"name": "k-clustering", "block_rows": 100},
        "constraints": [{"k": 3}, {"l": 2, "of": "ill"}],
        "refine": 3,
    }
    rows = []
    options: dict[str, Any]
    for options in ({}, {"memory": "500MB"}):
        shoal.run(tmp_path / "table.csv", policy, tmp_path / "out.csv", force=True, **options)
        rows.append(sorted((tmp_path / "out.csv").read_text().splitlines()))
    assert rows[0] == rows[1]
    with pytest.raises(PolicyError, match="refine: the groups of mondrian are refined in memory"):
        shoal.run(
            tmp_path / "table.csv",
            policy,
            tmp_path / "no.csv",
            method="mondrian",
            memory="500MB",
        )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"refine": 0}, "refine: found 0; must be quick or thorough, or a number of passes"),
        ({"refine": True}, "refine: found true; must be quick or thorough"),
        ({"refine": "fast"}, "refine: found 'fast'; must be quick or thorough"),
        (
            {"refine": "quick", "publish": "anatomy"},
            "refine: has no effect with `publish: anatomy`",
        ),
        ({"refine": "quick", "method": "datafly"}, "refine: method: datafly gives every value the"),
    ],
)
def test_what_cannot_be_refined_is_refused(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError) as error:
        shoal.anonymize(census(50), POLICY | keys)
    assert words in str(error.value)


def test_a_policy_keeps_its_effort() -> None:
    for effort in ("thorough", 7):
        policy = shoal.Policy.load(POLICY | {"refine": effort})
        assert f"refine: {effort}\n" in policy.to_yaml()
        assert shoal.Policy.load(policy.to_yaml()).refine == effort
        assert policy.fingerprint() != shoal.Policy.load(POLICY).fingerprint()
