"""Columns that must not be learnt and that no guarantee protects.

Their values are published as they are. Where everyone in a group has the same one, whoever finds the
group knows it, however large the group is. So a column that gets this role gets a guarantee too, and
where it has none, a warning stands beside the badge, with the step that mends it.
"""

from functools import partial
from typing import TYPE_CHECKING

from ruamel.yaml.comments import CommentedMap

from shoal.studio.constraints import with_constraint
from shoal.studio.page import box, button, edit, text
from shoal.studio.policy_text import Change
from shoal.studio.session import Session
from shoal.studio.words import listed_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROTECTED = "at least 2 values in every group"
"""What protects a column unless something else is asked for."""


def protection(names: "Sequence[str]") -> Change:
    """At least two different values of each column in every group."""

    def change(policy: CommentedMap) -> None:
        for name in names:
            with_constraint({"l": 2, "of": name})(policy)

    return change


def unprotected_words(names: "Sequence[str]") -> str:
    """`Reason is not protected yet`."""
    return f"{listed_words(names)} {'is' if len(names) == 1 else 'are'} not protected yet"


def certain_words(certain: "Mapping[str, int]", counted: int) -> list[str]:
    """How many are in groups that give a column away."""
    return [
        f"{rows:,} of {counted:,} rows are in groups where everyone has the same {name}: whoever finds "
        "the group knows it for certain."
        for name, rows in certain.items()
        if rows
    ]


def protect(session: Session, names: "Sequence[str]") -> None:
    """Take the step that protects columns."""
    edit(session, f"{listed_words(names)}: {PROTECTED}", protection(names))


def protect_button(session: Session, names: "Sequence[str]", words: str = "") -> None:
    """The button that protects columns."""
    words = words or ("Protect it" if len(names) == 1 else "Protect them")
    button(words, partial(protect, session, tuple(names)), "chip", data_protect=" ".join(names))


def unprotected_notice(session: Session, place: str) -> None:
    """Create the warning, where there is something to warn of; `place` is its id."""
    names = session.unprotected
    if not names:
        return
    figures = session.live.figures
    with box("div", "notice is-warn stack", id=place, role="status"):
        text(f"! {unprotected_words(names)}", "strong", "p")
        said = []
        if figures is not None and session.live.state == "verified":
            certain = {name: figures.certain.get(name, 0) for name in names}
            said = certain_words(certain, figures.published_rows)
        said = said or [
            "Its values are published as they are. Where everyone in a group has the same one, whoever "
            "finds the group knows it."
        ]
        for words in said:
            text(words, "", "p")
        with box("div", "chips"):
            protect_button(session, names)
        text(f"That asks for {PROTECTED}; Protect can ask for more.", "tiny", "p")
