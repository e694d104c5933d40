"""The studio's words: guarantees, roles and attackers for people who never heard the terms."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from shoal.studio.figures import Guarantee


@dataclass(frozen=True)
class GuaranteeWords:
    """A guarantee in words."""

    title: str
    why: str
    """What it protects against."""
    term: str
    """What the field calls it."""
    low: float
    high: float
    step: float
    strong_when_high: bool

    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        """What is promised."""
        raise NotImplementedError


class _K(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:  # noqa: ARG002
        return (
            f"Whoever looks for somebody in the release finds at least {figure:g} {unit} that fit, "
            f"so a guess is right at most one time in {figure:g} ({at_most(1 / max(1, figure))})."
        )


class _L(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        return (
            f"Among the {unit} that fit a person there are at least {figure:g} different values of "
            f"“{of}”, so finding the group does not tell the value."
        )


class _T(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        return (
            f"In every group of {unit} the values of “{of}” are spread as in the whole table, give or "
            f"take {percent(figure)}: belonging to a group says little."
        )


class _Share(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        return f"No value of “{of}” belongs to more than {percent(figure)} of any group of {unit}."


class _Average(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:  # noqa: ARG002
        return (
            f"Somebody who guesses everyone at once is right for at most {percent(figure)} of the "
            f"{unit}."
        )


class _Growth(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        return (
            f"In no group of {unit} is a value of “{of}” more than {1 + figure:g} times as common as "
            "in the whole table."
        )


class _Factor(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:
        return (
            f"In every group of {unit} each value of “{of}” is nearly as common as in the whole table: "
            f"at most {2.718281828**figure:.1f} times more or less."
        )


class _People(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:  # noqa: ARG002
        return f"Every published combination fits at least {figure:g} people of the population."


class _Presence(GuaranteeWords):
    def sentence(self, figure: float, of: str | None, unit: str) -> str:  # noqa: ARG002
        return (
            f"Of the people whom a combination fits, at most {percent(figure)} are in the table, so it "
            "does not tell who is."
        )


GUARANTEES: dict[str, GuaranteeWords] = {
    "k": _K(
        "Nobody stands alone",
        "Neighbours, colleagues or an old employer may know somebody's age, sex and town. If only one "
        "row fits, they have found the person, even without a name.",
        "k-anonymity", 2, 50, 1, True,
    ),
    "l": _L(
        "The group does not give the value away",
        "If everyone in a group has the same illness, it does not matter which row is whose.",
        "distinct l-diversity", 1, 10, 1, True,
    ),
    "entropy-l": _L(
        "No value dominates a group",
        "A group may have several values and still let one be guessed nearly always.",
        "entropy l-diversity", 1, 8, 0.1, True,
    ),
    "recursive-l": _L(
        "Common values are not too common",
        "A group may have several values and still let one be guessed nearly always.",
        "recursive (c,l)-diversity", 1, 8, 1, True,
    ),
    "t": _T(
        "Groups look like the whole table",
        "A group with unusual salaries tells something about everyone in it, even if they differ.",
        "t-closeness", 0.02, 1, 0.01, False,
    ),
    "alpha": _Share(
        "No value takes over a group",
        "If most of a group share a value, guessing it is nearly always right.",
        "α-anonymity", 0.05, 1, 0.01, False,
    ),
    "beta": _Growth(
        "No value becomes much more likely",
        "What counts for a person is how much more others believe to know than before.",
        "β-likeness", 0.1, 5, 0.1, False,
    ),
    "delta": _Factor(
        "No value becomes much more or less likely",
        "What counts for a person is how much more others believe to know than before.",
        "δ-disclosure privacy", 0.1, 4, 0.1, False,
    ),
    "average-risk": _Average(
        "Few are found when all are tried",
        "Somebody may try to match the whole release with another list and live with mistakes.",
        "average risk", 0.01, 0.5, 0.01, False,
    ),
    "k-map": _People(
        "Everyone has doubles in the population",
        "If others do not know who is in the table, doubles outside of it hide a person too.",
        "k-map", 2, 50, 1, True,
    ),
    "estimated-k-map": _People(
        "Everyone has doubles in the population",
        "If others do not know who is in the survey, doubles outside of it hide a person too.",
        "estimated k-map", 2, 200, 1, True,
    ),
    "delta-presence": _Presence(
        "Being in the table stays unknown",
        "Of some tables, such as a clinic's, it is already telling that somebody is in them.",
        "δ-presence", 0.05, 1, 0.01, False,
    ),
}  # fmt: skip
"""By the name of the model in a policy."""


PER_COLUMN = {
    "l": "several values in every group",
    "entropy-l": "no value dominates a group",
    "recursive-l": "common values not too common",
    "t": "every group like the whole table",
    "alpha": "no value takes over a group",
    "beta": "no value much more likely",
    "delta": "no value much more or less likely",
}
"""By model, what it says of its column, in a few words."""


def short_title(one: Guarantee) -> str:
    """A guarantee in one line."""
    if one.of is not None and one.model in PER_COLUMN:
        return f"{one.of}: {PER_COLUMN[one.model]}"
    return words_for(one.model).title


def words_for(model: str) -> GuaranteeWords:
    """The words for a model; those of other packages have only their name."""
    if model in GUARANTEES:
        return GUARANTEES[model]
    return _People(model, "A guarantee of another package.", model, 0, 100, 1, True)


def figure_text(value: float | None) -> str:
    """A figure without needless digits."""
    if value is None:
        return "–"
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.3g}"


def slack_text(one: Guarantee) -> str:
    """How much better than asked it is."""
    if one.found is None:
        return "not met" if not one.holds else "met"
    if not one.holds:
        return "not met"
    spare = (
        one.found - one.asked if words_for(one.model).strong_when_high else one.asked - one.found
    )
    if spare <= 0:
        return "exactly as asked"
    return f"{figure_text(round(spare, 3))} better than asked"


def percent(share: float) -> str:
    """A share for people: `< 0.1 %`, `8.5 %`, `100 %`."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    return f"{share:.1%}".replace(".0%", "%").replace("%", " %")


def at_most(share: float) -> str:
    """A share that nothing is above: as `percent`, rounded up."""
    return percent(ceil(share * 1000 - 1e-9) / 1000)


def unit_of(one: Guarantee, counted: str) -> str:
    """What the figures of a guarantee count, after a space."""
    if one.model in ("k", "k-map", "estimated-k-map"):
        return f" {counted}" if one.model == "k" else " people"
    return " values" if one.model in ("l", "entropy-l", "recursive-l") else ""


def with_unit(one: Guarantee, figure: float | None, counted: str) -> str:
    """A figure of a guarantee with what it counts."""
    return figure_text(figure) + unit_of(one, counted)


def screen_words(message: str) -> str:
    """A message of the command line with the words of the screens for the roles of columns."""
    for term, words in (
        ("has the role quasi", f"is called “{ROLES['quasi'][0]}”"),
        ("with the role person", f"that is called “{ROLES['person'][0]}”"),
        ("quasi-identifiers", "columns that others may know"),
        ("quasi and plain columns", "columns that others may know or that are harmless"),
        ("quasi columns", "columns that others may know"),
        ("plain columns", "harmless columns"),
        ("plain column", "harmless column"),
        ("sensitive columns", "columns that must not be learnt"),
        ("suppressed", "left out"),
        ("pass --encoding", "change “encoding” in the policy, under “read”"),
    ):
        message = message.replace(term, words)
    return message


PLACE = re.compile(r"^\S+\.ya?ml(?::\d+)*: ", re.MULTILINE)
"""Where in a policy a mistake is."""
PATH = re.compile(
    r"^columns\.(?P<column>[^:]+?)(?:\.(?:role|kind|hierarchy|order|missing|type|top|bottom))?: ",
    re.MULTILINE,
)
"""Which setting of a column has the mistake."""


def plain_error(error: str) -> str:
    """An error without the place in a file, which nobody has written by hand here."""
    bare = PLACE.sub("", error)
    said = screen_words(PATH.sub(r"\g<column>: ", bare))
    return said if PATH.match(bare) else said[:1].upper() + said[1:]


def listed_words(names: Sequence[str]) -> str:
    """`age`, `age and sex`, `age, sex and zip`."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


ROLES: dict[str, tuple[str, str]] = {
    "identifier": (
        "Names a person",
        "Never published. Choose it too for a column that is better left out.",
    ),
    "person": (
        "Tells whose row it is",
        "Such as a patient number: used to count people, never published.",
    ),
    "quasi": ("Others may know it", "Published only as coarsely as your guarantees need."),
    "sensitive": (
        "Must not be learnt",
        "Its values are published as they are. A guarantee of Protect keeps a group from giving them "
        "away.",
    ),
    "plain": ("Harmless", "Published as it is. No guarantee covers it."),
    "pseudonym": ("Replaced by a code", "Published as a keyed token."),
    "weight": (
        "How many people a row stands for",
        "As in a survey, where a row speaks for 250 people. Read, not published unless you say so.",
    ),
    "preference": (
        "What people asked for",
        "Such as “hide my illness”, where people were asked. Read, never published.",
    ),
    "undecided": ("Only you can say", "Choose what fits; no release is made before."),
}
"""By role: what it means and what happens."""

SHORT = {
    "identifier": "names a person",
    "person": "whose row",
    "quasi": "others may know",
    "sensitive": "not to be learnt",
    "plain": "harmless",
    "pseudonym": "a code",
    "weight": "a weight",
    "preference": "a wish",
    "undecided": "decide",
}
"""By role: the same in two words, for the head of a column."""


def role_words(role: str) -> str:
    """A role as its button calls it."""
    return ROLES[role][0] if role in ROLES else role or "no role"


PRESETS = {
    "cell-size-3": "Whoever looks for somebody finds at least 3 people that fit.",
    "cell-size-5": "Whoever looks for somebody finds at least 5 people that fit.",
    "nhs-hes": "Whoever looks for somebody finds at least 8 people that fit.",
    "cell-size-10": "Whoever looks for somebody finds at least 10 people that fit.",
    "cell-size-11": "Whoever looks for somebody finds at least 11 people that fit.",
    "cell-size-20": "Whoever looks for somebody finds at least 20 people that fit.",
    "ema-0070": "At least 12 people fit, so the chance to find somebody is at most 9 %.",
    "health-canada": "At least 12 people fit, so the chance to find somebody is at most 9 %.",
    "hipaa-safe-harbor": "No names, numbers or addresses; no places below a state but the first three "
    "digits of a zip code; dates by their year; ages above 89 together.",
    "opinion-05-2014": "Nobody stands alone, no codes replace names, and every column that must not be "
    "learnt has a guarantee.",
}
"""What presets ask for, by their names; others have their own words."""

ATTACKERS = {
    "prosecutor": (
        "Who knows you are in the table",
        "Somebody who knows that a person is in the table and looks for this person: the best chance to "
        "pick the right row.",
        "prosecutor risk",
    ),
    "journalist": (
        "Who looks for just anyone",
        "Somebody who wants to show that anyone at all can be found: the best chance for any row.",
        "journalist risk",
    ),
    "marketer": (
        "Who matches a whole list",
        "Somebody who matches the whole table with another list: the share that is matched right.",
        "marketer risk",
    ),
}
"""By attacker: a name, what it does and the term."""

THRESHOLDS = (
    (
        0.05,
        "1 in 20",
        "cells of 20 people: El Emam and Malin, in Sharing Clinical Trial Data (2015)",
    ),
    (0.09, "0.09", "EMA policy 0070 (2018) and Health Canada (2019), for public release"),
    (0.2, "1 in 5", "cells of 5 people: UNECE and Eurostat glossary, threshold rule (2005)"),
    (1 / 3, "1 in 3", "cells of 3 people: UNECE and Eurostat glossary, threshold rule (2005)"),
)
"""What named authorities allow: a risk, its label and the source."""

INFORMATION = (
    "Information is what tells one value from another. A range of eight equally common ages leaves open "
    "which of the eight it is, and so loses three yes-or-no answers (bits) of about six; a label that "
    "adds only rare values loses little. All columns together are their average, in which a column with "
    "many different values weighs more. The command line and the report give the same figure."
)
"""How the information that is lost is counted."""

LABELS = (
    ("[30-35)", "30 up to, but not including, 35"),
    ("[30~35]", "30 to 35, both included"),
    ("{France, Italy}", "one of these"),
    ("021**", "begins with 021; the other characters are hidden"),
    ("90+, ≤18", "90 or more, 18 or less"),
    ("*", "hidden"),
)
"""How labels of a release are read."""

FORMS = (
    (
        re.compile(r"\[(?P<low>-?[^-]+)-(?P<high>-?[^-]+)\)"),
        "{low} up to, but not including, {high}",
    ),
    (re.compile(r"\[(?P<low>.+)~(?P<high>.+)\]"), "{low} to {high}, both included"),
    (re.compile(r"\{.+\}"), "one of these"),
    (re.compile(r"(?P<low>[^*]+)\*+"), "begins with {low}; the other characters are hidden"),
    (re.compile(r"\*+(?P<low>[^*]+)"), "ends with {low}; the other characters are hidden"),
    (re.compile(r"(?P<low>[\d.,]+)\+"), "{low} or more"),
    (re.compile(r"≤(?P<low>.+)"), "{low} or less"),
    (re.compile(r"\*"), "hidden"),
)
"""Forms of labels, with what one of each says."""


def read_labels(published: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """How labels are read: one of each form among those of a column; any, where it has none."""
    found = []
    for form, words in FORMS:
        label, one = next(
            ((label, one) for label in published if (one := form.fullmatch(label))), ("", None)
        )
        if one is not None:
            found.append((label, words.format(**one.groupdict())))
    return tuple(found) or LABELS


STEPS = {
    "start": "Starting",
    "read": "Reading the table",
    "count": "Counting",
    "search": "Searching",
    "encode": "Sorting the values",
    "compile": "Getting ready: the first time on this computer it can take a minute",
    "group": "Forming groups",
    "refine": "Refining",
    "publish": "Labelling",
    "measure": "Measuring",
    "write": "Writing a trial file",
    "verify": "Reading it back and verifying",
    "truth": "Comparing with the table",
    "report": "Writing the report",
}
"""What a worker does, by the step's name."""


def step_text(step: Any) -> str:
    """What a worker is doing, for people."""
    if step is None:
        return "Starting"
    label = STEPS.get(step.step, step.step.capitalize())
    return f"{label} {step.share:.0%}" if 0 < step.share < 1 else label
