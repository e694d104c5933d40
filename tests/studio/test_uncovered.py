"""What no guarantee covers, and who was found, are told by people and by the words of the screens."""

from pathlib import Path

import pytest

from shoal import api
from shoal.studio import tasks
from shoal.studio.live_panel import of_whoever_knows
from shoal.studio.policy_text import changed
from shoal.studio.screens.attack import crowd_words
from shoal.studio.screens.columns import ALL_AT_ONCE
from shoal.studio.tasks import Learnt, PolicyText
from shoal.studio.uncovered import alone_words, sentences, short_words, with_roles
from shoal.studio.words import ROLES
from shoal.studio.worker import Tables

POLICY = """columns:
  patient: person
  age: {role: quasi, kind: ordered}
  town: {role: quasi, kind: unordered}
  dose: plain
  illness: sensitive
constraints: [{k: 3}]
method: least-loss-partition
seed: 1
"""


def quiet(event: object) -> None:
    """Nobody looks at the progress."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    file = tmp_path_factory.mktemp("visits") / "visits.csv"
    rows = [
        f"P{who:03d},{20 + who % 40},{('Ath', 'Huy')[who % 2]},{who % 11},{ill}"
        for who in range(80)
        for ill in ("flu", "gout")
    ]
    file.write_text("patient,age,town,dose,illness\n" + "\n".join(rows) + "\n")
    found = Tables()
    tasks.open_table(found, quiet, str(file))
    return found


def policy(text: str = POLICY) -> PolicyText:
    return PolicyText(text, "policy.yaml", str(Path.cwd()))


def test_people_alone_by_harmless_columns_are_told(tables: Tables) -> None:
    figures = tasks.whole_figures(tables, quiet, policy())
    found = figures.disclosure
    assert figures.verified
    assert found.is_alarming
    assert figures.below[2][1] == 0  # nobody is alone by what others may know
    said = sentences(found)[0]
    assert said.startswith(f"{found.alone} of 80 people (")
    assert said.endswith("stand alone once dose is known too. No guarantee covers this column.")
    assert alone_words(found) in said
    assert short_words(found) == f"{found.alone} alone by dose"
    assert not set(figures.warnings) & set(found.warnings)  # told once


def test_what_is_covered_is_not_told(tables: Tables) -> None:
    covered = POLICY.replace("dose: plain", "dose: {role: quasi, kind: ordered}")
    found = tasks.whole_figures(tables, quiet, policy(covered)).disclosure
    assert sentences(found) == []
    assert short_words(found) == ""


@pytest.mark.parametrize("role", ALL_AT_ONCE)
def test_all_columns_that_are_left_can_be_decided_at_once(role: str) -> None:
    names = [f"v{i}" for i in range(5)]
    listed = "".join(f"  {name}: undecided\n" for name in names)
    text = f"columns:\n  age: quasi\n{listed}  dose: plain\nconstraints: [{{k: 3}}]\n"
    found = api.read_policy(changed(text, with_roles(names, role)))
    assert {found.columns[name].role for name in names} == {role}
    assert (found.columns["age"].role, found.columns["dose"].role) == ("quasi", "plain")
    assert role not in ("plain", "sensitive")  # nothing is published as it is that nobody looked at


def test_no_sentence_has_a_word_of_the_policy(tables: Tables) -> None:
    found = tasks.whole_figures(tables, quiet, policy()).disclosure
    said = " ".join([*sentences(found), *(words for pair in ROLES.values() for words in pair)])
    for word in ("quasi", "plain column", "sensitive"):
        assert word not in said


def test_whoever_knows_what_must_not_be_learnt_is_told_by_people(tables: Tables) -> None:
    text = POLICY.replace("dose: plain", "dose: sensitive") + "order: kept\n"
    found = tasks.whole_figures(tables, quiet, policy(text))
    release = tables.opened().release(policy(text).read())
    assert release.suppressed_rows == 0  # so the rows are those of the table
    owners: dict[tuple[str, ...], set[int]] = {}
    for place, row in enumerate(release.table.to_pylist()):
        key = tuple(str(row[name]) for name in ("age", "town", "dose"))
        owners.setdefault(key, set()).add(place // 2)
    people = len(set().union(*(some for some in owners.values() if len(some) == 1)))
    assert people > 20
    words = f"whoever knows dose too finds {people} people and learns illness"
    assert of_whoever_knows(found) == (words, "tiny warn")
    quiet_words, _ = of_whoever_knows(tasks.whole_figures(tables, quiet, policy()))
    assert "learns nothing new" in quiet_words


def test_an_attack_counts_people(tables: Tables) -> None:
    found = tasks.attack_release(tables, quiet, policy(), ("age", "town"), 0, None)
    twins = 2  # of 80 people, two have each age and town
    assert (found.raw.people, found.raw.rows) == (twins, 2 * twins)
    assert crowd_words(found.raw) == (2, "2 people fit (4 rows)")
    assert found.release.people is not None
    assert found.release.people >= 3
    everyone = tasks.attack_release(tables, quiet, policy(), ("age", "town", "dose"), None, None)
    assert everyone.raw.found == 80  # by two rows each, and found all the same
    assert everyone.raw.people == 1


def test_one_person_is_found_however_many_rows_there_are() -> None:
    assert crowd_words(Learnt(1, 1, 2, 1, {})) == (1, "one person fits (2 rows): found")
    assert crowd_words(Learnt(1, 1, 1, None, {})) == (1, "one row fits: found")
    assert crowd_words(Learnt(0, 0, None, None, {})) == (0, "no row fits")


def test_all_screens_give_one_loss(tables: Tables) -> None:
    """The panel, the price list and the command line, also where a rule takes detail away first."""
    for text in (POLICY, POLICY.replace("kind: ordered}", "kind: ordered, round: 5}")):
        wanted = policy(text)
        figures = tasks.whole_figures(tables, quiet, wanted)
        release = tables.opened().release(wanted.read())
        assert figures.lost == release.metrics["relative-non-uniform-entropy"]
        base = tasks.price(tables, quiet, wanted, text, ("age", "town"))
        assert isinstance(base, tasks.Price)
        shown = figures.lost if figures.lost_with_rules is None else figures.lost_with_rules
        assert base.lost == pytest.approx(shown)
    assert figures.lost_with_rules is not None
    assert figures.lost_with_rules > (figures.lost or 0)
    fewer = POLICY.replace("age: {role: quasi, kind: ordered}", "age: identifier")
    without = tasks.price(tables, quiet, policy(), fewer, ("age", "town"))
    assert isinstance(without, tasks.Price)
    assert without.lost > 0.8  # nearly all information is in the age


def test_columns_lose_what_the_whole_loses(tables: Tables) -> None:
    release = tables.opened().release(policy().read())
    table = tables.opened().table()
    bits = {name: tasks._information(table.column(name)) for name in ("age", "town")}
    lost = sum(bits[name] * release.column_information[name] for name in bits)
    whole = release.metrics["relative-non-uniform-entropy"]
    assert lost / sum(bits.values()) == pytest.approx(whole)
