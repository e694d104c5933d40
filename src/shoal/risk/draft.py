"""Draft a policy for a table.

The draft gives the reason for every role and every constraint, so that its editor can decide instead of
guessing. It runs as it is, with any method, unless columns are undecided: these stop a run until
somebody has chosen their roles.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from shoal import plugins
from shoal.encoding.missing import code_list
from shoal.engines.sessions import LOCAL
from shoal.errors import InputError, counted, listed, nearest
from shoal.io.address import Place, as_place
from shoal.io.commit import replacing
from shoal.policy import Policy
from shoal.policy.reading import AS_WRITTEN, Reading
from shoal.policy.yaml_source import MOST_BYTES
from shoal.presets.base import Preset
from shoal.progress import ProgressCallback, ignore_event
from shoal.results import Record, Result
from shoal.risk.columns import Role, Treatment, Type
from shoal.risk.inspection import ColumnReport, Inspection, inspect
from shoal.risk.undecided import K

SUPPRESSION = 0.05
WIDEST = 46
"""Comments are aligned, unless what stands before them is wider than this."""

PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[ -][A-Za-z0-9_]+)*")
NOT_TEXT = {"null", "true", "false", "y", "n", "yes", "no", "on", "off"}
"""Words that some YAML parsers do not take for text."""

LONGEST_LINE = 100
"""A column with a longer text is written over several lines."""

Chosen = Literal["plain", "quasi", "sensitive", "identifier", "person"]
Careful = Literal["quasi", "identifier"]
"""Roles that all undecided columns may have without being looked at one by one."""

HEAD = """\
# A draft for {source}: {rows:,} rows, {columns}.
# It was made from names and counts alone. Check every role: only you know what others may know.
# {left}
# Hierarchies and codes list values of the table, so this file is as confidential as the table.
#
#   identifier   names a person by itself: never published
#   person       tells which rows are one person's, so that people are counted: never published
#   quasi        others may know it, and several together may single a person out: made coarser
#   sensitive    what must not be learnt about a person: published as it is
#   plain        neither: published as it is
#   undecided    neither by its name, but telling with others: stops a run until you choose a role
#   preference   what people asked for: read, never published
#   weight       how many people of the population a row stands for: read, not published
#
# `missing` lists values such as NA that are likely to stand for a missing one: check these too.
"""

TREATMENTS = """\
# How a quasi column is made coarser. Where it has a kind and a hierarchy, methods that give every value
# the same level everywhere (datafly, incognito, optimal, classfly) take the hierarchy, all others the
# kind. The hierarchies are proposals: give the groups better names, or write a file.
#   kind: ordered                               [30~35]
#   kind: unordered                             {France, Italy}
#   hierarchy: {mask: right}                    02138, 0213*, 021** .. (or left)
#   hierarchy: {intervals: [5, 10, 20]}         [35-40), [30-40), [20-40)
#   hierarchy: {date: [month, year, decade]}    1964-03, 1964, 1960s
#   hierarchy: places.csv                       a file: each line a value, then what it becomes
"""

METHOD = """\
method: auto                   # chooses one by the table; `shoal methods` lists all
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

    @property
    def left(self) -> str:
        """What is left to decide, in one sentence."""
        return _left(self.inspection)

    def decided(self, roles: Chosen | Mapping[str, Chosen]) -> "Draft":
        """Return the draft with other roles.

        Parameters
        ----------
        roles
            One role for all undecided columns, or the role of each column that changes: `plain` if
            nobody else knows its values, `quasi` if others may, `sensitive` if they must not be learnt,
            `identifier` to leave it out, `person` if it tells which rows are one person's.

        Raises
        ------
        InputError
            If the table has no column of that name.
        """
        if not isinstance(roles, Mapping):
            roles = dict.fromkeys(self.undecided, roles)
        if unknown := [name for name in roles if name not in self.roles]:
            raise InputError(
                f"The table has no column '{unknown[0]}'.{nearest(unknown[0], self.roles)} It has: "
                f"{listed(self.roles)}."
            )
        columns = tuple(
            _with_role(column, roles[column.name]) if column.name in roles else column
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
        return {
            "roles": self.roles,
            "reasons": {column.name: column.reason for column in self.inspection.columns},
            "undecided": list(self.undecided),
            "left": self.left,
            "text": self.text,
        }

    def _records(self) -> Sequence[Record]:
        return [
            {"name": c.name, "role": c.role, "treatment": c.treatment, "reason": c.reason}
            for c in self.inspection.columns
        ]

    def _headline(self) -> str:
        quasi = self.inspection.quasi
        return f"{counted(len(self.roles), 'column')}, {counted(len(quasi), 'quasi-identifier')}"


ABOUT = """\
# about:        # for the first page of the report; take the marks away and complete it
#   title:      # what is published
#   purpose:    # what it is for
#   recipient:  # who gets it
#   contact:    # who answers questions
# A column may say why it has its role, as in `age: {role: quasi, why: neighbours know it}`.
"""
"""What a person may add."""


def draft_policy(
    data: Any,
    *,
    name: str | None = None,
    presets: Sequence[str] = (),
    undecided: Careful | None = None,
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
    undecided
        The role of all columns that would be undecided.
    engine, memory, read, progress
        See `inspect`.

    Returns
    -------
    Draft
        Its `text` is YAML, its `policy` the policy itself, unless columns are `undecided`.

    Raises
    ------
    InputError
        If the table cannot be read, has no rows, no column that can be published, or so many columns
        that the draft would be larger than a policy may be.
    """
    preset_entries(presets)  # a name that does not exist is refused before any work
    if undecided not in (None, *get_args(Careful)):
        raise InputError(
            f"'{undecided}' cannot be the role of all undecided columns, only "
            f"{listed(get_args(Careful))}. "
            "Choose other roles column by column."
        )
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
    if undecided is not None:
        columns = [
            replace(
                _with_role(one, undecided), reason=f"{undecided} as chosen for all; {one.reason}"
            )
            if one.role == "undecided"
            else one
            for one in columns
        ]
    found = replace(found, columns=tuple(columns))
    text = _text(found, name, presets)
    if (size := len(text.encode())) > MOST_BYTES:
        raise InputError(
            f"{name} has {len(columns):,} columns: its draft would have {size:,} bytes, and a policy "
            f"has at most {MOST_BYTES:,}. Draft a table of some of the columns; `default: drop` in "
            "its policy leaves out the others."
        )
    return Draft(text, found, name, tuple(presets))


def write_draft(
    data: Any,
    target: str | Path,
    *,
    force: bool = False,
    presets: Sequence[str] = (),
    undecided: Careful | None = None,
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
            data,
            presets=presets,
            undecided=undecided,
            engine=engine,
            memory=memory,
            read=read,
            progress=progress,
        )
        file.path.write_text(draft.text, encoding="utf-8")
        file.commit()
    return draft


def _for_presets(column: ColumnReport, names: Sequence[str]) -> ColumnReport:
    """The column as some presets allow it: left out, or a date without a hierarchy of dates."""
    for preset in preset_entries(names):
        if column.role not in ("identifier", "person") and (why := preset.unpublished(column.name)):
            return replace(column, role="identifier", treatment="dropped", reason=why)
        if preset.dates_by_year and column.as_quasi == "date":
            treatment: Treatment = "ordered" if column.treatment == "date" else column.treatment
            column = replace(column, treatment=treatment, as_quasi="ordered")
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
                columns[place] = replace(_with_role(column, "quasi"), reason=why)
                return columns
    return None


def _with_role(column: ColumnReport, role: Role) -> ColumnReport:
    """The column with a role that a person has chosen."""
    treatments: dict[str, Treatment] = {
        "quasi": column.as_quasi,
        "identifier": "dropped",
        "person": "dropped",
    }
    return replace(column, role=role, treatment=treatments.get(role, "kept"), reason="decided")


def _text(inspection: Inspection, name: str, presets: Sequence[str] = ()) -> str:
    columns = inspection.columns
    written = [_column(inspection, column) for column in columns]
    width = min(WIDEST, max((len(one) for one in written if "\n" not in one), default=0))
    return "\n".join(
        [
            HEAD.format(
                source=quoted(name),
                rows=inspection.rows,
                columns=counted(len(columns), "column"),
                left=_printable(_left(inspection)),
            ),
            ABOUT,
            *_read(inspection),
            "columns:",
            *(_with_comment(one, c.reason, width) for one, c in zip(written, columns, strict=True)),
            "",
            *_as_quasi(inspection),
            TREATMENTS,
            *_presets(presets),
            *_constraints(inspection.rows, columns, presets),
            "",
            METHOD.format(suppression=SUPPRESSION),
        ]
    )


def _left(inspection: Inspection) -> str:
    """What is left to decide."""
    names = inspection.undecided
    if not names:
        return "Nothing is left to decide, but check the roles: only you know what others may know."
    one = len(names) == 1
    return (
        f"{counted(len(names), 'column')} {'is' if one else 'are'} left to decide: {', '.join(names)}. "
        f"A run stops until {'it has a role' if one else 'each has a role'}: plain if nobody else "
        "knows its values, quasi if others may, sensitive if they must not be learnt, identifier to "
        "leave it out."
    )


def _with_comment(written: str, comment: str, width: int) -> str:
    """A column with its reason at the end of its first line."""
    first, *rest = written.split("\n")
    return "\n".join(
        [f"  {first:{width}}  # {_printable(comment)}", *(f"  {line}" for line in rest)]
    )


def _column(inspection: Inspection, column: ColumnReport) -> str:
    """`age: {role: quasi, kind: ordered}`, on several lines where it is long."""
    how = _how(inspection, column)
    if not how:
        return f"{quoted(column.name)}: {column.role}"
    inline = ", ".join(f"{key}: {_flow(value)}" for key, value in how.items())
    line = f"{quoted(column.name)}: {{role: {column.role}, {inline}}}"
    if len(line) <= LONGEST_LINE:
        return line
    lines = [f"{quoted(column.name)}:", f"  role: {column.role}"]
    for key, value in how.items():
        if key == "hierarchy" and "tree" in value:
            lines += ["  hierarchy:", "    tree:", *_tree(value["tree"])]
        else:
            lines.append(f"  {key}: {_flow(value)}")
    return "\n".join(lines)


def _how(inspection: Inspection, column: ColumnReport) -> dict[str, Any]:
    """The settings of a column beside its role."""
    how: dict[str, Any] = {}
    if column.role == "quasi":
        how = inspection.generalisation(column)
    if column.role == "sensitive" and column.protection and column.protection.ordered:
        how["kind"] = "ordered"
    if "dates" in column.written and column.role in ("quasi", "sensitive"):
        how["dates"] = column.written["dates"]
    by_text = "mask" in inspection.hierarchies.get(column.name, {"mask": "right"})
    codes = (*([""] if column.blank and not by_text else ()), *column.likely_missing)
    if codes and column.role in ("quasi", "sensitive", "undecided"):
        how["missing"] = Verbatim(code_list(codes))
    return how


def _tree(tree: Any) -> list[str]:
    """A tree as lines of YAML, with lists of values wrapped."""
    if isinstance(tree, list):
        return _wrapped("      ", tree)
    lines = []
    for name, values in tree.items():
        if values is None:
            lines.append(f"      {quoted(name)}:")
            continue
        wrapped = _wrapped("        ", values)
        line = f"      {quoted(name)}: {wrapped[0].strip()}"
        short = len(wrapped) == 1 and len(line) <= LONGEST_LINE
        lines += [line] if short else [f"      {quoted(name)}:", *wrapped]
    return lines


def _wrapped(indent: str, values: Sequence[str]) -> list[str]:
    """A list of texts in brackets, over as many lines as it needs."""
    lines, line = [], f"{indent}["
    for place, value in enumerate(values):
        text = quoted(value) + ("," if place < len(values) - 1 else "]")
        if len(line) + len(text) > LONGEST_LINE and line.strip() != "[":
            lines.append(line.rstrip())
            line = f"{indent} "
        line += f"{text} "
    return [*lines, line.rstrip()]


def _as_quasi(inspection: Inspection) -> list[str]:
    """What undecided columns would read as quasi columns, as comments."""
    lines = []
    for column in inspection.columns:
        if column.role == "undecided":
            how = inspection.generalisation(column)
            inline = "".join(f", {key}: {_flow(value)}" for key, value in how.items())
            line = f"#   {quoted(column.name)}: {{role: quasi{inline}}}"
            if len(line) <= LONGEST_LINE:
                lines.append(line)
    return ["# As quasi columns, undecided ones would read:", *lines, ""] if lines else []


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


class Verbatim(str):
    """YAML that is written as it is."""


def _flow(value: Any) -> str:
    """Plain data as YAML on one line."""
    if isinstance(value, Verbatim):
        return value
    if isinstance(value, dict):
        return f"{{{', '.join(_flow_entry(key, each) for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    return quoted(value) if isinstance(value, str) else str(value).lower()


def _flow_entry(key: str, value: Any) -> str:
    return f"{quoted(key)}: {_flow(value)}" if value is not None else f"{quoted(key)}:"


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
    lines = [(f"- {{k: {k}}}", f"anyone who looks for a person finds at least so many {units}")]
    for model in (model for preset in preset_entries(presets) for model in preset.constraints()):
        if model.name == "k":
            lines = [("# - {k: ..}", "the presets ask for it; a line here may only ask for more")]
    for column in columns:
        if column.role == "sensitive" and column.protection is not None:
            lines.append((column.protection.line(quoted(column.name)), column.protection.reason))
    width = min(WIDEST, max(len(line) for line, _ in lines))
    none = all(line.startswith("#") for line, _ in lines)  # the presets have them all
    head = "# constraints:" if none else "constraints:"
    return [head, *(f"  {line:{width}}  # {reason}" for line, reason in lines)]


def quoted(name: str) -> str:
    """A name as YAML reads it as text, on one line."""
    if PLAIN_NAME.fullmatch(name) and name.lower() not in NOT_TEXT:
        return name
    return '"' + "".join(_escaped(character) for character in name) + '"'


def _printable(text: str) -> str:
    """A text for a comment: names of columns may hold anything."""
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character == "\t":
        return "\\t"
    return character if character.isprintable() else f"\\U{ord(character):08x}"
