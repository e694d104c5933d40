"""Which column tells people apart, where a table has several rows per person.

By its name, a column is an id of people (`patient_id`, `idnr`, `pid`) and repeats. By its values, it has
many different ones that repeat, and rows with the same value agree in most suspected quasi-identifiers,
as only rows of one person do, or agree in some column and are numbered by another, as in a panel
(`evidence/repeated_ids.py`), unless a column that is a person's own by its name differs among them.
"""

from collections.abc import Sequence

from shoal.encoding.vocabulary import ID_WORDS, hint_of, words_of
from shoal.evidence.repeated_ids import agree, contradicts, is_own, is_panel
from shoal.risk.columns import FEWEST_ROWS, MANY_VALUES, Contents, Suggestion, Type
from shoal.risk.table import CountedTable

PERSON_IDS = frozenset(
    """
    pid ptid patid patno patnr idnr idno idnum uid userid subjid usubjid subjno subjectid respid
    caseid memberid personid persid pnr mergeid panelid
    """.split()  # noqa: SIM905 - as in `columns.py`
)
"""Names of ids of people, written together."""
FEWEST_PER_ID, MOST_PER_ID = 1.2, 20
"""Rows per value of a column that is taken for ids by its values."""


def with_person(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion]
) -> list[Suggestion]:
    """The suggested roles, that of the ids of people among them where ids repeat."""
    found = list(suggested)
    place = _by_name(contents, found)
    why, counted = "by its name it is the id of a person", "people are counted"
    if place is None and (place := _household(contents, found)) is not None:
        why = "by its name it is the number of a household, whose members recognise each other"
        counted = "households are counted; write identifier to count people"
    if place is None:
        place = _by_values(table, contents, found)
        why = "rows with the same value look like one person's"
    if place is not None:
        column = contents[place]
        reason = f"{why}; {column.distinct:,} in {column.rows:,} rows, so {counted}"
        found[place] = Suggestion("person", "dropped", reason)
    return found


def is_person_id(name: str) -> bool:
    """Whether a name is that of ids of people: `patient_id`, `id`, `idnr`."""
    words = words_of(name)
    hint = hint_of(name)
    ends = {*words[:1], *words[-1:]}
    named = hint is not None and hint[0] == "person" and not ends.isdisjoint(ID_WORDS)
    return named or "".join(words) in PERSON_IDS


def _repeats(column: Contents) -> bool:
    return not column.missing and column.rows >= FEWEST_ROWS and 1 < column.distinct < column.rows


def _by_name(contents: Sequence[Contents], suggested: Sequence[Suggestion]) -> int | None:
    """The column with an id's name that tells most people apart; none where one has no repeats."""
    named = [i for i, column in enumerate(contents) if is_person_id(column.name)]
    named = [i for i in named if suggested[i].role in ("identifier", "quasi", "plain")]
    if any(contents[i].distinct == contents[i].rows for i in named):
        return None  # each row has an id of its own
    repeating = [i for i in named if _repeats(contents[i])]
    return max(repeating, key=lambda i: (contents[i].distinct, -i), default=None)


def _household(contents: Sequence[Contents], suggested: Sequence[Suggestion]) -> int | None:
    """The column with the name of a household's number that tells most of them apart."""
    named = [
        i
        for i, column in enumerate(contents)
        if (hint := hint_of(column.name)) is not None
        and hint[0] == "household"
        and suggested[i].role == "identifier"
        and _repeats(column)
    ]
    return max(named, key=lambda i: (contents[i].distinct, -i), default=None)


def _by_values(
    table: CountedTable, contents: Sequence[Contents], suggested: Sequence[Suggestion]
) -> int | None:
    quasi = [c for c, s in zip(contents, suggested, strict=True) if s.role == "quasi"]
    possible = []
    for i, column in enumerate(contents):
        per_id = column.rows / max(1, column.distinct)
        if (
            _repeats(column)
            and suggested[i].role in ("identifier", "quasi", "plain")
            and column.type in (Type.TEXT, Type.CODE, Type.WHOLE)
            and column.distinct >= MANY_VALUES
            and FEWEST_PER_ID <= per_id <= MOST_PER_ID
            and (suggested[i].role == "identifier" or hint_of(column.name) is None)
        ):
            others = [other for j, other in enumerate(contents) if j != i]
            agreeing = table.agreements(column, others)
            found = {c.name: one for c, one in zip(others, agreeing, strict=True)}
            telling = [found[other.name] for other in quasi if other is not column]
            if not (len(telling) > 1 and agree(telling)) and not is_panel(agreeing):
                continue
            own = (other for other in others if is_own(other.name))
            if not any(
                contradicts(found[other.name], *table.agreements(other, [column])) for other in own
            ):
                possible.append(i)
    return max(possible, key=lambda i: (contents[i].distinct, -i), default=None)
