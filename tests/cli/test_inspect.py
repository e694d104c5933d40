"""`shoal inspect` and `shoal init`."""

import pytest

from shoal.policy import Policy


def test_inspect_shows_columns_roles_and_risk(shoal, sample):
    seen = shoal("inspect", sample.table)
    assert seen.code == 0
    for words in ("birth_date", "quasi, date", "Suggested roles", "Who stands out", "One column"):
        assert words in seen.out
    assert max(map(len, seen.out.rstrip().splitlines()[:-1])) <= 80


def test_inspect_json(shoal, sample):
    data = shoal("inspect", sample.table, "--json").data()
    assert data["rows"] == 400
    assert [column["name"] for column in data["columns"]][:2] == ["name", "birth_date"]
    assert data["columns"][0]["role"] == "identifier"
    assert data["search"]["found"][0]["columns"] == ["birth_date"]
    assert data["search"]["bounded"] is False
    assert 0 < data["unique_share"] <= 1


@pytest.mark.parametrize("width", [30, 50, 70, 200])
def test_inspect_names_every_column_at_any_width(shoal, sample, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    seen = shoal("inspect", sample.table).out
    for name in ("name", "birth_date", "zip", "disease"):
        assert name in seen


def test_inspect_with_the_dialect_given(shoal, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("n\xe4me|age\nJ\xf6rg|3\nAnna|4\n".encode("latin-1"))
    seen = shoal("inspect", path, "--separator", "|", "--encoding", "latin-1", "--json")
    assert [column["name"] for column in seen.data()["columns"]] == ["näme", "age"]


def test_what_was_guessed_is_said(shoal, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("name,age\nJ\xf6rg,3\nAnna,4\n".encode("latin-1"))
    data = shoal("inspect", path, "--json").data()
    assert len(data["warnings"]) == 1
    assert "Warning: " in shoal("inspect", path).out


def test_names_cannot_steer_the_terminal(shoal, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("[bold]age,\x1b[31mzip\n1,2\n3,4\n")
    seen = shoal("inspect", path)
    assert seen.code == 0
    assert "[bold]age" in seen.out
    assert "\x1b" not in seen.out


def test_init_writes_a_policy_that_runs(shoal, sample, tmp_path):
    made = shoal("init", sample.table)
    assert made.code == 0
    assert "policy.yaml" in made.out
    assert "check them first" in made.out
    assert Policy.load(tmp_path / "policy.yaml").quasi
    assert shoal("run", sample.table, "policy.yaml", "-o", "out.csv").code == 0


def test_init_does_not_overwrite(shoal, sample, tmp_path):
    target = tmp_path / "mine.yaml"
    target.write_text("mine")
    refused = shoal("init", sample.table, "-o", target)
    assert refused.code == 2
    assert "--force" in refused.err
    assert target.read_text() == "mine"
    assert shoal("init", sample.table, "-o", target, "--force").code == 0
    assert "constraints" in target.read_text()


def test_init_json(shoal, sample):
    data = shoal("init", sample.table, "-o", "p.yaml", "--json").data()
    assert data["policy"] == "p.yaml"
    assert data["roles"]["disease"] == "sensitive"


def test_inspect_shows_the_three_attackers_and_what_was_asked_for(shoal, sample):
    plain = shoal("inspect", sample.table).out
    assert "prosecutor" in plain
    assert "In the population" not in plain
    seen = shoal("inspect", sample.table, "--fraction", "0.1", "--msu", "2")
    assert seen.code == 0
    for words in ("marketer", "In the population", "Dankar's rule", "Minimal sample uniques"):
        assert words in seen.out
    assert max(map(len, seen.out.rstrip().splitlines()[:-1])) <= 80
    data = shoal("inspect", sample.table, "--fraction", "0.1", "--msu", "2", "--json").data()
    assert data["risk"]["prosecutor"]["highest"] == 1.0
    assert data["population_uniques"]["population"] == 4000
    assert data["minimal_uniques"]["largest_size"] == 2


def test_inspect_counts_where_the_table_is_everybody(shoal, sample):
    seen = shoal("inspect", sample.table, "--fraction", "1").out
    assert "so they were counted" in " ".join(seen.split())
    assert "Dankar" not in seen


def test_inspect_shows_no_risk_without_quasi_columns(shoal, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("name,disease\n" + "".join(f"person {i},flu\n" for i in range(20)))
    seen = shoal("inspect", table, "--fraction", "0.1")
    assert seen.code == 0
    assert "No column looks like a quasi-identifier" in seen.out
    assert "prosecutor" not in seen.out
    assert "In the population" not in seen.out


@pytest.mark.parametrize("option", [("--fraction", "7"), ("--msu", "0")])
def test_inspect_says_what_cannot_be_asked(shoal, sample, option):
    refused = shoal("inspect", sample.table, *option)
    assert refused.code == 2
    assert "must be" in refused.err


def test_suggested_constraints_are_those_of_the_draft(shoal, sample):
    shown = shoal("inspect", sample.table).out
    assert "- {k: 5}" in shown
    lines = shown[shown.index("Suggested constraints") :].splitlines()
    ends = next(i for i, line in enumerate(lines) if not line.strip())
    starts = [len(line) - len(line.lstrip()) for line in lines[1:ends]]
    assert set(starts) == {4, 6}  # lines that continue a reason are as far in as the reason


def test_codes_for_missing_values_are_hinted_at(shoal, tmp_path):
    table = tmp_path / "t.csv"
    rows = "".join(f"{i % 9 + 0.5},{i}\n" for i in range(60))
    table.write_text("level,other\n" + rows + "NA,3\n")
    words = " ".join(shoal("inspect", table).out.split())
    assert "decimal point, but for likely codes for missing values" in words
    assert "codes?" in words
