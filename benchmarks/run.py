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
    "adult.py",
    "lattice.py",
    "clustering.py",
    "top_down.py",
    "people.py",
    "truth.py",
    "minimality.py",
]
NEEDS = {
    "adult.py": ["SHOAL_ADULT"],
    "lattice.py": ["SHOAL_ADULT"],
    "clustering.py": ["SHOAL_ADULT_UCI"],
    "top_down.py": ["SHOAL_ADULT"],
}


def main() -> None:
    for script in SCRIPTS:
        lacking = [name for name in NEEDS.get(script, []) if name not in os.environ]
        if lacking:
            print(f"{script} is left out: {lacking[0]} does not name the folder of Adult.")
            continue
        print(f"— {script}", flush=True)
        subprocess.run([sys.executable, str(HERE / script)], check=True)


if __name__ == "__main__":
    main()
