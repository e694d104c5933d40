"""Rows that local recoding leaves over: groups are judged from histograms as from their rows."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.methods import left_over
from shoal.methods.left_over import Groups, _Judge
from shoal.models.alpha import Alpha
from shoal.models.beta import Beta
from shoal.models.k import K
from shoal.models.requirement import Requirement
from tests.examples import examples
from tests.methods.clustered import Clustered, tables


@examples(40)
@given(table=tables(), seed=st.integers(0, 1 << 20), kept=st.sampled_from([1, 1 << 24]))
def test_a_group_holds_with_a_cell_as_its_rows_say(table: Clustered, seed: int, kept: int) -> None:
    """Groups that grow, asked again and again; counted by hand from the values of their rows."""
    cells, rng = table.cells, np.random.default_rng(seed)
    if cells.n_cells < 3:
        return
    group = np.append(rng.integers(-1, 2, cells.n_cells - 1), 0).astype(np.int32)
    groups = Groups(cells, Requirement((K(2), Alpha(0.6, "s0"))), group)
    members = [some.tolist() for some in groups.members]
    sizes = np.array([cells.counts[some].sum() for some in groups.members])
    judge = _Judge(groups, sizes)
    cell_of = np.repeat(np.arange(cells.n_cells), cells.counts)
    domain = cells.sensitive_domains["s0"]

    def holds(some: list[int]) -> bool:
        codes = cells.sensitive["s0"][np.isin(cell_of, some)].tolist()
        values = Counter(code for code in codes if code != domain.missing)
        top = max(values.values(), default=0)
        return len(codes) >= 2 and top <= 0.6 * values.total()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(left_over, "MOST_KEPT", kept)
        for cell in groups.left.tolist():
            every = np.arange(len(members))
            held = judge.hold_with(every, cell).tolist()
            assert held == [holds([*some, cell]) for some in members]
            into = int(rng.integers(len(members)))
            groups.more.setdefault(into, []).append(cell)
            judge.joined(into, cell)
            sizes[into] += cells.counts[cell]
            members[into].append(cell)


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_rows_that_fit_nowhere_do_not_cost_the_others() -> None:
    """A rare value fits into hardly any group, and once it is left out the rest breaks β-likeness too:
    groups of a partition lose less than suppressing nearly everything."""
    rng = np.random.default_rng(3)
    n = 400
    ill = np.where(rng.random(n) < 0.02, 5, rng.integers(0, 5, n))
    table = pa.table(
        {
            "age": rng.integers(20, 80, n),
            "zip": rng.integers(0, 30, n),
            "ill": [f"i{i}" for i in ill],
        }
    )
    found = shoal.anonymize(
        table, quasi=["age", "zip"], sensitive=["ill"], method="local-recoding",
        constraints=[K(5), Beta(2, "ill")],
    )  # fmt: skip
    other = shoal.anonymize(
        table, quasi=["age", "zip"], sensitive=["ill"], method="mondrian",
        constraints=[K(5), Beta(2, "ill")],
    )  # fmt: skip
    assert found.verified
    assert (found.metrics["mean-ncp"] or 0) <= (other.metrics["mean-ncp"] or 0)


@examples(40)
@given(table=tables(), seed=st.integers(0, 1 << 20))
def test_groups_that_break_without_the_rows_left_are_merged(table: Clustered, seed: int) -> None:
    """Compared with fewer rows, groups may break a model: no more rows are left out for that, as then
    others would break it."""
    cells, rng = table.cells, np.random.default_rng(seed)
    requirement = Requirement((K(2), Beta(0.7, "s0")))
    group = np.append(rng.integers(-1, 4, cells.n_cells), -1)
    group = np.unique(group, return_inverse=True)[1][:-1] - 1
    groups = Groups(cells, requirement, group.astype(np.int32))
    left = groups.left.tolist()
    if not left or not groups.members:
        return
    groups._keep_what_holds()
    if groups.members:
        assert groups.left.tolist() == left
        assert groups.hold(groups.members, kept_rows=True).all()
    else:  # not even all of them together hold: a single row, or values that are unknown
        assert not groups.hold([np.flatnonzero(group >= 0)], kept_rows=True).all()


@examples(30)
@given(table=tables(), seed=st.integers(0, 1 << 20))
def test_merging_ends_with_groups_that_hold(table: Clustered, seed: int) -> None:
    """Whatever groups it begins with, no cell is lost, and each group holds unless there is only one."""
    cells, rng = table.cells, np.random.default_rng(seed)
    requirement = Requirement((K(2), Beta(0.7, "s0")))
    group = np.unique(rng.integers(0, 4, cells.n_cells), return_inverse=True)[1]
    groups = Groups(cells, requirement, group.astype(np.int32))
    groups._merge_what_breaks()
    assert sorted(np.concatenate(groups.members).tolist()) == list(range(cells.n_cells))
    assert len(groups.members) == 1 or groups.hold(groups.members).all()


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_groups_of_stronger_constraints_are_the_same_out_of_core(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    n = 80
    ill = [f"i{i}" for i in rng.integers(0, 4, n)]
    table = pa.table({"age": rng.integers(20, 80, n), "zip": rng.integers(0, 9, n), "ill": ill})
    pyarrow.csv.write_csv(table, tmp_path / "table.csv")
    policy = {
        "columns": {"age": "quasi", "zip": "quasi", "ill": "sensitive"},
        "constraints": [{"k": 2}, {"alpha": 0.6, "of": "ill"}],
        "seed": 1,
    }
    rows = []
    options: dict[str, Any]
    for options in ({}, {"memory": "500MB"}):
        shoal.run(tmp_path / "table.csv", policy, tmp_path / "out.csv", force=True, **options)
        rows.append(sorted((tmp_path / "out.csv").read_text().splitlines()))
    assert rows[0] == rows[1]
