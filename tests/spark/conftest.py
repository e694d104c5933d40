"""One cluster and one session for all tests of this folder, started when they are first needed."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shoal.engines.spark.connection import open_spark
from shoal.engines.spark.session import SparkTables
from tests.spark.cases import LAYOUTS, Layout
from tests.spark.cluster import QUICK_JAVA, Cluster, require_java, running

THOROUGH = os.environ.get("SHOAL_SPARK") == "thorough"
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK_JAVA,
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    # a test that makes functions fail need not wait until they have failed eight times
    "spark.task.maxFailures": "3",
    **LAYOUTS[0].settings,
}
Configure = Callable[[Layout], None]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is for `make spark` alone."""
    left_out = [item for item in items if item.get_closest_marker("thorough") and not THOROUGH]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_java()
    folder = tmp_path_factory.mktemp("cluster")
    # tests that run beside each other wait: two clusters would not fit
    shared = folder.parent.parent if "PYTEST_XDIST_WORKER" in os.environ else folder.parent
    with Path(shared, "spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with running(folder) as started:
            yield started


@pytest.fixture(scope="session")
def session(cluster: Cluster) -> Iterator[SparkTables]:
    with cluster.marks():
        opened = open_spark(cluster.address, SETTINGS)
    try:
        yield opened
    finally:
        opened.close()


@pytest.fixture
def configure(session: SparkTables, monkeypatch: pytest.MonkeyPatch) -> Iterator[Configure]:
    """Configure how Spark divides its work; the settings are restored afterwards."""
    conf = session._spark.conf
    before: dict[str, str] = {}

    def apply(layout: Layout) -> None:
        monkeypatch.setattr(session, "_parts", layout.parts)
        for name, value in layout.settings.items():
            before[name] = conf.get(name)
            conf.set(name, value)

    yield apply
    for name, value in before.items():
        conf.set(name, value)
