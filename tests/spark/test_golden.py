"""Releases made in Spark are what they were when they were recorded (see `tests.golden`)."""

from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import FRAME, THERE, Case
from tests.golden.making import make
from tests.golden.test_releases import require_as_recorded
from tests.spark.cases import LAYOUTS
from tests.spark.cluster import Cluster
from tests.spark.conftest import Configure
from tests.spark.test_command import lent as lent

THOROUGH = pytest.mark.thorough
"""A third of the frames is enough where time counts: their rows are those of other engines."""
FRAMES = [
    pytest.param(case, id=case.id, marks=[THOROUGH] if i % 3 else [])
    for i, case in enumerate(case for case in THERE if case.source == FRAME)
]
FOLDERS = [case for case in THERE if case.source != FRAME]


@pytest.mark.parametrize("case", FRAMES)
def test_a_frame_is_as_recorded(
    session: Any, configure: Configure, case: Case, tmp_path: Path
) -> None:
    configure(LAYOUTS[0])
    require_as_recorded(case, make(case, tmp_path, spark=session._spark))


@pytest.mark.usefixtures("lent")
@pytest.mark.parametrize("case", FOLDERS, ids=lambda case: case.id)
def test_a_folder_is_as_recorded(cluster: Cluster, case: Case, tmp_path: Path) -> None:
    with cluster.marks():
        require_as_recorded(case, make(case, tmp_path, engine=cluster.address))
