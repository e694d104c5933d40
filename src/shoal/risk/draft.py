"""Draft a policy for a table.

The draft gives the reason for every role, so that its editor can decide instead of guessing. It runs as
it is, unless columns are undecided: these stop a run until somebody has chosen their roles.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from shoal import plugins
from shoal.encoding.missing import code_list
from shoal.engines.sessions import LOCAL
from shoal.errors import InputError, counted
from shoal.io.address import Place, as_place
from shoal.io.commit import replacing
from shoal.policy import Policy
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.presets.base import Preset
from shoal.progress import ProgressCallback, ignore_event
from shoal.results import Record, Result
from shoal.risk.columns import Treatment, Type
from shoal.risk.inspection import ColumnReport, Inspection, inspect
from shoal.risk.uniqueness import THRESHOLD

K = 5
L = 3
SUPPRESSION = 0.05
WIDEST = 46
"""Comments are aligned, unless what stands before them is wider than this."""

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*")
NOT_TEXT = {"null", "true", "false", "y", "n", "yes", "no", "on", "off"}
"""Words that some YAML parsers do not take for text."""

GENERALISED: dict[Treatment, str] = {
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
#   person       tells which rows are one person's, so that people are counted: never published
#   quasi        others may know it, and several together may single a person out: made coarser
#   sensitive    what must not be learnt about a person: published as it is
#   plain        neither: published as it is
#   undecided    neither by its name, but telling with others: stops a run until you choose a role
#   preference   what people asked for: read, never published
#
# `missing` lists values such as NA that are likely to stand for a missing one: check these too.
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
"""


@dataclass(frozen=True, repr=False)
class Draft(Result):
    """A policy to start from."""

    text: str
    """The policy as commented YAML."""
    inspection: Inspection
    """What it is based on; its roles are those of the draft."""
    name: str = "the table"
    """What it calls the table."""
    presets: tuple[str, ...] = ()
    """What authorities ask for, by name."""

    @property
    def policy(self) -> Policy:
        """The policy, ready to be used; raises `PolicyError` where columns are undecided."""
        return Policy.load(self.text)

    @property
    def undecided(self) -> tuple[str, ...]:
        """The columns whose role only a person can choose; they stop a run."""
        return tuple(name for name, role in self.roles.items() if role == "undecided")

    def decided(self, role: Literal["plain", "quasi", "sensitive", "identifier"]) -> "Draft":
        """Return the draft with one role for all undecided columns.

        Parameters
        ----------
        role
            `plain` if nobody else knows their values, `quasi` if others may, `sensitive` if they must
            not be learnt, `identifier` to leave them out.
        """
        treatments: dict[str, Treatment] = {"quasi": "unordered", "identifier": "dropped"}
        columns = tuple(
            replace(column, role=role, treatment=treatments.get(role, "kept"), reason="decided")
            if column.role == "undecided"
            else column
            for column in self.inspection.columns
        )
        found = replace(self.inspection, columns=columns)
        return Draft(_text(found, self.name, self.presets), found, self.name, self.presets)

    @property
    def roles(self) -> dict[str, str]:
        """The role of each column."""
        return {column.name: column.role for column in self.inspection.columns}

    def write(self, path: str | Path, force: bool = False) -> Path:
        """Write the draft to a file; an existing file is replaced only with `force`."""
        with replacing(Path(path), force) as place:
            place.path.write_text(self.text, encoding="utf-8")
            place.commit()
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole result as plain values that JSON can hold."""
        return {"roles": self.roles, "text": self.text}

    def _records(self) -> Sequence[Record]:
        return [
            {"name": c.name, "role": c.role, "treatment": c.treatment, "reason": c.reason}
            for c in self.inspection.columns
        ]

    def _headline(self) -> str:
        quasi = self.inspection.quasi
        return f"{counted(len(self.roles), 'column')}, {counted(len(quasi), 'quasi-identifier')}"


def draft_policy(
    data: Any,
    *,
    name: str | None = None,
    presets: Sequence[str] = (),
    engine: str = LOCAL,
    memory: str | None = None,
    read: Reading = AS_WRITTEN,
    progress: ProgressCallback = ignore_event,
) -> Draft:
    """Draft a commented policy for a table, from column names and counts alone.

    Parameters
    ----------
    data
        A frame, or the path of a file, or an `Inspection`.
    name
        What the draft calls the table; the name of its file when left out.
    presets
        Names of presets, which the draft writes.
    engine, memory, read, progress
        See `inspect`.

    Returns
    -------
    Draft
        Its `text` is YAML, its `policy` the policy itself, unless columns are `undecided`.

    Raises
    ------
    InputError
        If the table cannot be read, has no rows, or no column that can be published.
    """
    preset_entries(presets)  # a name that does not exist is refused before any work
    if name is None:
        place = as_place(data)
        name = place.name if isinstance(place, Place) else "the table"
    found = data
    if not isinstance(data, Inspection):
        found = inspect(data, engine=engine, memory=memory, read=read, progress=progress)
    if not found.rows:
        raise InputError(f"{name} has column names but no rows: there is nothing to draft.")
    found = replace(found, columns=tuple(_for_presets(one, presets) for one in found.columns))
    columns = _with_a_quasi(found)
    if columns is None:
        raise InputError(
            f"{name} has no column that holds text, numbers or dates: there is nothing to publish."
        )
    found = replace(found, columns=tuple(columns))
    return Draft(_text(found, name, presets), found, name, tuple(presets))


def write_draft(
    data: Any,
    target: str | Path,
    *,
    force: bool = False,
    presets: Sequence[str] = (),
    engine: str = LOCAL,
    memory: str | None = None,
    read: Reading = AS_WRITTEN,
    progress: ProgressCallback = ignore_event,
) -> Draft:
    """Draft a policy for a table and write it; the target is checked before any work."""
    place = as_place(data)
    source = place if isinstance(place, Path) else None
    with replacing(Path(target), force, source) as file:
        draft = draft_policy(
            data, presets=presets, engine=engine, memory=memory, read=read, progress=progress
        )
        file.path.write_text(draft.text, encoding="utf-8")
        file.commit()
    return draft


def _for_presets(column: ColumnReport, names: Sequence[str]) -> ColumnReport:
    """The column as some presets allow it: left out, or a date without a hierarchy of dates."""
    for preset in preset_entries(names):
        if column.role not in ("identifier", "person") and (why := preset.unpublished(column.name)):
            return replace(column, role="identifier", treatment="dropped", reason=why)
        if preset.dates_by_year and column.treatment == "date":
            column = replace(column, treatment="ordered")
    return column


def _with_a_quasi(inspection: Inspection) -> list[ColumnReport] | None:
    """The columns, one of them made quasi if none was: a policy needs something to generalise."""
    columns = list(inspection.columns)
    if inspection.quasi:
        return columns
    for role in ("plain", "undecided", "sensitive", "preference", "identifier", "person"):
        for place, column in enumerate(columns):
            if column.role == role and column.distinct and column.type != Type.OTHER:
                why = f"a policy needs a quasi column, and none was found ({column.reason})"
                columns[place] = replace(column, role="quasi", treatment="unordered", reason=why)
                return columns
    return None


def _text(inspection: Inspection, name: str, presets: Sequence[str] = ()) -> str:
    columns = inspection.columns
    width = min(WIDEST, max(len(_column(column)) for column in columns))
    return "\n".join(
        [
            HEAD.format(
                source=quoted(name),
                rows=inspection.rows,
                columns=counted(len(columns), "column"),
            ),
            *_read(inspection),
            "columns:",
            *(f"  {_column(column):{width}}  # {_reason(column)}" for column in columns),
            "",
            TREATMENTS,
            *_presets(presets),
            *_constraints(inspection.rows, columns, presets),
            "",
            METHOD.format(suppression=SUPPRESSION),
        ]
    )


def _column(column: ColumnReport) -> str:
    """`age: {role: quasi, kind: ordered}`."""
    how = [each for each in (GENERALISED.get(column.treatment),) if each]
    if "dates" in column.written and column.role in ("quasi", "sensitive"):
        how.append(f"dates: {quoted(column.written['dates'])}")
    if column.likely_missing and column.role in ("quasi", "sensitive", "undecided"):
        how.append(f"missing: {code_list(column.likely_missing)}")
    value = f"{{role: {', '.join([column.role, *how])}}}" if how else column.role
    return f"{quoted(column.name)}: {value}"


def _read(inspection: Inspection) -> list[str]:
    """How the table is written, and the questions about it that only a person can answer."""
    lines = []
    if inspection.read:
        lines.append(f"read: {_flow(inspection.read)}  # how the table is written, as it was found")
    for column in inspection.columns:
        if column.question and column.role == "quasi":
            lines.append(
                f"# {quoted(column.name)}: {column.question}. A run stops until one of these"
            )
            lines.append("# lines is in the policy (a key of the column goes to the column):")
            lines += [f"#   {answer}" for answer in column.answers]
    return [*lines, ""] if lines else []


def _flow(value: Any) -> str:
    """Plain data as YAML on one line."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def _reason(column: ColumnReport) -> str:
    """The reason of the role, with a warning about quasi columns that single people out alone."""
    if column.role != "quasi" or column.unique_alone < THRESHOLD:
        return column.reason
    return f"{column.reason}; alone it makes {column.unique_alone:.0%} of the rows unique"


def preset_entries(names: Sequence[str]) -> list[Preset]:
    """The presets of some names, with nothing stated beside them."""
    return [plugins.preset(name)() for name in names]


def _presets(names: Sequence[str]) -> list[str]:
    """The presets, each with its title and what a person must judge as a comment."""
    if not names:
        return []
    lines = ["preset:"]
    for preset in preset_entries(names):
        lines.append(
            f"  - {preset.name}  # {preset.title}; `shoal presets {preset.name}` explains it"
        )
        lines += [f"    # to be judged: {sentence}" for sentence in preset.judged_by_people]
    return [*lines, ""]


def _constraints(
    rows: int, columns: Sequence[ColumnReport], presets: Sequence[str] = ()
) -> list[str]:
    people = [column.distinct for column in columns if column.role == "person"]
    k, units = min(K, rows, *people), "people" if people else "rows"
    lines = [(f"- {{k: {k}}}", f"anyone who looks for a person finds at least {k} {units}")]
    for model in (model for preset in preset_entries(presets) for model in preset.constraints()):
        if model.name == "k":
            lines = [("# - {k: ..}", "the presets ask for it; a line here may only ask for more")]
    for column in columns:
        if column.role != "sensitive":
            continue
        name, line = quoted(column.name), f"- {{l: {L}, of: {quoted(column.name)}}}"
        distinct = column.distinct - len(column.likely_missing)
        if distinct >= L:
            lines.append((line, f"and among them at least {L} different values of {name}"))
        else:
            lines.append(_too_few(name, distinct))
    width = min(WIDEST, max(len(line) for line, _ in lines))
    none = all(line.startswith("#") for line, _ in lines)  # the presets have them all
    head = "# constraints:" if none else "constraints:"
    return [head, *(f"  {line:{width}}  # {reason}" for line, reason in lines)]


def _too_few(name: str, distinct: int) -> tuple[str, str]:
    """A constraint in a comment, as it would protect a column of fewer than L values."""
    if distinct < 2:
        return f"# - {{l: {L}, of: {name}}}", f"{name} has too few different values ({distinct})"
    why = f"{name} has only {distinct} different values and is not protected without this line"
    return f"# - {{l: {distinct}, of: {name}}}", why


def quoted(name: str) -> str:
    """A name as YAML reads it as text, on one line."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in NOT_TEXT:
        return name
    return '"' + "".join(_escaped(character) for character in name) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
