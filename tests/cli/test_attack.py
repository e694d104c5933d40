"""`shoal attack`."""

import pytest


def test_it_shows_both_tables_side_by_side(shoal, sample, release):
    seen = shoal("attack", release, sample.policy, "--known", sample.table, "--raw", sample.table)
    assert seen.code == 0
    assert "raw table" in seen.out
    pinned = next(line for line in seen.out.splitlines() if "pinned to one row" in line)
    assert pinned.split()[-3:] == ["0", "(0.0", "%)"]
    assert "disease guessed right" in seen.out
    assert max(map(len, seen.out.splitlines())) <= 80


def test_the_raw_table_may_be_left_out(shoal, sample, release):
    seen = shoal("attack", release, sample.policy, "--known", sample.table)
    assert seen.code == 0
    assert "raw table" not in seen.out


@pytest.mark.parametrize("width", [40, 120])
def test_any_width(shoal, sample, release, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    seen = shoal("attack", release, sample.policy, "--known", sample.table, "--raw", sample.table)
    for words in ("fewest", "candidates", "disease", "salary"):
        assert words in seen.out
    assert max(map(len, seen.out.splitlines())) <= width


def test_json(shoal, sample, release):
    found = shoal("attack", release, sample.policy, "--known", sample.table, "--json").data()
    assert found["people"] == 400
    assert found["raw"] is None
    assert found["release"]["pinned"] == 0
    assert found["files"]["known"] == str(sample.table)


def test_nobody_found_and_labels_not_read_are_said(shoal, tmp_path):
    (tmp_path / "p.yaml").write_text(
        "columns: {age: {role: quasi, kind: ordered}}\nconstraints: [{k: 1}]\n"
    )
    (tmp_path / "r.csv").write_text("age\nold\n4\n")
    (tmp_path / "k.csv").write_text("age\n5\n")
    seen = " ".join(shoal("attack", "r.csv", "p.yaml", "--known", "k.csv").out.split())
    assert "1 label of age could not be read" in seen
    assert "Nobody links to the release: are the values of age written the same way?" in seen


def test_what_is_wrong_is_said(shoal, sample, release, tmp_path):
    (tmp_path / "other.csv").write_text("colour,shape,size\nred,round,3\n")
    refused = shoal("attack", release, sample.policy, "--known", "other.csv")
    assert refused.code == 2
    said = " ".join(refused.err.split())
    assert "other.csv has none of the release's quasi and plain columns (age, sex" in said
    assert "among its 3 columns. Give the columns that both tables have the same names" in said
    assert "colour" not in said, "it may be the first person, where there is no line of names"
    assert "red" not in refused.err
    assert shoal("attack", release, sample.policy, "--known", "none.csv").code == 2
    assert shoal("attack", "other.csv", sample.policy, "--known", sample.table).code == 2
    assert shoal("attack", release, "none.yaml", "--known", sample.table).code == 2
    wrong = shoal("attack", release, sample.policy, "--known", "other.csv", "--json")
    assert wrong.data()["kind"] == "InputError"


def test_a_release_with_too_much_and_values_written_otherwise_are_told(shoal, tmp_path):
    (tmp_path / "p.yaml").write_text(
        "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 1}]\n"
    )
    (tmp_path / "r.csv").write_text("age,ill,name\n4,flu,Ann\n")
    (tmp_path / "k.csv").write_text("age,ill\n4,influenza\n")
    seen = " ".join(shoal("attack", "r.csv", "p.yaml", "--known", "k.csv").out.split())
    assert "Warning: The release holds 'name'" in seen
    assert "Warning: None of the values of ill in k.csv occurs in the release" in seen
    data = shoal("attack", "r.csv", "p.yaml", "--known", "k.csv", "--json").data()
    assert len(data["warnings"]) == 2
