"""A user's script without mistakes: type checkers must accept every line."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl

import shoal

people = pd.DataFrame({"age": [31, 36, 35, 61], "disease": ["flu", "flu", "asthma", "flu"]})
policy: dict[str, Any] = {"columns": {"age": "quasi", "disease": "sensitive"}, "constraints": []}

release = shoal.anonymize(people, quasi="age", sensitive=["disease"], k=2, l=2, seed=3)
table: pd.DataFrame = release.table
frame: pl.DataFrame = shoal.anonymize(pl.DataFrame({"age": [1, 2]}), quasi="age", k=2).table
rows: int = shoal.anonymize(Path("people.csv"), "policy.yaml").published_rows

for k in (3, 5, 10):
    print(shoal.anonymize(people, policy, k=k, method="mondrian").metrics["mean-ncp"])

shoal.anonymize(
    people,
    policy,
    constraints=[shoal.K(5), shoal.L(3, of="disease"), shoal.T(0.2, of="disease"), {"k": 2}],
    hierarchies={"age": shoal.Hierarchy.intervals([5, 10]), "zip": {"mask": "right"}},
    kinds={"age": "ordered"},
    orders={"school": ["primary", "secondary"]},
    method=shoal.Mondrian(strict=False),
    metrics=["query-error"],
    progress=True,
)


def show(event: shoal.ProgressEvent) -> None:
    print(event.step, f"{event.share:.0%}", event.rows, event.total)


written = shoal.run("in.csv", "p.yaml", "out.csv", k=5, progress=show).output
if isinstance(written, Path):  # else the address of a table in a database
    name: str = written.name
verification = shoal.verify("out.csv", "p.yaml", certificate="report.json")
holds: bool = verification.holds
reached: float = verification[0].reached
models: list[str] = [finding.model for finding in verification]
unique: int = shoal.inspect(people, fraction=0.1).unique_rows
draft: shoal.Policy = shoal.draft_policy(people).policy
risk: float = shoal.assess(release).reidentification.prosecutor.highest
pinned: int = shoal.attack(release, known=people).release.pinned
best = shoal.compare(people, policy, methods=["mondrian", "optimal"], k=[2, 5]).recommended
names: list[str] = [entry.name for entry in shoal.list_methods().entries]

try:
    release.write("out.csv", force=True)
except shoal.Infeasible as error:
    code: int = error.exit_code
