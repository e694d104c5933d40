"""What presets put into a policy, and what they refuse beside them."""

from typing import Any

import pytest

import shoal
from shoal import plugins
from shoal.models.k import K
from shoal.models.l import L
from shoal.policy import Policy

COLUMNS = {"age": "quasi", "zip": "quasi", "disease": "sensitive"}
SIZES = {
    "cell-size-3": 3,
    "cell-size-5": 5,
    "nhs-hes": 8,
    "cell-size-10": 10,
    "cell-size-11": 11,
    "cell-size-20": 20,
    "ema-0070": 12,
    "health-canada": 12,
}


def policy(**keys: Any) -> Policy:
    return Policy.load({"columns": COLUMNS, **keys})


@pytest.mark.parametrize(("name", "k"), SIZES.items())
def test_a_class_size_is_added(name: str, k: int) -> None:
    assert policy(preset=name).constraints == (K(k),)


@pytest.mark.parametrize(("name", "k"), SIZES.items())
def test_a_weaker_line_is_refused_by_the_name_of_the_preset(name: str, k: int) -> None:
    for weaker in ({"k": k - 1}, {"k": k - 1, "on": ["age"]}, {"k": k - 1, "on": ["age", "zip"]}):
        with pytest.raises(shoal.PolicyError, match=f"weaker than the preset {name}.*{k} or more"):
            policy(preset=name, constraints=[weaker])


@pytest.mark.parametrize(("name", "k"), SIZES.items())
def test_a_stricter_line_takes_its_place(name: str, k: int) -> None:
    assert policy(preset=name, constraints=[{"k": k}]).constraints == (K(k),)
    assert policy(preset=name, constraints=[{"k": k + 1}]).constraints == (K(k + 1),)
    every = {"k": k, "on": ["zip", "age"]}
    assert policy(preset=name, constraints=[every]).constraints == (K(k, on=("zip", "age")),)
    part = policy(preset=name, constraints=[{"k": k, "on": ["age"]}])
    assert part.constraints == (K(k), K(k, on=("age",)))


def test_of_several_presets_the_strictest_counts() -> None:
    several = policy(preset=["cell-size-3", "ema-0070", "cell-size-5"])
    assert several.constraints == (K(12),)
    assert [preset.name for preset in several.preset] == ["cell-size-3", "ema-0070", "cell-size-5"]


def test_other_constraints_stay() -> None:
    both = policy(preset="cell-size-11", constraints=[{"l": 2, "of": "disease"}])
    assert both.constraints == (K(11), L(2, "disease"))


def test_a_policy_with_presets_can_be_written_and_changed() -> None:
    first = policy(preset="cell-size-11", constraints=[{"l": 2, "of": "disease"}])
    assert Policy.load(first.to_yaml()) == first
    assert first.with_changes(k=20).constraints == (K(20), L(2, "disease"))
    with pytest.raises(shoal.PolicyError, match="weaker than the preset cell-size-11"):
        first.with_changes(k=5)
    assert first.fingerprint() != policy(constraints=list(first.constraints)).fingerprint()


def test_the_fingerprint_of_a_policy_without_presets_is_what_it_was() -> None:
    assert (
        policy(constraints=[{"k": 5}], method="least-loss-partition").fingerprint()
        == "7e50af834e12d07687bec284c72526c3245d5ea5910b787e8cc4318d693a3b18"
    )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"preset": "cell-size-12"}, r"preset\[0\]: found 'cell-size-12'; allowed: cell-size-10"),
        ({"preset": {"title": "x"}}, "names no preset"),
        ({"preset": {"name": "cell-size-5", "size": 4}}, "not an option of cell-size-5"),
        ({"preset": 11}, "preset"),
        ({"preset": ["cell-size-5", "cell-size-5"]}, "'cell-size-5' is listed twice"),
        (
            {"preset": "cell-size-5", "publish": "anatomy"},
            "anatomy leaves quasi-identifiers exact, so k of the preset cell-size-5 cannot hold",
        ),
        ({"preset": []}, "constraints: missing"),
        ({}, "constraints: missing; write at least one"),
    ],
)
def test_mistakes_are_explained(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.PolicyError, match=words):
        policy(**keys)


def test_opinion_05_2014() -> None:
    wanted = {"preset": "opinion-05-2014", "constraints": [{"l": 2, "of": "disease"}]}
    assert policy(**wanted).constraints == (K(2), L(2, "disease"))
    with pytest.raises(shoal.PolicyError, match=r"columns\.disease: no constraint protects"):
        policy(preset="opinion-05-2014")
    keys = {**wanted, "pseudonym": {"key_env": "KEY"}}
    with pytest.raises(
        shoal.PolicyError, match=r"columns\.id: pseudonyms link the rows of a person"
    ):
        Policy.load({"columns": {**COLUMNS, "id": "pseudonym"}, **keys})
    with pytest.raises(shoal.PolicyError, match="weaker than the preset opinion-05-2014"):
        policy(preset="opinion-05-2014", constraints=[{"k": 1}, {"l": 2, "of": "disease"}])


@pytest.mark.parametrize(
    "vacuous",
    [
        {"l": 1},
        {"entropy-l": 1},
        {"recursive-l": 1, "c": 2},
        {"alpha": 1},
        {"t": 1},
    ],
    ids=lambda one: next(iter(one)),
)
def test_constraints_that_promise_nothing_answer_no_question(vacuous: dict[str, Any]) -> None:
    constraint = {**vacuous, "of": "disease"}
    with pytest.raises(shoal.PolicyError, match=r"no constraint protects .* promises nothing"):
        policy(preset="opinion-05-2014", constraints=[constraint])
    policy(preset="opinion-05-2014", constraints=[constraint, {"l": 2, "of": "disease"}])
    # elsewhere they are warned of, and the column counts as unprotected
    found = policy(constraints=[{"k": 2}, constraint]).warnings()
    assert any("nobody is protected by it" in text for text in found)
    assert any("No constraint protects the sensitive column disease" in text for text in found)


@pytest.mark.parametrize("preset", [*SIZES, "opinion-05-2014"])
def test_a_k_of_one_is_refused_beside_every_preset_with_a_size(preset: str) -> None:
    with pytest.raises(shoal.PolicyError, match=f"weaker than the preset {preset}"):
        policy(preset=preset, constraints=[{"k": 1}, {"l": 2, "of": "disease"}])


def test_every_preset_names_its_sources_and_leaves_something_to_people() -> None:
    every = plugins.presets()
    assert {*SIZES} <= set(every)
    for name, preset in every.items():
        entry = shoal.list_presets(name).entries[0].to_dict()
        assert entry["title"] == preset.title
        assert all(entry[key] for key in ("asks", "to_judge", "sources"))
        assert all(text.endswith(".") for text in (*entry["asks"], *entry["to_judge"]))
        for source in preset.sources:
            assert 1990 < source.year <= 2026


def test_keywords_take_a_preset() -> None:
    import pyarrow as pa

    table = pa.table({"age": [30, 31, 32, 60, 61, 62, 63], "sex": list("fffmmmm")})
    release = shoal.anonymize(table, quasi=["age", "sex"], preset="cell-size-3", seed=1)
    assert release.policy.constraints == (K(3),)
    (outcome,) = release.presets
    assert outcome.holds
    assert outcome.checks[0].found == 3
    assert release.to_judge == outcome.to_judge
    assert release.to_dict()["presets"][0]["checks"][0]["required"] == 3
