"""K-clustering in several threads: it ends, and with the same bytes for any number of them."""

import subprocess
import sys

ATTEMPTS = """
import os, hashlib
import numpy as np
import pyarrow as pa
import shoal
import shoal.threads

shoal.threads.SMALL = 1  # as in a large table: whatever can be shared between threads is
rng = np.random.default_rng(0)
table = pa.table({
    "age": rng.integers(18, 90, 1500),
    "hours": rng.integers(0, 60, 1500),
    "town": rng.choice(["Ath", "Huy", "Mons", "Spa", "Visé", "Dour", "Lens", "Thuin"], 1500),
    "work": rng.choice(["baker", "clerk", "cook", "judge", "nurse", "pilot"], 1500),
    "ill": rng.choice(["flu", "gout", "none", "asthma"], 1500, p=[0.1, 0.1, 0.7, 0.1]),
})
for threads in ("1", "2", "4"):
    os.environ["SHOAL_THREADS"] = threads
    release = shoal.anonymize(
        table, quasi=["age", "hours", "town", "work"], sensitive="ill", k=4, l=2,
        method="k-clustering", refine="quick", seed=3, order="kept",
    )
    rows = str(release.table.to_pydict()).encode()
    print(hashlib.sha256(rows).hexdigest(), release.verified)
"""
PATIENCE = 300
"""Seconds after which threads wait for each other for ever, on a busy machine too."""


def test_threads_do_not_wait_for_each_other_and_give_the_same_bytes() -> None:
    """In a process of its own: threads that wait for ever could not be ended."""
    done = subprocess.run(
        [sys.executable, "-c", ATTEMPTS],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    one, two, four = done.stdout.splitlines()
    assert one.endswith("True")
    assert one == two == four
