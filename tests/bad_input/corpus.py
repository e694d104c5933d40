"""The corpus of bad input: one YAML file per case, run through every command.

A case has a `table` (`name`, and `text`, `base64` or `gzip`, which is packed), perhaps a `policy`, and
the `error` that `shoal run` reports, as a pattern, with its exit `code`. Values that would be somebody's
contain CANARY, which must be in no output of any command.
"""

import base64
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"
CANARY = "c4nary"
POLICY = """\
columns: {age: quasi, town: quasi, ill: sensitive}
constraints: [{k: 2}]
seed: 1
"""
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "{table}", "{policy}", "-o", "out/r.csv", "--report", "out/r.json"),
    "run, out of core": ("run", "{table}", "{policy}", "-o", "out/r.csv", "--memory", "300MB"),
    "inspect": ("inspect", "{table}"),
    "init": ("init", "{table}", "-o", "out/draft.yaml"),
    "verify": ("verify", "{table}", "{policy}"),
    "verify, out of core": ("verify", "{table}", "{policy}", "--memory", "300MB"),
    "decode": ("decode", "{table}", "{policy}", "-o", "out/d.csv"),
    "utility": ("utility", "{table}", "{table}", "{policy}"),
    "compare": ("compare", "{table}", "{policy}", "--methods", "mondrian"),
    "attack": ("attack", "{table}", "{policy}", "--known", "{table}"),
    "criteria": ("criteria", "{table}", "{policy}"),
    "apply": ("apply", "{policy}", "{table}", "-o", "out/a.csv"),
}
QUICK = ("run", "inspect", "verify")
"""Commands that every test run tries."""
ALLOWED = (0, 2, 3, 4)
"""Exit codes that a user can cause."""


@dataclass(frozen=True)
class Case:
    """One bad input."""

    name: str
    table: dict[str, Any]
    error: str
    code: int = 2
    policy: str = POLICY

    def write(self, folder: Path) -> dict[str, str]:
        """Write its files; returns what stands for them in commands."""
        (folder / "out").mkdir()
        path = folder / self.table["name"]
        path.write_bytes(_bytes(self.table))
        (folder / "policy.yaml").write_text(self.policy, encoding="utf-8")
        return {"table": path.name, "policy": "policy.yaml"}


def _bytes(given: dict[str, Any]) -> bytes:
    times = int(given.get("times", 1))
    if "base64" in given:
        return base64.b64decode(given["base64"]) * times
    if "gzip" in given:
        return gzip.compress(given["gzip"].encode() * times, mtime=0)
    encoding = given.get("encoding", "utf-8")
    return (given.get("head", "") + str(given["text"]) * times).encode(encoding)


def cases() -> list[Case]:
    """All cases, by name."""
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        found.append(Case(path.stem, **data))
    return found
