"""A column that must not be learnt is protected, or it is said that nothing protects it."""

from collections import Counter
from pathlib import Path

import pytest

from shoal.progress import ignore_event
from shoal.studio import tasks
from shoal.studio.policy_text import changed
from shoal.studio.session import Session
from shoal.studio.tasks import PolicyText
from shoal.studio.unprotected import certain_words, protection, unprotected_words
from shoal.studio.worker import Tables
from shoal.studio.workspace import Workspace

POLICY = """columns:
  age: {role: quasi, kind: ordered}
  ill: sensitive
  sick days: sensitive
constraints: [{k: 3}, {l: 2, of: sick days}]
method: least-loss-partition
seed: 1
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    file = tmp_path_factory.mktemp("ill") / "ill.csv"
    rows = [
        f"{20 + i // 6},{'flu' if i < 30 else ('gout', 'flu')[i % 2]},{i % 3}" for i in range(60)
    ]
    file.write_text("age,ill,sick days\n" + "\n".join(rows) + "\n")
    found = Tables()
    tasks.open_table(found, ignore_event, str(file))
    return found


def session_with(folder: Path, text: str) -> Session:
    file = folder / "ill.policy.yaml"
    file.write_text(text)
    session = Session(folder)
    session.workspace = Workspace.open(file)
    return session


def test_groups_with_one_value_are_counted(tables: Tables) -> None:
    figures = tasks.whole_figures(tables, ignore_event, PolicyText(POLICY, "p.yaml", "."))
    assert figures.verified  # which is why it must be said
    release = tables.opened().release(PolicyText(POLICY, "p.yaml", ".").read())
    rows = release.table.to_pylist()
    told = [r for r in rows if len({o["ill"] for o in rows if o["age"] == r["age"]}) == 1]
    assert figures.certain == {"ill": len(told)}
    assert len(told) >= 30
    found = {}
    for name in ("ill", "sick days"):
        alone = Counter((row["age"], row[name]) for row in rows)
        found[name] = sum(count == 1 for count in alone.values())
    assert figures.disclosure.alone_by_sensitive == found
    (words,) = certain_words(figures.certain, figures.published_rows)
    assert words.startswith(f"{len(told)} of 60 rows are in groups where everyone has the same ill")
    assert not any("No constraint protects" in one for one in figures.warnings)


def test_what_nothing_protects_is_marked_until_it_is_protected(tmp_path: Path) -> None:
    session = session_with(tmp_path, POLICY)
    assert session.unprotected == ("ill",)
    assert session.marks["protect"] == "ill is not protected yet."
    assert "protect" not in session.questions  # it refuses nothing
    protected = changed(POLICY, protection(session.unprotected))
    assert "{l: 2, of: ill}" in protected
    session = session_with(tmp_path, protected)
    assert session.unprotected == ()
    assert "protect" not in session.marks


def test_a_guarantee_that_promises_nothing_protects_nothing(tmp_path: Path) -> None:
    session = session_with(tmp_path, POLICY.replace("l: 2", "l: 1"))
    assert session.unprotected == ("ill", "sick days")
    assert unprotected_words(session.unprotected) == "ill and sick days are not protected yet"
