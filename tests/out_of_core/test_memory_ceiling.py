"""Memory does not grow with rows that nothing distinguishes: four times as many take hardly any more."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
FEW, MANY = 3_000_000, 12_000_000
MOST_BYTES = 30
"""That a further row may take; before equal rows passed in parts it took 200."""
RUN = """
import sys
import shoal

table, policy, release = sys.argv[1:]
assert shoal.run(table, policy, release, memory="500MB").rows > 0
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak)
"""


def peak(folder: Path, rows: int, method: str) -> int:
    """The most bytes of a run on so many rows of which two are different."""
    table, policy = folder / f"{rows}.csv.gz", folder / "policy.yaml"
    with gzip.open(table, "wb", 1) as file:
        file.write(b"age,ill\n")
        for _ in range(rows // 500_000):
            file.write(b"34,flu\n35,rash\n" * 250_000)
    policy.write_text(
        "columns: {age: quasi, ill: sensitive}\n"
        f"constraints: [{{k: 5}}]\nmethod: {method}\nseed: 1\n"
    )
    command = [sys.executable, "-c", RUN, str(table), str(policy), str(folder / f"{rows}.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) << 10


@pytest.mark.long
@pytest.mark.skipif(not STATUS.exists(), reason="tells the most memory of a process on Linux alone")
@pytest.mark.parametrize("method", ["mondrian", "least-loss-partition"])
def test_memory_hardly_grows_with_equal_rows(method: str, tmp_path: Path) -> None:
    few, many = (peak(tmp_path, rows, method) for rows in (FEW, MANY))
    assert many - few < MOST_BYTES * (MANY - FEW)
