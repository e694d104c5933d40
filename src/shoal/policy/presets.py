"""The presets of a policy: what they add to it, and what beside them is too weak.

A preset puts constraints and column settings into the policy. What the policy states itself may be
stricter; a line that is weaker is refused by the preset's name, never replaced in silence.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import ValidationError

from shoal.models.base import SIZES_ONLY, Model
from shoal.policy.column import Column
from shoal.policy.messages import Problem, problems_of
from shoal.presets.base import Preset, is_stronger

if TYPE_CHECKING:
    from shoal.policy.policy import Policy


def problems(policy: "Policy") -> list[Problem]:
    """What the presets of a policy do not allow in it."""
    found: list[Problem] = []
    for place, preset in enumerate(policy.preset):
        if preset.name in [other.name for other in policy.preset[:place]]:
            found.append(Problem(("preset", place), f"'{preset.name}' is listed twice; keep one"))
            continue
        found += _exact(policy, preset)
        found += _weaker(policy, preset)
        found += (Problem(each.path, each.text) for each in preset.refusals(policy))
    return found or [*_settings_that_do_not_fit(policy)]


def added(policy: "Policy") -> dict[str, Any]:
    """The columns and constraints of a policy, with what its presets add; nothing without presets."""
    if not policy.preset:
        return {}
    return {"constraints": _constraints(policy), "columns": _columns(policy)}


def _exact(policy: "Policy", preset: Preset) -> Iterator[Problem]:
    """Class sizes mean nothing where quasi-identifiers stay exact."""
    sizes = [model.name for model in preset.constraints() if model.column == SIZES_ONLY]
    if sizes and policy.publish == "anatomy":
        words = (
            f"anatomy leaves quasi-identifiers exact, so {sizes[0]} of the preset {preset.name} cannot "
            "hold; write `publish: generalised`"
        )
        yield Problem(("publish",), words)


def _weaker(policy: "Policy", preset: Preset) -> Iterator[Problem]:
    for place, model in enumerate(policy.constraints):
        for wanted in preset.constraints():
            if _is_like(model, wanted) and is_stronger(wanted, model):
                bound = "more" if wanted.high_is_strong else "less"
                words = (
                    f"{model.name} = {model.figure:g} is weaker than the preset {preset.name}, which "
                    f"requires {wanted.figure:g}; write {wanted.figure:g} or {bound}, or leave the line "
                    "out"
                )
                yield Problem(("constraints", place), words)


def _is_like(model: Model, wanted: Model) -> bool:
    """Whether a model speaks of the same as the wanted one, on all or some quasi-identifiers."""
    same = (model.name, model.column, model.options) == (wanted.name, wanted.column, wanted.options)
    return same and (wanted.quasi is None or model.quasi == wanted.quasi)


def _constraints(policy: "Policy") -> tuple[Model, ...]:
    """The presets' models that no other one covers, then those of the policy."""
    own: list[Model] = list(policy.constraints)
    first: list[Model] = []
    for model in (model for preset in policy.preset for model in preset.constraints()):
        if not any(_covers(policy, other, model) for other in (*own, *first)):
            first = [other for other in first if not _covers(policy, model, other)] + [model]
    return (*first, *own)


def _covers(policy: "Policy", model: Model, other: Model) -> bool:
    """Whether a model promises as much as another, on the same quasi-identifiers."""
    columns = [set(each.quasi_of(policy.quasi)) for each in (model, other)]
    return _is_like(model, other) and columns[0] == columns[1] and not is_stronger(other, model)


def _columns(policy: "Policy") -> dict[str, Column]:
    columns = dict(policy.columns)
    for preset in policy.preset:
        for name, settings in preset.column_settings(policy).items():
            columns[name] = _with(columns[name], settings)
    return columns


def _with(column: Column, settings: Mapping[str, Any]) -> Column:
    """A column with settings where it has none."""
    kept = {key: getattr(column, key) for key in Column.model_fields}
    new = {key: value for key, value in settings.items() if kept[key] is None}
    return Column.model_validate({**kept, **new}) if new else column


def _settings_that_do_not_fit(policy: "Policy") -> Iterator[Problem]:
    """Settings of a preset that contradict what the policy says of a column."""
    for preset in policy.preset:
        for name, settings in preset.column_settings(policy).items():
            try:
                _with(policy.columns[name], settings)
            except ValidationError as error:
                given = ", ".join(f"{key}: {value}" for key, value in settings.items())
                for problem in problems_of(error):
                    words = f"the preset {preset.name} sets `{given}`, but {problem.text}"
                    yield Problem(("columns", name, *problem.path), words)
