"""What the campaigns found, each as the smallest table that shows it."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal.io.address import Address, place_of
from shoal.kernels.jit import interpreting
from tests.fuzz.campaign import outcome_of
from tests.fuzz.cases import case_of
from tests.fuzz.judge import read_csv


def test_apostrophes_are_no_quotes_around_other_rows(tmp_path: Path) -> None:
    """Two apostrophes made one field of everything between them: rows of other people, published raw."""
    lines = ["age,ward,ill"]
    wards = {3: "'", 7: "'"}
    lines += [f"{20 + i},{wards.get(i, 'A')},{('flu', 'gout')[i % 2]}" for i in range(10)]
    source = tmp_path / "table.csv"
    source.write_text("\n".join(lines) + "\n")
    columns = {"age": "quasi", "ward": {"role": "plain", "type": "text"}, "ill": "sensitive"}
    policy = {
        "columns": columns,
        "constraints": [{"k": 5}],
        "read": {"header": True, "footer": 0, "separator": ","},
        "seed": 1,
    }
    for engine in ({}, {"memory": "200MB"}):
        target = tmp_path / f"out{len(engine)}.csv"
        shoal.run(source, policy, target, **engine)
        rows = read_csv(target.read_text())
        assert len(rows) == 10
        assert {row["age"] for row in rows} == {"[20~24]", "[25~29]"}


@pytest.mark.parametrize("folder", [False, True])
def test_apostrophes_are_no_quotes_however_far_down_they_are(tmp_path: Path, folder: bool) -> None:
    """A name between apostrophes near the beginning does not make quotes of those of later rows."""
    wards = {5: "'A'", 110_000: "'t B", 110_003: "C'"}
    lines = [f"{20 + i % 9},{wards.get(i, 'A')},{('flu', 'gout')[i % 2]}\n" for i in range(110_010)]
    source = tmp_path / "table.csv"
    if folder:
        source = tmp_path / "tables"
        source.mkdir()
        (source / "1.csv").write_text("".join(["age,ward,ill\n", *lines[:60]]))
        (source / "2.csv").write_text("".join(["age,ward,ill\n", *lines[109_900:]]))
    else:
        source.write_text("".join(["age,ward,ill\n", *lines]))
    policy = {
        "columns": {"age": "quasi", "ward": {"role": "plain", "type": "text"}, "ill": "sensitive"},
        "constraints": [{"k": 5}],
        "method": "mondrian",
        "seed": 1,
    }
    target = tmp_path / "out.csv"
    shoal.run(source, policy, target, **({"memory": "200MB"} if folder else {}))
    rows = read_csv(target.read_text())
    assert len(rows) == (170 if folder else 110_010)
    assert {row["ward"] for row in rows} == {"A", *wards.values()}


def test_a_file_that_is_quoted_by_apostrophes(tmp_path: Path) -> None:
    """Where the usual quote does not fit, apostrophes are quotes, also around lines."""
    source = tmp_path / "table.csv"
    rows = "".join(f"{20 + i % 2},'two\nlines'\n" for i in range(6))
    source.write_text(f"age,note\n{rows}")
    policy = {"columns": {"age": "quasi", "note": "plain"}, "constraints": [{"k": 3}]}
    release = shoal.anonymize(source, policy, read={"header": True})
    assert release.table["note"].to_pylist() == ["two\nlines"] * 6


def test_rows_that_apostrophes_may_hide_are_asked_about(tmp_path: Path) -> None:
    """Neither quote is certain: one name is quoted by apostrophes, others only begin or end with one."""
    source = tmp_path / "table.csv"
    wards = {2: "'Ali, B'", 20: "'t Hart", 23: "Hans'"}
    source.write_text(
        "age,ward,ill\n" + "".join(f"{20 + i % 3},{wards.get(i, 'A')},flu\n" for i in range(40))
    )
    policy = {
        "columns": {"age": "quasi", "ward": {"role": "plain", "type": "text"}, "ill": "plain"},
        "constraints": [{"k": 5}],
        "method": "mondrian",
    }
    with pytest.raises(shoal.InputError, match=r"line 22: .*may hide whole rows") as asked:
        shoal.run(source, policy, tmp_path / "out.csv")
    assert "Hart" not in str(asked.value)
    assert "Ali" not in str(asked.value)
    assert not (tmp_path / "out.csv").exists()
    # an answer is taken as it is
    release = shoal.anonymize(source, policy, read={"quote": "'"})
    assert release.table.num_rows == 37


def test_l_clustering_of_people_with_too_few_values() -> None:
    """No cluster could be formed of one row per person, and the others joined one that was not there."""
    table = pa.table(
        {
            "id": ["a", "a", "b", "b", "c", "d"],
            "age": [1, 5, 2, 6, 3, 4],
            "ill": ["flu", "gout", "flu", "gout", "flu", "flu"],
        }
    )
    policy: dict[str, Any] = {
        "columns": {"id": {"role": "person", "together": True}, "age": "quasi", "ill": "sensitive"},
        "constraints": [{"l": 2, "of": "ill"}],
        "method": "l-clustering",
        "seed": 1,
    }
    with interpreting():  # where an index out of bounds is an error
        for shift in range(6):
            order = [*range(shift, 6), *range(shift)]
            try:
                release = shoal.anonymize(table.take(pa.array(order)), policy)
            except shoal.Infeasible:
                continue
            assert release.verified


@pytest.mark.parametrize("form", ["midpoint", "mean", "median"])
def test_days_that_are_all_missing_have_no_statistic(form: str) -> None:
    """The statistic of nothing was written as a day before the calendar."""
    table = pa.table({"seen": ["1964-03-07", "1964-03-09", None, None], "sex": [*"ffmm"]})
    release = shoal.anonymize(table, quasi=["seen", "sex"], k=2, labels={"seen": form}, seed=1)
    assert release.table["seen"].to_pylist() == ["1964-03-08", "1964-03-08", None, None]


@pytest.mark.parametrize("form", ["mode", "uniform", "range"])
def test_statistics_and_constraints_that_groups_meet_together(form: str) -> None:
    """Groups that share a node under one constraint had values of their own: k was not met."""
    tree = {"tree": {"all": ["a", "b", "c", "d"]}}
    policy = {
        "columns": {
            "town": {"role": "quasi", "hierarchy": tree, "labels": form},
            "job": {"role": "quasi", "hierarchy": {"mask": "right"}},
        },
        "constraints": [{"k": 1}, {"k": 4, "on": ["town"]}],
        "method": "classfly-plus",
    }
    table = pa.table({"town": [*"abcd"], "job": [*"1123"]})
    if form == "mode":
        with pytest.raises(shoal.PolicyError, match="allowed here: range, uniform"):
            shoal.anonymize(table, policy)
    else:
        assert set(shoal.anonymize(table, policy).table["town"].to_pylist()) == {"all"}


@pytest.mark.parametrize("form", ["median", "mode"])
def test_groups_of_people_that_read_alike(form: str) -> None:
    """Two groups that held α got the same label, and together they did not: nothing could be written."""
    tables = {
        "median": ([*"adcaadee"], [5, 5, 0, 2, 2, 5, 5, 3], [*"ffgfgffg"]),
        "mode": ([*"dabbdfeaf"], [4, 5, 2, 0, 4, 1, 5, 0, 1], [*"gggfgggfg"]),
    }
    who, ages, ills = tables[form]
    policy = {
        "columns": {"id": "person", "age": {"role": "quasi", "labels": form}, "ill": "sensitive"},
        "constraints": [{"k": 2}, {"alpha": 0.7, "of": "ill"}],
        "method": "k-clustering",
        "seed": 1,
    }
    ills = [{"f": "flu", "g": "gout"}[ill] for ill in ills]
    release = shoal.anonymize(pa.table({"id": who, "age": ages, "ill": ills}), policy)
    assert release.verified
    assert release.table.num_rows >= 4


def test_no_error_names_a_rare_spelling() -> None:
    """The value is common, but the spelling that stood for it was one person's."""
    ills = [" Cancer", *["cancer"] * 14, "flu"]
    table = pa.table({"age": list(range(16)), "ill": ills})
    with pytest.raises(shoal.Infeasible, match="One value makes up") as caught:
        shoal.anonymize(
            table, quasi="age", sensitive="ill", constraints=[{"alpha": 0.2, "of": "ill"}]
        )
    assert " Cancer" not in str(caught.value)
    with pytest.raises(shoal.Infeasible, match="'cancer' makes up"):
        shoal.anonymize(
            pa.table({"age": list(range(15)), "ill": ills[1:]}),
            quasi="age",
            sensitive="ill",
            constraints=[{"alpha": 0.2, "of": "ill"}],
        )


def test_uniform_labels_of_numbers_beside_a_code_for_missing_ones() -> None:
    """The check of truth took decimals for texts, because of the code, and refused a release."""
    ages = ["NA", "0.67", "NA", "1.26", "NA", "1.04", "NA", "0.86"]
    column = {"role": "quasi", "labels": "uniform", "missing": ["NA"]}
    policy = {"columns": {"age": column}, "constraints": [{"k": 2}], "seed": 1}
    release = shoal.anonymize(pa.table({"age": ages}), policy)
    assert release.table["age"].to_pylist().count(None) == 4


def test_the_mode_of_a_column_with_open_ends() -> None:
    """The check of truth compared `44+` with 44."""
    ages = ["12", "21", "44", "57", "55", "44"]
    column = {"role": "quasi", "labels": "mode", "top": 44}
    policy = {"columns": {"age": column}, "constraints": [{"k": 2}], "seed": 1}
    release = shoal.anonymize(pa.table({"age": ages}), policy)
    assert release.table["age"].to_pylist().count("44+") == 4


def test_a_hierarchy_file_of_quotes_alone(tmp_path: Path) -> None:
    """No line was blank, and none had a leaf: an exception that was no error of Shoal's."""
    file = tmp_path / "towns.csv"
    file.write_text('""\n""\n')
    with pytest.raises(shoal.HierarchyError, match="has no line with a leaf"):
        shoal.Hierarchy.from_csv(file).paths(["a"])


@pytest.mark.parametrize("name", [".db", "folder/.DB", ".sqlite", ".duckdb"])
def test_a_database_file_that_is_nothing_but_an_ending(name: str) -> None:
    """Its ending was looked for with `Path.suffix`, which such a name has not: a KeyError."""
    found = place_of(f"{name}#visits")
    assert isinstance(found, Address)
    assert str(found.file) == name
    assert found.table is not None
    assert found.table.name == "visits"


def test_rows_that_are_generalised_to_the_top_are_not_suppressed(tmp_path: Path) -> None:
    """With nothing but quasi-identifiers and `suppressed: starred` they were counted as suppressed, and
    the run failed its own verification."""
    assert outcome_of(case_of(20_002_138), tmp_path) == "released"


def test_all_rows_suppressed_out_of_core(tmp_path: Path) -> None:
    """A column with a hierarchy of which no row was left was a KeyError."""
    assert outcome_of(case_of(10_001_910, "disk"), tmp_path) == "infeasible"


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:postgresql://user:hunter2@server/db?table=t",
        "duckdb:///postgresql://user:hunter2@server/db?table=t",
        "sqlite://user:hunter2@server/db?table=t",
    ],
)
def test_no_password_in_the_path_of_a_database_file(address: str) -> None:
    """It was taken for the path of a file, and shown in messages."""
    with pytest.raises(shoal.InputError, match="looks like that of a server") as caught:
        place_of(address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("engine", [{}, {"memory": "200MB"}], ids=["memory", "disk"])
def test_rows_of_stars_are_suppressed_where_constraints_share_no_column(
    engine: dict[str, str], tmp_path: Path
) -> None:
    """A row that is suppressed in the columns of one constraint, and at the top of the other's, has a
    star in every cell; it was neither counted as suppressed nor held to `suppression`."""
    source, target = tmp_path / "table.csv", tmp_path / "out.csv"
    source.write_text("zip,job,note\n1,a,u\n2,c,v\n3,d,w\n4,c,x\n5,b,y\n")
    jobs = {"*": [{"arts": ["a", "b"]}, {"crafts": ["c", "d"]}]}
    columns = {
        "zip": {"role": "quasi", "hierarchy": {"mask": "right"}},
        "job": {"role": "quasi", "hierarchy": {"tree": jobs}},
        "note": "plain",
    }
    policy = {
        "columns": columns,
        "constraints": [{"k": 5, "on": ["zip"]}, {"k": 2, "on": ["job"]}],
        "method": {"name": "classfly-plus", "variant": "naive"},
        "read": {"header": True, "footer": 0, "separator": ","},
        "suppression": 0.2,
        "seed": 1,
    }
    release = shoal.run(source, policy, target, **engine)
    rows = read_csv(target.read_text())
    assert sum(set(row.values()) == {"*"} for row in rows) == 1
    assert len(rows) == 5
    assert release.suppressed_rows == release.metrics["suppressed-rows"] == 1
    found = shoal.verify(target, policy, **engine)
    assert found.starred is not None
    assert found.starred.starred == 1
    assert found.holds
    assert not shoal.verify(target, {**policy, "suppression": 0.1}, **engine).holds
    with pytest.raises(shoal.Infeasible, match=r"1 of 5 rows \(20.0%\)"):
        shoal.run(source, {**policy, "suppression": 0.1}, tmp_path / "no.csv", **engine)


@pytest.mark.parametrize("seed", [30008962, 20051950, 20044088])
def test_suppressed_rows_are_no_part_of_the_table_that_groups_are_compared_with(
    seed: int, tmp_path: Path
) -> None:
    """k-clustering, and methods under uniform labels, compared their groups with the whole table, and
    the run failed its own verification."""
    assert outcome_of(case_of(seed, "memory"), tmp_path) == "released"


def test_the_name_of_a_database_file_may_be_too_long_for_one() -> None:
    """Looking whether it exists was an exception that was no error of Shoal's."""
    found = place_of(f"sqlite:///{'a' * 300}?table=visits")
    assert isinstance(found, Address)
    assert found.file == Path("a" * 300)
