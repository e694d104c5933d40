"""pandas is not loaded before it is needed, and is known to pyarrow from then on."""

import subprocess
import sys

SCRIPT = """
import sys
import pyarrow as pa
import shoal

table = pa.table({"age": [21, 22, 35, 38], "ill": ["flu", "flu", "gout", "flu"]})
assert "pandas" not in sys.modules or EARLY
release = shoal.anonymize(table, quasi="age", sensitive="ill", k=2)
assert "pandas" not in sys.modules or EARLY

import importlib.util

assert importlib.util.find_spec("pandas") is not None  # others may look for it, too
assert "pandas" not in sys.modules or EARLY

import pandas as pd

assert pa.array(pd.Series([1.0, float("nan")])).null_count == 1
assert pa.Table.from_pandas(pd.DataFrame({"a": ["x"]})).num_rows == 1
assert release.table.to_pandas()["ill"].tolist()[:2] == ["flu", "flu"]
frame = shoal.anonymize(table.to_pandas(), quasi="age", sensitive="ill", k=2).table
assert isinstance(frame, pd.DataFrame)
assert pd.__spec__.loader.__class__.__module__.startswith("_frozen_importlib")
print([type(finder).__name__ for finder in sys.meta_path if "Await" in type(finder).__name__])
"""


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_table_needs_no_pandas_and_frames_later_do() -> None:
    # pyarrow converts the first lists of the script itself, so it is kept from that until Shoal is there
    script = SCRIPT.replace(
        "import pyarrow as pa\nimport shoal\n",
        "import shoal.io.arrow\nimport pyarrow as pa\nimport shoal\n",
    )
    assert run(script.replace("EARLY", "False")) == "[]"


def test_pandas_that_is_there_already_is_known_at_once() -> None:
    assert run("import pandas\n" + SCRIPT.replace("EARLY", "True")) == "[]"
