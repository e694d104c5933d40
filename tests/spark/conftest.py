"""One cluster at a time on this machine, started when the first test asks for it."""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.engines.large.spark.opening import open_spark
from shoal.engines.large.spark.session import SparkTables
from tests.spark.cluster import Cluster, require_java, running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_java()
    folder = tmp_path_factory.mktemp("cluster")
    # tests that run beside each other wait: two clusters would not fit
    shared = folder.parent.parent if "PYTEST_XDIST_WORKER" in os.environ else folder.parent
    with Path(shared, "spark.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with running(folder) as started:
            yield started


@pytest.fixture(scope="module")
def session(cluster: Cluster) -> Iterator[SparkTables]:
    opened = open_spark(cluster.address)
    try:
        yield opened
    finally:
        opened.close()
