"""Why there is no release, in the words of the screens, and the steps that would mend the policy.

Errors name what was found, what is allowed and what to do. Those that are known here are told in the
words of the screens, with their remedy as a step that can be taken by a press; others as they are.
"""

import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from shoal.errors import ShoalError
from shoal.studio.columns_text import with_setting
from shoal.studio.constraints import constraints_in, figure_step, with_figure, with_key
from shoal.studio.policy_text import Change
from shoal.studio.words import figure_text, percent, words_for

MISSING = re.compile(
    r"Column '(?P<name>.+)' is sensitive and reads .+Add `missing: (?P<codes>\[.+?\])` to the column\. "
    r"If .+ write `missing: (?P<real>\[.*?\])`\.",
    re.DOTALL,
)
"""Values of a sensitive column that are likely to stand for a missing one."""
NAMELESS = re.compile(r"line 1: no name for column 1\.")
"""A text file of which only the first column has no name."""
SHEETS = re.compile(r".+ has (?P<count>\d+) sheets with data: (?P<names>.+)\. Choose one with ")
"""A workbook of which one sheet is to be chosen."""
TOO_FEW_VALUES = re.compile(
    r"The table has (?P<most>[\d,]+) distinct values of (?P<of>.+), but (?P<model>l) = (?P<asked>\S+) "
    r"was required\. .+",
    re.DOTALL,
)
TOO_FEW_ROWS = re.compile(
    r"The table has (?P<most>[\d,]+) (?P<whom>rows|people), but (?P<model>k) = (?P<asked>\S+) was "
    r"required\. .+",
    re.DOTALL,
)
COMMON_VALUE = re.compile(
    r"(?P<model>l) = (?P<asked>\S+) of (?P<of>.+) was required, but the largest l that the table's "
    r"people allow is (?P<most>[\d,]+): .+",
    re.DOTALL,
)
WHOLE_TABLE = re.compile(
    r"(?P<model>[a-z-]+) = (?P<asked>\S+?)(?: of (?P<of>.+?))?(?: with .+)? was required, but the "
    r"(?:largest|smallest) that the whole table allows is (?P<most>[\d.]+): .+",
    re.DOTALL,
)
LEFT_OUT = re.compile(
    r"(?P<gone>[\d,]+) of (?P<whole>[\d,]+) (?P<what>rows|people) \(.+?\) would have to be suppressed, "
    r"but the policy allows .+ to at least (?P<least>[\d.]+), or .+",
    re.DOTALL,
)


def is_a_question(error: str) -> bool:
    """Whether a table was not opened for want of an answer that Open asks for."""
    return bool(NAMELESS.search(error) or SHEETS.match(error))


@dataclass(frozen=True)
class Remedy:
    """A step that an error asks for."""

    label: str
    """What the user says by it."""
    step: str
    """Its name among the steps."""
    change: Change


@dataclass(frozen=True)
class Failure:
    """Why there is no release."""

    words: str
    short: str = ""
    """The same for one line; empty where the words are not known here."""
    limit: str = ""
    """What cannot be met, whatever was asked for."""
    model: str = ""
    of: str | None = None
    """The guarantee that cannot be met, and its column."""
    most: float | None = None
    """The strongest figure that could be."""
    asks: bool = False
    """Whether it is a question that only the user can answer."""


def explained(error: str) -> Failure:
    """An error in the words of the screens."""
    if NAMELESS.search(error):
        return Failure("The first column of the file has no name.", "a column has no name")
    if found := TOO_FEW_VALUES.fullmatch(error):
        most, of, asked = found["most"], found["of"], found["asked"]
        return Failure(
            f"{of} has only {most} different values; you ask for {asked} in every group.",
            f"{of}: {most} values, {asked} asked",
            f"{_figure(most) + 1:g} or more cannot be met: {of} has only {most} different values.",
            *_of(found),
        )
    if found := TOO_FEW_ROWS.fullmatch(error):
        most, whom, asked = found["most"], found["whom"], found["asked"]
        return Failure(
            f"The table has only {most} {whom}; you ask for {asked} that fit.",
            f"{most} {whom}, {asked} asked",
            f"More than {most} cannot be met: the table has only {most} {whom}.",
            *_of(found),
        )
    if found := COMMON_VALUE.fullmatch(error):
        most, of, asked = found["most"], found["of"], found["asked"]
        why = f"nearly everyone has the most common value of {of}"
        return Failure(
            f"At most {most} different values of {of} are possible in every group, because {why}; you "
            f"ask for {asked}.",
            f"{of}: {most} possible, {asked} asked",
            f"More than {most} cannot be met: {why}.",
            *_of(found),
        )
    if found := WHOLE_TABLE.fullmatch(error):
        most, asked = found["most"], found["asked"]
        words = words_for(found["model"])
        of = f" of {found['of']}" if found["of"] else ""
        side = ("More", "at most") if words.strong_when_high else ("Less", "at least")
        return Failure(
            f"“{words.title}”{of}: you ask for {asked}; this table allows {side[1]} {most}.",
            f"{found['of'] or words.title}: {most} possible, {asked} asked",
            f"{side[0]} than {most} cannot be met, even by the whole table as one group.",
            *_of(found),
        )
    if found := MISSING.fullmatch(error):
        name, codes = found["name"], found["codes"].strip("[]")
        return Failure(
            f"{name} reads {codes} in some rows. Does that stand for a missing value?",
            f"{name}: {codes}?",
            asks=True,
        )
    if found := LEFT_OUT.fullmatch(error):
        gone, whole, what = found["gone"], found["whole"], found["what"]
        share = percent(_figure(gone) / max(1.0, _figure(whole)))
        return Failure(
            f"{gone} of {whole} {what} ({share}) would have to be left out, more than you allow. Ask "
            "for less, or allow more to be left out.",
            f"{share} would be left out",
        )
    return Failure(error)


def _of(found: "re.Match[str]") -> tuple[str, str | None, float]:
    named = found.groupdict()
    return named["model"], named.get("of"), _figure(named["most"])


def _figure(written: str) -> float:
    return float(written.replace(",", ""))


def remedies(error: str, policy: str = "") -> list[Remedy]:
    """The steps that an error proposes; empty where only the user can think of one.

    policy: its text.
    """
    if found := MISSING.fullmatch(error):
        return _missing(found)
    if found := LEFT_OUT.fullmatch(error):
        least = float(found["least"])
        label = f"Allow {percent(least)} to be left out"
        return [Remedy(label, f"rows left out → {percent(least)}", with_key("suppression", least))]
    failure = explained(error)
    if failure.most is None or not policy:
        return []
    try:
        listed = constraints_in(policy)
    except ShoalError:
        return []
    return [
        Remedy(
            f"Set it to {figure_text(failure.most)}",
            figure_step(one, failure.most),
            with_figure(one, failure.most),
        )
        for one in listed
        if (one.model, one.of) == (failure.model, failure.of)
    ][:1]


def _missing(found: "re.Match[str]") -> list[Remedy]:
    name, codes, real = found["name"], _list(found["codes"]), _list(found["real"])
    if codes is None or real is None:
        return []
    shown = ", ".join(str(code) for code in codes)
    return [
        Remedy(
            f"{shown} means missing",
            f"{name}: missing {shown}",
            with_setting(name, "missing", codes),
        ),
        Remedy("It is a real value", f"{name}: real values", with_setting(name, "missing", real)),
    ]


def _list(written: str) -> list[Any] | None:
    try:
        found = YAML(typ="safe", pure=True).load(written)
    except YAMLError:
        return None
    return found if isinstance(found, list) else None
