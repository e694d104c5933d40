"""The codes for missing values that a policy declares: `missing: [NA, "?", -9]`."""

from typing import Any

from shoal.policy.messages import Problem, as_error, found

MissingCodes = tuple[str, ...] | None
"""Texts that stand for a missing value; None where the policy does not say."""
FORM = 'write a list, as in [NA, "?", -9], or [] where every value is a real one'


def read_codes(value: Any) -> Any:
    """The codes as texts, from a list or from a single code."""
    if value is None:
        return None
    values = value if isinstance(value, list | tuple) else [value]
    codes = []
    for place, each in enumerate(values):
        # `null` in YAML is the text null here: a missing value needs no code
        code = "null" if each is None else code_of(each)
        if not isinstance(code, str):
            path = (place,) if values is value else ()
            raise as_error(Problem(path, f"found {found(each)}; {FORM}"))
        codes.append(code)
    return tuple(dict.fromkeys(codes))


def code_of(value: Any) -> Any:
    """A code as the text of a table's value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else value
