"""Whatever a file or a mapping holds, the answer is a policy or a `PolicyError`."""

import contextlib
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.policy import Policy
from shoal.policy.yaml_source import parse

WORDS = [
    *("columns", "constraints", "method", "name", "role", "kind", "hierarchy", "order", "on", "of"),
    *("k", "l", "mask", "right", "date", "year", "intervals", "tree", "csv", "quasi", "sensitive"),
    *("ordered", "mondrian", "strict", "seed", "suppression", "age", "zip", "disease", "name", "*"),
]

GOOD: dict[str, Any] = {
    "columns": {
        "age": {"role": "quasi", "kind": "ordered"},
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "hours": {"role": "quasi", "hierarchy": {"intervals": [5, 10], "from": 3}},
        "birth": {"role": "quasi", "hierarchy": {"date": ["month", "year"]}},
        "race": {"role": "quasi", "hierarchy": {"tree": {"any": ["a", "b"]}}},
        "grade": {"role": "quasi", "order": ["low", "high"]},
        "disease": {"role": "sensitive", "hierarchy": "disease.csv"},
        "name": "identifier",
    },
    "constraints": [{"k": 5, "on": ["age", "zip"]}, {"l": 2, "of": "disease"}],
    "method": {"name": "mondrian", "strict": True},
    "suppression": 0.1,
    "seed": 3,
    "target": "disease",
    "metrics": ["cm", {"name": "query-error", "queries": 10}],
}

scalars = (
    st.sampled_from(WORDS)
    | st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3) | st.integers(), inner)
    ),
    max_leaves=8,
)


def with_junk(draw: st.DrawFn, value: Any) -> Any:
    """The value with something else in one place."""
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 3)) == 0:
        return draw(junk)
    if isinstance(value, list):
        place = draw(st.integers(0, len(value) - 1))
        return [with_junk(draw, v) if i == place else v for i, v in enumerate(value)]
    key = draw(st.sampled_from(list(value)))
    new = draw(st.sampled_from([key, key, key, *WORDS]))
    return {
        (new if k == key else k): with_junk(draw, v) if k == key else v for k, v in value.items()
    }


@st.composite
def nearly_good(draw: st.DrawFn) -> Any:
    return with_junk(draw, GOOD)


@given(nearly_good() | st.dictionaries(st.sampled_from(WORDS), junk))
def test_any_data(data: Any) -> None:
    if isinstance(data, dict):
        with contextlib.suppress(PolicyError):
            policy = Policy.load(data)
            assert Policy.load(policy.to_yaml()) == policy


@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from([*WORDS, ":", " ", "\n", "  ", "- ", "{", "}", "[", "]", ",", "&a", "'"])
    ).map("".join)
)
def test_any_text(text: str) -> None:
    with contextlib.suppress(PolicyError):
        parse(text, "p.yaml", Path())
