"""The constraints of a policy as its text has them, and the changes that controls make to them."""

import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.tokens import CommentToken

from shoal.studio.policy_text import Change, flow_list, flow_map, parse, scalar
from shoal.studio.words import figure_text


@dataclass(frozen=True)
class ConstraintText:
    """One entry under `constraints`."""

    index: int
    model: str
    of: str | None
    figure: float | None
    """None where it is not a number."""

    @property
    def label(self) -> str:
        """`k`, or `l of disease`."""
        return self.model if self.of is None else f"{self.model} of {self.of}"


def constraints_in(text: str) -> list[ConstraintText]:
    """The constraints that a policy's text lists; those of presets are not among them."""
    found = []
    for index, entry in enumerate(parse(text).get("constraints") or []):
        if not isinstance(entry, CommentedMap) or not entry:
            continue
        keys = [str(key) for key in entry]
        model = next((key for key in keys if key not in ("of", "on", "c", "distance")), keys[0])
        try:
            figure: float | None = float(str(entry[model]))
        except ValueError:
            figure = None
        of = None if entry.get("of") is None else str(entry["of"])
        found.append(ConstraintText(index, model, of, figure))
    return found


def with_figure(one: ConstraintText, figure: float) -> Change:
    """Set the figure of a constraint."""

    def change(policy: CommentedMap) -> None:
        listed = policy["constraints"]
        before, now = str(listed[one.index][one.model]), scalar(_number(figure))
        listed[one.index][one.model] = now
        for token in _notes(listed, one.index):  # `# .. finds at least 5 people` of a draft
            told = rf"\b(at least|more than) {re.escape(before)}(?![\d.]*\d)"
            token.value = re.sub(told, rf"\g<1> {now}", token.value)

    return change


def figure_step(one: ConstraintText, figure: float) -> str:
    """The name of such a step: `k 5 → 8`."""
    return f"{one.label} {figure_text(one.figure)} → {figure_text(figure)}"


def without(one: ConstraintText) -> Change:
    """Remove a constraint."""

    def change(policy: CommentedMap) -> None:
        del policy["constraints"][one.index]
        if not policy["constraints"] and policy.get("preset"):
            del policy["constraints"]

    return change


def with_constraint(entry: dict[str, Any]) -> Change:
    """Add a constraint."""

    def change(policy: CommentedMap) -> None:
        if policy.get("constraints") is None:
            policy["constraints"] = flow_list([])
        listed = policy["constraints"]
        listed.append(flow_map(entry))
        last = len(listed) - 1
        for token in _notes(listed, last - 1):  # lines between the list and the next key stay there
            first, _, after = token.value.partition("\n")
            if after:
                token.value = f"{first}\n"
                listed.ca.items[last] = [
                    CommentToken(f"\n{after}", token.start_mark, None),
                    None,
                    None,
                    None,
                ]

    return change


def _notes(listed: Any, index: int) -> list[CommentToken]:
    """The comment behind an entry of a list, with the lines that follow it."""
    found = listed.ca.items.get(index) if isinstance(listed, CommentedSeq) else None
    return [one for one in (found or ())[:1] if isinstance(one, CommentToken)]


def presets_in(text: str) -> list[str]:
    """The names of the presets that a policy's text lists."""
    given = parse(text).get("preset")
    if given is None:
        return []
    entries = given if isinstance(given, list) else [given]
    return [str(one.get("name") if isinstance(one, CommentedMap) else one) for one in entries]


def with_preset(name: str, weaker: tuple[int, ...] = ()) -> Change:
    """Add a preset; the constraints at `weaker` give way to its own."""

    def change(policy: CommentedMap) -> None:
        given = policy.get("preset")
        if given is None:
            policy["preset"] = scalar(name)
        else:
            entries = list(given) if isinstance(given, list) else [given]
            policy["preset"] = flow_list([])
            policy["preset"].extend([*entries, scalar(name)])
        for index in sorted(weaker, reverse=True):
            del policy["constraints"][index]
        if weaker and not policy["constraints"]:
            del policy["constraints"]

    return change


def without_preset(name: str) -> Change:
    """Remove a preset; where it brought the only constraints, a k of 5 takes their place."""

    def change(policy: CommentedMap) -> None:
        given = policy["preset"]
        entries = list(given) if isinstance(given, list) else [given]
        left = [
            one
            for one in entries
            if str(one.get("name") if isinstance(one, CommentedMap) else one) != name
        ]
        if left:
            policy["preset"] = flow_list([])
            policy["preset"].extend(left)
        else:
            del policy["preset"]
        if not left and not policy.get("constraints"):
            policy["constraints"] = flow_list([{"k": 5}])

    return change


def with_key(key: str, value: Any) -> Change:
    """Set a key of the policy itself; None removes it."""

    def change(policy: CommentedMap) -> None:
        if value is None:
            policy.pop(key, None)
        else:
            policy[key] = scalar(value)

    return change


def _number(figure: float) -> float | int:
    return int(figure) if float(figure).is_integer() else round(figure, 4)
