"""The lowest versions that pyproject.toml allows, as constraints for pip: `make lowest` tests with them.

python packaging/lowest.py > lowest.txt
"""

import re
import tomllib
from itertools import chain
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
BOUND = re.compile(r"([\w.-]+)(?:\[[^]]*\])?\s*>=\s*([\w.]+)")


def lowest(text: str) -> dict[str, str]:
    """By package the highest of its lower bounds, in the dependencies and in every extra."""
    project = tomllib.loads(text)["project"]
    every = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    found: dict[str, str] = {}
    for requirement in every:
        if bound := BOUND.match(requirement):
            name, version = bound.groups()
            known = found.get(name, version)
            found[name] = max(known, version, key=_numbers)
    return found


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


if __name__ == "__main__":
    for package, version in sorted(lowest(PROJECT.read_text()).items()):
        print(f"{package}=={version}")
