"""All benchmarks, one after another; each may be run alone."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = [
    "whole_run.py",
    "peer.py",
    "constraints.py",
    "classfly_claims.py",
    "adult.py",
    "lattice.py",
]
ON_ADULT = {"adult.py", "lattice.py"}


def main() -> None:
    for script in SCRIPTS:
        if script in ON_ADULT and "SHOAL_ADULT" not in os.environ:
            print(f"{script} is left out: SHOAL_ADULT does not name the folder of Adult.")
            continue
        print(f"— {script}", flush=True)
        subprocess.run([sys.executable, str(HERE / script)], check=True)


if __name__ == "__main__":
    main()
