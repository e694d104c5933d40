import pytest

from shoal.errors import PolicyError
from shoal.methods.mondrian import Mondrian
from shoal.policy import Policy, simple

NAMES = ["name", "age", "zip", "disease", "ward"]


def test_the_one_line_call() -> None:
    policy = simple(
        NAMES,
        quasi=["zip", "age"],
        sensitive="disease",
        identifiers=["name"],
        plain="ward",
        k=5,
        l=2,
        hierarchies={"zip": {"mask": "right"}},
        method=Mondrian(strict=False),
        seed=3,
    )
    assert policy == Policy.load(
        {
            "columns": {
                "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
                "age": "quasi",
                "disease": "sensitive",
                "name": "identifier",
                "ward": "plain",
            },
            "constraints": [{"k": 5}, {"l": 2, "of": "disease"}],
            "method": {"name": "mondrian", "strict": False},
            "seed": 3,
        }
    )
    assert policy.quasi == ("zip", "age")
    policy.check(NAMES)


def test_l_is_asked_of_every_sensitive_column() -> None:
    policy = simple(["a", "b", "c"], quasi="a", sensitive=("b", "c"), l=2)
    assert [(m.l, m.of) for m in policy.constraints] == [(2, "b"), (2, "c")]  # type: ignore[attr-defined]


def refused(**keys: object) -> str:
    with pytest.raises(PolicyError) as caught:
        simple(NAMES, **keys)  # type: ignore[arg-type]
    return str(caught.value)


def test_no_column_is_published_by_accident() -> None:
    assert refused(quasi=["age", "zip"], k=5) == (
        "no role for name, disease, ward; put each into quasi, sensitive, identifiers or plain, or "
        'give default="drop" to leave such columns out.'
    )
    policy = simple(NAMES, quasi=["age", "zip"], k=5, default="drop")
    assert policy.published(NAMES) == ("age", "zip")


def test_lists_that_cannot_be_meant() -> None:
    rest = {"default": "drop", "k": 5}
    assert refused(quasi=["age", "zpi"], **rest) == (
        "quasi: the table has no column 'zpi'; it has name, age, zip, disease, ward. Did you mean "
        "'zip'?"
    )
    assert refused(quasi=["age", "zip"], sensitive=["zip"], **rest) == (
        "sensitive: 'zip' is in `quasi` already; a column has one role."
    )
    assert refused(quasi=["age"], hierarchies={"zip": {"mask": "right"}}, **rest) == (
        "hierarchies: 'zip' is neither in `quasi` nor in `sensitive`."
    )


def test_guarantees_that_cannot_be_meant() -> None:
    rest = {"default": "drop", "quasi": "age"}
    assert refused(**rest) == "k: missing; give k, l or both, such as k=5."
    assert refused(l=2, **rest) == (
        "l: needs a sensitive column; give `sensitive`, or leave `l` out."
    )
    assert refused(k=0, **rest) == "constraints[0].k: found 0; must be 1 or more"
    assert refused(k=5, sed=1, **rest).startswith("sed: unknown key; allowed: ")
    assert refused(k=5, constraints=[{"k": 2}], **rest) == (
        "constraints: cannot stand beside `quasi`; give a whole policy instead."
    )
