"""`shoal demo`."""

import pytest

from shoal.drawing.page import can_draw


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_it_shows_the_whole_way(shoal, tmp_path):
    made = shoal("demo", "--rows", 300)
    assert made.code == 0
    folder = tmp_path / "shoal-demo"
    reports = ("report.html", "report.json") if can_draw() else ()
    for name in ("hospital.csv", "policy.yaml", "release.csv", *reports):
        assert (folder / name).is_file()
        assert f"shoal-demo/{name}" in made.out
    assert "Verified" in made.out
    assert "✔" in made.out
    assert "Some columns of one published class" in made.out
    assert "shoal inspect hospital.csv" in made.out
    assert ("--certificate report.json" in made.out) == bool(reports)
    assert max(map(len, made.out.splitlines())) <= 80


def test_it_can_be_repeated_and_gives_the_same(shoal, tmp_path):
    shoal("demo", "--rows", 300)
    release = tmp_path / "shoal-demo" / "release.csv"
    first = release.read_bytes()
    assert shoal("demo", "--rows", 300).code == 0
    assert release.read_bytes() == first
    assert shoal("demo", "--rows", 300, "--seed", 8).code == 0
    assert release.read_bytes() != first


def test_an_edited_policy_is_not_lost_without_force(shoal, tmp_path):
    shoal("demo", "--rows", 300)
    policy = tmp_path / "shoal-demo" / "policy.yaml"
    edited = policy.read_text() + "\n# mine\n"
    policy.write_text(edited)
    again = shoal("demo", "--rows", 300)
    assert again.code == 2
    assert "policy.yaml" in again.err
    assert policy.read_text() == edited
    assert shoal("demo", "--rows", 300, "--force").code == 0
    assert policy.read_text() != edited


def test_a_folder_of_someone_else_is_left_alone(shoal, tmp_path):
    (tmp_path / "policy.yaml").write_text("columns: {}\n")
    refused = shoal("demo", "--rows", 300, "--folder", ".")
    assert refused.code == 2
    assert (tmp_path / "policy.yaml").read_text() == "columns: {}\n"
    assert not (tmp_path / "hospital.csv").exists()


def test_json_alone(shoal):
    data = shoal("demo", "--rows", 300, "--json").data()
    assert data["verified"] is True
    assert data["rows"] == 300
    assert data["output"] == "shoal-demo/release.csv"
    assert set(data) >= {"table", "policy", "metrics", "seconds", "groups"}


def test_narrow_terminals_get_less_beside_each_other(shoal, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    made = shoal("demo", "--rows", 300)
    assert "nationality" in made.out
    assert "l of disease" in made.out
