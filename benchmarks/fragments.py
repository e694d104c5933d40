"""A release on a cluster that is cut into many fragments: `fragments.py IN POLICY OUT MASTER ROWS`.

Called by large.py. What such a run costs the one who asks is what it costs for a table that is as many
times as large.
"""

import json
import sys
from pathlib import Path

from shoal.engines.selection import SparkEngine
from shoal.engines.sources import source_at
from shoal.pipeline.run import run_with
from shoal.policy import Policy
from shoal.progress import Clock


def main(source: str, policy: str, target: str, master: str, rows: str) -> None:
    engine, clock = SparkEngine(master), Clock()
    engine.fragment_rows = int(rows)
    found, known = source_at(Path(source)), Policy.load(Path(policy))
    with engine.opened(clock):
        release = run_with(engine, found, known, Path(target), clock, force=True)
    print(
        json.dumps(
            {
                "seconds": release.seconds,
                "metrics": {"mean-ncp": release.metrics["mean-ncp"]},
                "groups": release.groups,
                "verified": release.verified,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
