"""The columns of a policy as its text has them, and the changes that controls make to them."""

from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import YAMLError

from shoal.errors import PolicyError
from shoal.studio.policy_text import Change, changed, flow_map, parse, scalar


def roles_in(text: str) -> dict[str, str]:
    """The role of every column that a policy's text lists."""
    found = {}
    for name, entry in (parse(text).get("columns") or {}).items():
        role = entry.get("role", "") if isinstance(entry, CommentedMap) else entry
        found[str(name)] = str(role)
    return found


def settings_in(text: str, name: str) -> dict[str, Any]:
    """What a policy's text says about one column, as texts."""
    entry = (parse(text).get("columns") or {}).get(name)
    return dict(entry) if isinstance(entry, CommentedMap) else {"role": entry}


READING = ("missing", "spelling", "type", "dates")
"""Settings of a column that say how its values are read, whatever its role is."""


def with_role(
    name: str, role: str, *, settings: bool = True, reading: bool = True, constraints: bool = True
) -> Change:
    """Give a column another role.

    settings, constraints: whether its other settings, and the constraints on it, stay.
    reading: whether at least those settings stay that say how its values are read.
    """

    def change(policy: CommentedMap) -> None:
        entry = policy["columns"].get(name)
        others = [key for key in entry if key != "role"] if isinstance(entry, CommentedMap) else []
        stays = others if settings else [key for key in others if reading and key in READING]
        if isinstance(entry, CommentedMap) and (settings or stays):
            for key in set(others) - set(stays):
                del entry[key]
            entry["role"] = scalar(role)
        else:
            policy["columns"][name] = scalar(role)
        if not constraints and policy.get("constraints"):
            kept = [one for one in policy["constraints"] if str(one.get("of")) != name]
            for index in reversed(range(len(policy["constraints"]))):
                if policy["constraints"][index] not in kept:
                    del policy["constraints"][index]

    return change


def with_setting(name: str, key: str, value: Any) -> Change:
    """Set one setting of a column; None removes it."""

    def change(policy: CommentedMap) -> None:
        entry = policy["columns"].get(name)
        if not isinstance(entry, CommentedMap):
            entry = flow_map({"role": str(entry)})
            policy["columns"][name] = entry
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = scalar(value)

    return change


def with_reading(key: str, value: Any) -> Change:
    """Set a key of `read`; None removes it."""

    def change(policy: CommentedMap) -> None:
        entry = policy.get("read")
        if not isinstance(entry, CommentedMap):
            entry = flow_map({})
            policy["read"] = entry
        if value is None:
            entry.pop(key, None)
        else:
            entry[key] = scalar(value)
        if not entry:
            del policy["read"]

    return change


def reading_in(text: str) -> dict[str, Any]:
    """What a policy's text says about how the file is written, also where the rest has mistakes."""
    try:
        given = YAML(typ="safe", pure=True).load(text).get("read")
    except (YAMLError, AttributeError):
        return {}
    return dict(given) if isinstance(given, dict) else {}


def missing_in(text: str, name: str) -> list[str]:
    """The codes for a missing value of a column: its own, or those of all columns."""
    try:
        own = settings_in(text, name).get("missing")
        every = (parse(text).get("read") or {}).get("missing")
    except (PolicyError, AttributeError):
        return []
    codes = every if own is None else own
    return [str(code) for code in codes] if isinstance(codes, list) else []


# What is one person? Where people have several rows, the policy names the column that tells them apart.
# That each row is one person is its default, and a draft only proposes a column: a comment in the first
# line says that somebody has thought of it.
ROWS_ARE_PEOPLE = "each row"
COMMENT = "# One row is one person."
CONFIRMED = "# Rows with the same value of the person column are one person's."
DRAFT = "# A draft for "


def person_column(text: str) -> str:
    """The column of people that a policy names; empty where it names none."""
    try:
        roles = roles_in(text)
    except PolicyError:
        return ""
    return next((name for name, role in roles.items() if role == "person"), "")


@lru_cache(maxsize=8)
def person_answer(text: str) -> str:
    """The column of people, `each row`, or nothing where the question is not answered."""
    if named := person_column(text):
        return "" if text.startswith(DRAFT) else named
    return ROWS_ARE_PEOPLE if text.startswith(COMMENT) else ""


def with_rows_as_people(text: str) -> str:
    """The text of a policy with the answer that each row is one person."""
    if name := person_column(text):
        text = changed(text, with_role(name, "identifier", settings=False))
    return f"{COMMENT}\n{_unanswered(text)}"


def with_person(text: str, name: str) -> str:
    """The text of a policy with the answer that a column tells people apart."""
    before = person_column(text)

    def change(policy: CommentedMap) -> None:
        if before and before != name:
            with_role(before, "identifier", settings=False)(policy)
        if before != name:
            with_role(name, "person", settings=False, constraints=False)(policy)

    return f"{CONFIRMED}\n{_unanswered(changed(text, change))}"


def _unanswered(text: str) -> str:
    for answer in (COMMENT, CONFIRMED):
        text = text.removeprefix(f"{answer}\n")
    return text
