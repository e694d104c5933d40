"""A policy to start from, written by looking at the table.

The draft runs as it is and says why each column has its role, so that whoever edits it decides and
does not guess.
"""

import re
from dataclasses import replace

from shoal.errors import InputError
from shoal.risk.columns import Treatment, Type
from shoal.risk.inspection import ColumnReport, Inspection
from shoal.risk.uniqueness import THRESHOLD

K = 5
L = 3
SUPPRESSION = 0.05
SEED = 1
WIDEST = 46
"""Comments start at the same place, unless what stands before them is wider than this."""

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*")
NOT_TEXT = {"null", "true", "false", "y", "n", "yes", "no", "on", "off"}
"""Words that some reader of YAML does not take for text."""

HOW: dict[Treatment, str] = {
    "ordered": "kind: ordered",
    "unordered": "kind: unordered",
    "mask": "hierarchy: {mask: right}",
    "date": "hierarchy: {date: [month, year, decade]}",
}

HEAD = """\
# A draft for {source}: {rows:,} rows, {columns}.
# It was made from names and counts alone. Check every role: only you know what others may know.
#
#   identifier   names a person by itself: never published
#   quasi        others may know it, and several together may single a person out: made coarser
#   sensitive    what must not be learnt about a person: published as it is
#   plain        neither: published as it is
#   preference   what people asked for: read, never published
"""

TREATMENTS = """\
# How a quasi column is made coarser:
#   kind: ordered                               [30~35]
#   kind: unordered                             {France, Italy}
#   hierarchy: {mask: right}                    02138, 0213*, 021** .. (or left)
#   hierarchy: {intervals: [5, 10, 20]}         [35-40), [30-40), [20-40)
#   hierarchy: {date: [month, year, decade]}    1964-03, 1964, 1960s
#   hierarchy: places.csv                       a file: each line a value, then what it becomes
"""

METHOD = """\
method: least-loss-partition   # `shoal methods` lists the others
suppression: {suppression}              # give up rather than leave out a larger share of the rows
seed: {seed}                        # the same seed and table give the same release, byte for byte
"""


def draft_policy(inspection: Inspection, source_name: str) -> str:
    """A commented policy for the inspected table, as YAML that loads and runs."""
    if not inspection.rows:
        raise InputError(f"{source_name} has column names but no rows: there is nothing to draft.")
    chosen = with_a_quasi(inspection)
    if chosen is None:
        raise InputError(
            f"{source_name} has no column that holds text, numbers or dates: there is nothing to "
            "publish."
        )
    width = min(WIDEST, max(len(_column(column)) for column in chosen))
    lines = [f"  {_column(column):{width}}  # {_why(column)}" for column in chosen]
    count = len(chosen)
    return "\n".join(
        [
            HEAD.format(
                source=quoted(source_name),
                rows=inspection.rows,
                columns=f"{count} column{'s' if count != 1 else ''}",
            ),
            "columns:",
            *lines,
            "",
            TREATMENTS,
            *_constraints(inspection.rows, chosen),
            "",
            METHOD.format(suppression=SUPPRESSION, seed=SEED),
        ]
    )


def with_a_quasi(inspection: Inspection) -> list[ColumnReport] | None:
    """The columns, one of them made quasi if none was: a policy needs something to make coarser."""
    columns = list(inspection.columns)
    if inspection.quasi:
        return columns
    for role in ("plain", "sensitive", "preference", "identifier"):
        for place, column in enumerate(columns):
            if column.role == role and column.distinct and column.type != Type.OTHER:
                why = f"a policy needs a quasi column, and none was found ({column.reason})"
                columns[place] = replace(column, role="quasi", treatment="unordered", reason=why)
                return columns
    return None


def _column(column: ColumnReport) -> str:
    """`age: {role: quasi, kind: ordered}`."""
    how = HOW.get(column.treatment)
    value = f"{{role: {column.role}, {how}}}" if how else column.role
    return f"{quoted(column.name)}: {value}"


def _why(column: ColumnReport) -> str:
    """The reason, and a word on quasi columns that single out people by themselves."""
    if column.role != "quasi" or column.unique_alone < THRESHOLD:
        return column.reason
    return f"{column.reason}; alone it makes {column.unique_alone:.0%} of the rows unique"


def _constraints(rows: int, columns: list[ColumnReport]) -> list[str]:
    k = min(K, rows)
    asked = [(f"- {{k: {k}}}", f"whoever looks for a person finds at least {k} rows")]
    for column in columns:
        if column.role != "sensitive":
            continue
        name, line = quoted(column.name), f"- {{l: {L}, of: {quoted(column.name)}}}"
        if column.distinct >= L:
            asked.append((line, f"and among them at least {L} different values of {name}"))
        else:
            few = f"{name} has too few different values ({column.distinct})"
            asked.append((f"# {line}", few))
    width = min(WIDEST, max(len(line) for line, _ in asked))
    return ["constraints:", *(f"  {line:{width}}  # {why}" for line, why in asked)]


def quoted(name: str) -> str:
    """A name as YAML takes it for text, on one line."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in NOT_TEXT:
        return name
    return '"' + "".join(_escaped(character) for character in name) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
