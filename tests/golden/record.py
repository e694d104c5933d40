"""Record the golden releases anew: `python -m tests.golden.record`.

Do so only when a release is meant to change, and when CHANGELOG.md says that it does and why: people
who ran Shoal before get other files then. After a change that is meant to change no release, such as a
refactoring, a test that fails here has found a mistake. New cases may be added at any time; the
difference of the JSON file must then show no line of an old one.

`python -m tests.golden.record --here` leaves out Spark, which needs Java, and keeps what was recorded
for it.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.golden.cases import CASES, FRAME, HERE, THERE, Case
from tests.golden.making import RECORDED, Record, make, recorded


def _made(cases: tuple[Case, ...], spark: Any = None) -> dict[str, Record]:
    found = {}
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            found[case.id] = make(case, Path(folder), spark)
    return found


def _made_in_spark() -> dict[str, Record]:
    """Commands open a Spark of their own; then the frames of one session follow."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    found = _made(tuple(case for case in THERE if case.source != FRAME))
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        return found | _made(tuple(case for case in THERE if case.source == FRAME), spark)
    finally:
        spark.stop()


def main() -> None:
    """Make all releases and write what is kept of them."""
    found = _made(HERE)
    if "--here" in sys.argv:
        found |= {case.id: one for case in THERE if (one := recorded().get(case.id)) is not None}
    else:
        found |= _made_in_spark()
    lines = (f"{json.dumps(name)}: {json.dumps(one)}" for name, one in sorted(found.items()))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    for engine, count in Counter(case.engine for case in CASES).items():
        print(f"{count:5} {engine}")


if __name__ == "__main__":
    main()
