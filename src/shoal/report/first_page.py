"""The first page of a report, which prints on one sheet: what was decided, what it means, and a place to
sign.

Every text has a limit, so that the sheet is never longer than the paper; what is cut here stands in full
on the pages after it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from shoal.errors import counted
from shoal.report.certificate import is_external
from shoal.report.formatting import EVEN, chance, figure, names, percent, shown
from shoal.report.statements import unguarded

TITLE = "Privacy report"
ABOUT = {
    "purpose": "Purpose",
    "recipient": "Recipient",
    "organisation": "Organisation",
    "author": "Prepared by",
    "contact": "Contact",
    "legal_basis": "Legal basis",
}
ROLES = {
    "quasi": "Others may know",
    "sensitive": "To be protected",
    "plain": "Published as it is",
    "pseudonym": "Published as tokens",
    "weight": "Sampling weight",
    "person": "Tells people apart",
    "identifier": "Not published",
    "preference": "People's preferences",
    "not listed": "Not listed, dropped",
}
"""What a role means, in the order of the page."""
WIDE, BOLD, BESIDE, HALF, NARROW = 104, 84, 92, 56, 40
"""Characters of a line on paper, of wide letters: over the whole sheet, in the verdict, beside the names
of roles, and in the wider and the narrower part of two columns."""
LINES = 71
"""Lines on the sheet."""
FIXED = 41
"""Lines that the headings, the cards and the place to sign take."""
MOST_REASONS = 8
"""Reasons on the first page; all are on the next one."""
LONGEST_TITLE, LONGEST_REASON, LONGEST_NAME, LONGEST_RULE = 90, 80, 22, 160
LONGEST_FILE = 44
"""The name of the table, and that of the release beside or below it."""
LONGEST_WHOLE_RULE = 480
"""A guarantee where there is room for all of them."""
LONGEST_ABOUT, MANY_ABOUT = 140, 5
"""With more texts about the release than this, each takes two lines."""
MOST_CARDS = 8
"""Key figures on the first page."""


@dataclass(frozen=True)
class FirstPage:
    """What the first page shows."""

    title: str
    tables: list[tuple[str, str]]
    """The table that the report is about and the release, each with a word for it."""
    about: list[tuple[str, str]]
    """What the policy says about the release."""
    no_about: str
    """What the policy does not say about the release; empty where it names a purpose or a recipient."""
    counted: list[str]
    outsider: list[str]
    """What somebody could do who has the release and knows a person."""
    roles: list[tuple[str, str]]
    """What was decided about columns: the meaning of a role, and the columns that have it."""
    reasons: list[tuple[str, str]]
    """Columns with the reason why."""
    more_reasons: int
    rules: list[str]
    """The guarantees that were asked for, and presets."""
    more_rules: int
    to_consider: int
    """Points to consider before signing, on the pages after it."""
    to_judge: int
    """Points of presets that only a person can judge."""
    digests: list[tuple[str, str]]
    """What the signature is for."""


def first_page(certificate: Mapping[str, Any], verdict: str) -> FirstPage:
    """The first page of a report.

    What must be there is counted in lines, never too few; guarantees and reasons get what is left.
    """
    about = certificate["about"]
    longest = LONGEST_ABOUT if len(about) <= MANY_ABOUT else 2 * HALF
    texts = [(label, shown(about[key], longest)) for key, label in ABOUT.items() if key in about]
    count, outsider = _counted(certificate), _outsider(certificate)
    roles = _roles(certificate["decisions"])
    rows = [[text for _, text in texts[i : i + 2]] for i in range(0, len(texts), 2)]
    no_about = _no_about(certificate)
    tables = _tables(certificate)
    taken = (
        FIXED
        + bool(no_about)
        + _lines("".join(name for _, name in tables), LONGEST_FILE)
        + sum(1 + max(_lines(text, HALF) for text in row) for row in rows)
        + 1.2 * _lines(f"Verified, but {verdict}", BOLD)
        + max(sum(_lines(text, NARROW) for text in count), sum(_lines(t, HALF) for t in outsider))
        + sum(_lines(text, BESIDE) for _, text in roles)
    )
    rules = [shown(text, LONGEST_WHOLE_RULE) for text in _rules(certificate)]
    room = LINES - taken - 3
    if sum(_lines(text, WIDE) for text in rules) > room:
        rules = [_cut(text) for text in rules]
    n_rules = max(1, _fitting([_lines(text, WIDE) for text in rules], room))
    taken += sum(_lines(text, WIDE) for text in rules[:n_rules])
    reasons = [
        (shown(one["column"], LONGEST_NAME), shown(one["why"], LONGEST_REASON))
        for one in certificate["decisions"]
        if one.get("why")
    ]
    n_reasons = min(MOST_REASONS, _fitting([1] * len(reasons), LINES - taken))
    return FirstPage(
        title=shown(about.get("title", TITLE), LONGEST_TITLE),
        tables=tables,
        about=texts,
        no_about=no_about,
        counted=count,
        outsider=outsider,
        roles=roles,
        reasons=reasons[:n_reasons],
        more_reasons=len(reasons) - min(n_reasons, len(reasons)),
        rules=rules[:n_rules],
        more_rules=len(rules) - min(n_rules, len(rules)),
        to_consider=len(certificate.get("warnings", ())),
        to_judge=sum(len(one["to_judge"]) for one in certificate["presets"]),
        digests=[
            ("Release", certificate["release"]["digest"]),
            ("Certificate", certificate.get("seal", "")),
        ],
    )


def _tables(certificate: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the table and the release are called; of a frame nothing, and others learn of the release
    alone."""
    named = [
        ("Table", certificate.get("input", {}).get("name")),
        ("Release", certificate["release"].get("name")),
    ]
    return [(label, shown(name, LONGEST_FILE)) for label, name in named if name]


def _no_about(certificate: Mapping[str, Any]) -> str:
    if {"purpose", "recipient"} & set(certificate["about"]):
        return ""
    where = "" if is_external(certificate) else ": see about: in the policy"
    return f"No purpose or recipient was written down{where}."


def _cut(text: str) -> str:
    """A guarantee that may not take more room, cut between words."""
    if len(text) <= LONGEST_RULE:
        return text
    whole = text[:LONGEST_RULE].rpartition(" ")[0]
    return f"{whole or text[: LONGEST_RULE - 1]} …"


def _lines(text: str, wide: int) -> int:
    """About how many lines a text takes on paper."""
    return -(-len(text) // wide)


def _fitting(lines: Sequence[int], room: float) -> int:
    """How many texts fit into some lines."""
    fitting = 0
    for taken in accumulate(lines):
        if taken > room:
            break
        fitting += 1
    return fitting


def _counted(certificate: Mapping[str, Any]) -> list[str]:
    """The people and rows behind the figures."""
    rows, people = certificate["release"]["rows"], certificate["people"]
    came = certificate.get("input")
    found = []
    if people is not None:
        of = "" if came is None else f" of {counted(people['input'], 'person', 'people')}"
        found.append(f"{people['published']:,}{of or ' people'} are in the release.")
    of = "" if came is None else f" of {counted(came['rows'], 'row')}"
    found.append(f"{rows:,}{of or ' rows'} are published.")
    found.append(
        "The guarantees count people, each once, however many rows she has."
        if people is not None
        else "The guarantees count rows: each stands for one person."
    )
    return found


def _outsider(certificate: Mapping[str, Any]) -> list[str]:
    """What somebody could do who has the release and knows something of a person."""
    if certificate["anatomy"] is not None:
        shares = [
            f"{percent(share)} for {shown(name, LONGEST_NAME)}"
            for name, share in certificate["anatomy"]["largest_share"].items()
        ]
        return [
            "Rows can be found by what is known of a person: these columns are exact.",
            f"A guess at the sensitive value is then right with a chance of up to {', '.join(shares)}.",
        ]
    return [_find(certificate), _alone(certificate["disclosure"]), _learn(certificate)]


def _find(certificate: Mapping[str, Any]) -> str:
    known = [one["column"] for one in certificate["decisions"] if one["role"] == "quasi"]
    highest = certificate["risk"]["after"]["prosecutor"]["highest"]
    right = f"{percent(highest)} ({chance(highest)})" if 0 < highest < EVEN else percent(highest)
    return (
        f"Who knows {names(known, 4) if known else 'what others may know'} of a person picks the right "
        f"row with a chance of at most {right}."
    )


def _alone(found: Mapping[str, Any]) -> str:
    units = "people" if found["unit"] == "person" else "rows"
    more = ""
    if found["alone_with_sensitive"] > found["alone"]:
        share = percent(found["alone_with_sensitive"] / found["published"])
        more = f" With what is to be protected: {found['alone_with_sensitive']:,} ({share})."
    more += _telling(found)
    if not found["plain"]:
        return (
            "No column is published as it is by which people could be told apart further: "
            f"{found['alone']:,} {units} are alone.{more}"
        )
    return (
        f"Who also knows {names(found['plain'], 3)}, of which no guarantee speaks, finds "
        f"{found['alone']:,} {units} ({percent(found['share'])}) alone.{more}"
    )


def _telling(found: Mapping[str, Any]) -> str:
    """What the worst of several sensitive columns gives away of the others."""
    by = found.get("alone_by_sensitive") or []  # certificates of older versions have none
    worst = max(by, key=lambda one: int(one["alone"]), default=None)
    if worst is None or not worst["alone"]:
        return ""
    unit = (
        found["unit"] if worst["alone"] == 1 else "people" if found["unit"] == "person" else "rows"
    )
    others = names([one["column"] for one in by if one is not worst], 3)
    return (
        f" Who also knows {shown(worst['column'], LONGEST_NAME)} finds {worst['alone']:,} {unit} alone "
        f"and learns {others}."
    )


def reservation(certificate: Mapping[str, Any]) -> str:
    """What nobody should overlook who reads of guarantees: people alone on columns that are published
    as they are."""
    found = certificate["disclosure"]
    if not found["alarming"]:
        return ""
    units = "people" if found["unit"] == "person" else "rows"
    plain = names([shown(name, LONGEST_NAME) for name in found["plain"]], 3)
    return (
        f"{found['alone']:,} {units} ({percent(found['share'])}) are alone once {plain} "
        f"{'is' if len(found['plain']) == 1 else 'are'} known too, of which no guarantee speaks. "
    )


def plainly(words: str) -> str:
    """A sentence with this page's words for the roles of columns in place of the policy's."""
    return words.replace("quasi columns", "columns that others may know")


def with_sensitive(found: Mapping[str, Any]) -> str:
    """How many more are alone where sensitive columns are known too; empty where nobody is."""
    alone = found["alone_with_sensitive"]
    return f"; with what is to be protected: {alone:,}" if alone > found["alone"] else ""


def _learn(certificate: Mapping[str, Any]) -> str:
    """What bounds the guess at a sensitive value."""
    of = sorted({shown(one["of"], LONGEST_NAME) for one in certificate["guarantees"] if one["of"]})
    sensitive = [one["column"] for one in certificate["decisions"] if one["role"] == "sensitive"]
    open_ = [shown(name, LONGEST_NAME) for name in unguarded(certificate)]
    if not sensitive:
        return "No column that is to be protected is published."
    if open_:
        return (
            f"Nothing bounds what is learnt of {names(open_, 2)}: all rows that look alike may share "
            "one value."
        )
    return f"What is learnt of {names(of, 4)} is bounded by the guarantees below."


def _roles(decisions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    by_role: dict[str, list[str]] = {}
    for one in decisions:
        by_role.setdefault(one["role"], []).append(shown(one["column"], LONGEST_NAME))
    ordered = [*ROLES, *(role for role in by_role if role not in ROLES)]
    return [(ROLES.get(role, role), _within(by_role[role])) for role in ordered if role in by_role]


def _within(columns: Sequence[str]) -> str:
    """As many names as fit on a line, and how many there are more."""
    fitting = _fitting([len(name) + 2 for name in columns], BESIDE - 12)
    return names(columns, max(1, fitting))


def _rules(certificate: Mapping[str, Any]) -> list[str]:
    found = []
    for preset in certificate["presets"]:
        holds = "holds" if preset["holds"] else "is broken"
        judge = counted(len(preset["to_judge"]), "point")
        left = f"; {judge} to be judged by a person" if preset["to_judge"] else ""
        found.append(f"{preset['title']}: {holds}{left}.")
    for one in certificate["guarantees"]:
        reached = figure(one["reached"]) if one["classes"] else "none"
        found.append(f"{plainly(one['words'].rstrip('.'))}: {reached} found.")
    return found
