"""What the guarantees do not cover: columns that were called harmless, and who is alone by them.

A release can be verified and still show people: the guarantees are about the columns that others may
know. So whatever is known of the others stands beside the badge, in the colour of warnings.
"""

from collections.abc import Sequence
from functools import partial

from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.studio.columns_text import with_role
from shoal.studio.page import box, button, edit, show_column, text
from shoal.studio.policy_text import Change
from shoal.studio.session import Session
from shoal.studio.words import ROLES, listed_words, percent, screen_words

MOST_NAMES = 4
"""Columns that a sentence names."""


def uncovered_columns(found: "api.Disclosure") -> tuple[str, ...]:
    """The columns that single people out and that no guarantee covers."""
    names = [*(found.plain if found.is_alarming else ())]
    names += [one.column for one in found.nearly_unique] + [one.plain for one in found.determined]
    return tuple(dict.fromkeys(names))


def alone_words(found: "api.Disclosure") -> str:
    """How many are alone, and by which columns; empty where they are few."""
    if not found.is_alarming:
        return ""
    return (
        f"{found.alone:,} of {found.published:,} {found.units} ({percent(found.share)}) stand alone "
        f"once {_names(found.plain)} {_are(found.plain)} known too"
    )


def sentences(found: "api.Disclosure") -> list[str]:
    """What is not covered, in the words of the screens."""
    said = []
    if words := alone_words(found):
        them = "this column" if len(found.plain) == 1 else "these columns"
        said.append(f"{words}. No guarantee covers {them}.")
    whose = "person" if found.unit == "person" else "row"
    for one in found.nearly_unique:
        more = " It also tells which rows are one person’s." if one.links else ""
        said.append(
            f"{one.column} is nearly a name: {percent(one.share)} of its values belong to one "
            f"{whose} alone.{more}"
        )
    for other in found.determined:
        fate = "made coarser" if other.fate == "coarsened" else "left out"
        said.append(f"{other.plain} gives {other.column} away, which is {fate}.")
    said += [screen_words(one.warning) for one in found.repeated]
    return said


def short_words(found: "api.Disclosure") -> str:
    """The same for one line."""
    if found.is_alarming:
        return f"{found.alone:,} alone by {_names(found.plain, 2)}"
    names = uncovered_columns(found)
    return f"not covered: {_names(names, 2)}" if names else ""


def uncovered_notice(session: Session, found: "api.Disclosure") -> None:
    """Create the warning beside the badge, with the steps that would mend it."""
    said = sentences(found)
    if not said:
        return
    names = uncovered_columns(found)
    with box("div", "notice is-warn stack", id="uncovered", role="status"):
        text("! Not covered by the guarantees", "strong", "p")
        for words in said:
            text(words, "", "p")
        if not names:
            return
        with box("div", "chips"):
            it = "it" if len(names) == 1 else "them"
            for role, label in (
                ("quasi", f"Others may know {it}"),
                ("identifier", f"Leave {it} out"),
            ):
                step = f"{_names(names)}: {ROLES[role][0]}"
                button(label, partial(edit, session, step, with_roles(names, role)), "chip")
            look = partial(show_column, session, names[0])
            button("See the column" + "s" * (len(names) > 1), look, "chip")


def with_roles(names: Sequence[str], role: str) -> Change:
    """Give columns a role; settings stay where it is that of what others may know."""

    def change(policy: CommentedMap) -> None:
        for name in names:
            with_role(name, role, settings=role == "quasi")(policy)

    return change


def _names(names: tuple[str, ...], most: int = MOST_NAMES) -> str:
    if len(names) > most:
        return f"{len(names)} columns"
    return listed_words(names)


def _are(names: tuple[str, ...]) -> str:
    return "is" if len(names) == 1 else "are"
