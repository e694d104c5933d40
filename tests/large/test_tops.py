"""The top cuts from histograms and the fragments below them, against the method on one machine."""

import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.cells.cells import Cells
from shoal.cells.spans import spans_of
from shoal.engines.large.duck import DuckSession
from shoal.errors import Infeasible
from shoal.large import slices
from shoal.large.fragments import CutOn, Finish
from shoal.large.tops import cut_tops
from shoal.methods.flexible_partition import FlexiblePartition
from shoal.methods.least_loss_partition import LeastLossPartition
from shoal.methods.mondrian import Mondrian
from shoal.models.alpha import Alpha
from shoal.models.beta import Beta
from shoal.models.entropy_l import EntropyL
from shoal.models.k import K
from shoal.models.l import L
from shoal.models.requirement import Requirement
from shoal.models.t import T
from shoal.publish.labels import labels_of
from tests.coded import coded_tables
from tests.large.made import put

METHODS: dict[str, Any] = {
    "mondrian strict": Mondrian(),
    "mondrian relaxed": Mondrian(strict=False),
    "flexible widest": FlexiblePartition(dimension="widest"),
    "flexible least-loss": FlexiblePartition(),
    "least-loss": LeastLossPartition(),
}
REQUIREMENTS = {
    "k1": (K(k=1),),
    "k2": (K(k=2),),
    "k3": (K(k=3),),
    "k2 l2": (K(k=2), L(l=2, of="illness")),
    "l3": (L(l=3, of="illness"),),
    "alpha": (Alpha(alpha=0.5, of="illness"),),
    "t": (K(k=2), T(t=0.4, of="illness")),
    "beta entropy": (Beta(beta=2.0, of="illness"), EntropyL(entropy_l=1.5, of="illness")),
}
Published = Counter[tuple[object, ...]]


@pytest.fixture(scope="module")
def session() -> Iterator[DuckSession]:
    made = DuckSession()
    yield made
    made.close()


def nothing(_: float) -> None:
    pass


def local(cells: Cells, method: Any, requirement: Requirement) -> tuple[Published, list[int]]:
    """Labels and number of each canonical row, and the sizes of the groups."""
    (grouping,) = method.group(cells, requirement, 0, nothing)
    spans = spans_of(cells, grouping)
    columns = []
    for j, domain in enumerate(cells.domains):
        labels = labels_of(domain, spans, j)
        columns.append([labels.texts[labels.of_group[g]].as_py() for g in grouping.group])
    return Counter(zip(*columns, range(cells.n_rows), strict=True)), sorted(spans.sizes.tolist())


def large(
    session: DuckSession,
    cells: Cells,
    method: Any,
    requirement: Requirement,
    fragment_rows: int,
) -> tuple[Published, list[int]]:
    coded = put(session, cells)
    tops = cut_tops(session, coded, requirement, method.cutting(), fragment_rows)
    depths = np.array([fragment.depth for fragment in tops.fragments], np.int64)
    group = CutOn(method, requirement, coded.n_rows)
    finish = Finish(
        coded.domains,
        coded.sensitive,
        coded.sensitive_domains,
        coded.totals,
        depths,
        tuple(coded.schema.names),
        group,
    )
    rows = tops.rows(finish.columns)
    sent = pickle.loads(pickle.dumps(finish))
    session.map_groups("published", rows, "node", sent, finish.schema(coded.schema))
    assert sorted(fragment.rows for fragment in tops.fragments) == sorted(
        session.ask(f"SELECT count(*) AS n FROM ({rows}) GROUP BY node")["n"].to_pylist()
    )
    sizes = session.ask("SELECT count(*) AS n FROM published GROUP BY g")["n"].to_pylist()
    names = [*(f"q{j}" for j in range(len(cells.domains))), "p0"]
    found = session.ask(f"SELECT {', '.join(names)} FROM published")
    return Counter(zip(*(found[name].to_pylist() for name in names), strict=True)), sorted(sizes)


@pytest.mark.parametrize("method", METHODS)
@given(table=coded_tables(), data=st.data())
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_the_same_rows_for_any_size_of_fragment(
    session: DuckSession, method: str, table: Any, data: st.DataObject
) -> None:
    models = REQUIREMENTS[data.draw(st.sampled_from(sorted(REQUIREMENTS)))]
    requirement = Requirement(models)
    fragment_rows = data.draw(st.integers(1, table.cells.n_rows + 1) | st.just(1))
    slices.FEW = data.draw(st.sampled_from([0, 10, 200_000]))
    try:
        expected = local(table.cells, METHODS[method], requirement)
    except Infeasible as error:
        with pytest.raises(Infeasible, match=str(error)[:20]):
            large(session, table.cells, METHODS[method], requirement, fragment_rows)
        return
    assert large(session, table.cells, METHODS[method], requirement, fragment_rows) == expected
