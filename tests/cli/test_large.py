"""The commands on large engines: the same answers as in memory, and every bad input told well."""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.files import LocalFiles
from shoal.io.csv_dialect import CsvOptions

MEMORY = ("--memory", "500MB")
SPARK = ("--engine", "spark")
POLICY = "columns: {age: quasi, disease: sensitive}\nconstraints: [{k: 2}]\n"


def table(n=40):
    return pa.table({"age": [i % 7 for i in range(n)], "disease": ["ab"[i % 2] for i in range(n)]})


@pytest.fixture
def parts(tmp_path):
    """A folder of part files, the same rows in one file, and a policy."""
    whole, folder = table(), tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        pq.write_table(whole.slice(i * 15, 15), folder / f"part-{i}.parquet")
    pq.write_table(whole, tmp_path / "t.parquet")
    (tmp_path / "p.yaml").write_text(POLICY)
    return folder


def test_inspecting_gives_the_same_as_in_memory(shoal, sample, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    lines = sample.table.read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(lines[:150]))
    (folder / "b.csv").write_text("".join([lines[0], *lines[150:]]))
    alone = shoal("inspect", sample.table, "--json", "--fraction", "0.1")
    large = shoal("inspect", folder, "--json", "--fraction", "0.1", *MEMORY)
    assert (large.code, large.err) == (0, "")
    expected, found = alone.data(), large.data()
    for told in (expected, found):
        told.pop("input")
        told["search"].pop("found")  # of sets that tell as much, any may come first
    assert found == approx(expected)


def approx(told):
    """Numbers nearly equal, all else equal."""
    if isinstance(told, dict):
        return {key: approx(value) for key, value in told.items()}
    if isinstance(told, list):
        return [approx(value) for value in told]
    return pytest.approx(told) if isinstance(told, float) else told


def test_a_draft_from_part_files(shoal, parts):
    assert shoal("init", parts, "-o", "draft.yaml", *MEMORY).code == 0
    text = (parts.parent / "draft.yaml").read_text()
    made = shoal("run", parts, "draft.yaml", "-o", "out.parquet", *MEMORY, "--json")
    assert (made.code, made.data()["verified"]) == (0, True), text


def test_what_comes_next_is_asked_of_the_same_engine(shoal, parts):
    assert f"shoal init {parts} --memory 500MB" in shoal("inspect", parts, *MEMORY).out
    told = shoal("init", parts, "-o", "draft.yaml", *MEMORY).out
    assert "-o parts-release.csv --memory 500MB" in told


def test_verifying_gives_the_same_as_in_memory(shoal, sample, release, tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    lines = release.read_text().splitlines(keepends=True)
    (folder / "a.csv").write_text("".join(lines[:100]))
    (folder / "b.csv").write_text("".join([lines[0], *lines[100:]]))
    alone = shoal("verify", release, sample.policy, "--json").data()
    large = shoal("verify", folder, sample.policy, "--json", *MEMORY)
    assert (large.code, large.err) == (0, "")
    assert {**large.data(), "release": None} == {**alone, "release": None}
    assert "What it holds, required or not" in shoal("verify", folder, sample.policy, *MEMORY).out


def test_a_release_that_falls_short(shoal, parts):
    assert shoal("verify", parts, "p.yaml", *MEMORY, "--json").code == 0
    pq.write_table(pa.table({"age": [99], "disease": ["a"]}), parts / "more.parquet")
    failed = shoal("verify", parts, "p.yaml", *MEMORY, "--json")
    assert (failed.code, failed.data()["kind"]) == (4, "VerificationFailed")
    assert "1 of 8 published classes fall short" in shoal("verify", parts, "p.yaml", *MEMORY).err


def test_progress_for_machines(shoal, parts):
    plain = shoal("run", parts, "p.yaml", "-o", "out.parquet", *MEMORY)
    assert plain.err == ""
    for command in (
        ["run", parts, "p.yaml", "-o", "out.parquet", "--force", "--quiet", *MEMORY],
        ["run", "t.parquet", "p.yaml", "-o", "out.parquet", "--force", "--quiet"],
        ["inspect", parts, *MEMORY],
        ["inspect", "t.parquet"],
        ["verify", parts, "p.yaml", *MEMORY],
        ["verify", "t.parquet", "p.yaml"],
    ):
        told = [json.loads(line) for line in shoal(*command, "--progress", "json").err.splitlines()]
        stages = list(dict.fromkeys(one["stage"] for one in told))
        assert stages[-1] in ("truth", "verify", "count", "search")
        for stage in stages:
            mine = [one for one in told if one["stage"] == stage]
            # in memory, labels and the table with them are made one after the other
            assert [one["share"] for one in mine] == [0, 1], (command, stage)
            assert (mine[-1]["rows"], mine[-1]["of"]) == (40, 40), (command, stage)
        seconds = [one["seconds"] for one in told]
        assert seconds == sorted(seconds)
        assert set(told[0]) == {"stage", "share", "rows", "of", "tasks", "of_tasks", "seconds"}


def test_progress_is_a_bar_or_json(shoal, parts):
    assert shoal("inspect", parts, "--progress", "xml").code == 2


# what is asked: a command and its options, and words of the error
CASES = {
    "run a folder": (["run", "parts", "p.yaml", "-o", "out.csv"], "add --memory 2GB"),
    "inspect a folder": (["inspect", "parts"], "add --memory 2GB"),
    "init a folder": (["init", "parts", "-o", "x.yaml"], "--engine spark"),
    "verify a folder": (["verify", "parts", "p.yaml"], "add --memory 2GB"),
    "no such engine": (
        ["run", "parts", "p.yaml", "-o", "out.csv", "--engine", "x"],
        "is not an engine",
    ),
    "inspect with no such engine": (["inspect", "parts", "--engine", "x"], "is not an engine"),
    "verify with no such engine": (
        ["verify", "parts", "p.yaml", "--engine", "x"],
        "is not an engine",
    ),
    "memory of Spark": (
        ["run", "parts", "p.yaml", "-o", "out.csv", *SPARK, *MEMORY],
        "--memory limits the local engine",
    ),
    "inspect in memory of Spark": (["inspect", "parts", *SPARK, *MEMORY], "--memory limits"),
    "no memory": (
        ["run", "parts", "p.yaml", "-o", "out.csv", "--memory", "much"],
        "must be like 2GB",
    ),
    **{
        f"memory of {size[:20]}": (["inspect", "parts", "--memory", size], "from 100MB to 100TB")
        for size in ("0GB", "1KB", "99MB", "100.1TB", "99999999TB", "9" * 400 + "GB")
    },
    "no address": (
        ["inspect", "parts", "--engine", "spark://nowhere"],
        "is not the address of a Spark master",
    ),
    "nobody there": (
        ["run", "parts", "p.yaml", "-o", "out.csv", "--engine", "spark://127.0.0.1:1"],
        "cannot be reached",
    ),
    "minimal uniques": (
        ["inspect", "parts", "--msu", "2", *MEMORY],
        "need all rows in memory",
    ),
    "no rows": (["run", "none.parquet", "p.yaml", "-o", "out.csv", *MEMORY], "no rows"),
    "no rows in Spark": (["run", "none.parquet", "p.yaml", "-o", "out.csv", *SPARK], "no rows"),
    "inspect no rows": (["inspect", "none.parquet", *MEMORY], "no rows"),
    "inspect no rows in Spark": (["inspect", "none.parquet", *SPARK], "no rows"),
    "no rows of text": (["run", "none.csv", "p.yaml", "-o", "out.csv", *MEMORY], "no rows"),
    "a strange type": (
        ["run", "strange.parquet", "p.yaml", "-o", "out.csv", *MEMORY],
        "'age' has the type duration[s]",
    ),
    "a strange type in Spark": (
        ["run", "strange.parquet", "p.yaml", "-o", "out.csv", *SPARK],
        "column 'age' has the type duration[s]",
    ),
    "inspect a strange type in Spark": (["inspect", "strange.parquet", *SPARK], "duration[s]"),
    "types that differ": (
        ["run", "mixed", "p.yaml", "-o", "out.csv", *MEMORY],
        "the types differ in 'age' (int64 and string)",
    ),
    "types that differ in Spark": (
        ["run", "mixed", "p.yaml", "-o", "out.csv", *SPARK],
        "column 'age' in different types",
    ),
    "headers that differ": (
        ["run", "heads", "p.yaml", "-o", "out.csv", *MEMORY],
        "must have the same header",
    ),
    "headers that differ in Spark": (
        ["inspect", "heads", *SPARK],
        "must have the same header",
    ),
    "a folder of folders": (["inspect", "nested", *MEMORY], "contains folders (sub)"),
    "an empty folder": (["inspect", "empty", *MEMORY], "contains no file with a table"),
    "no such folder": (["verify", "nowhere", "p.yaml", *MEMORY], "does not exist, neither"),
    "another's policy": (["run", "parts", "other.yaml", "-o", "out.csv", *SPARK], "none of them"),
    "another's policy to verify": (
        ["verify", "parts", "other.yaml", *SPARK],
        "none of the policy's columns",
    ),
    "a file that is there": (
        ["run", "parts", "p.yaml", "-o", "t.parquet", *MEMORY],
        "exists already",
    ),
    "a folder that is there": (
        ["run", "parts", "p.yaml", "-o", "mixed", *SPARK],
        "so the format cannot be decided",
    ),
    "a release that is there": (
        ["run", "parts", "p.yaml", "-o", "there.parquet", *SPARK],
        "exists already. Pass --force",
    ),
    "the input itself": (
        ["run", "t.parquet", "p.yaml", "-o", "t.parquet", "--force", *SPARK],
        "is the input itself",
    ),
    "inside the input": (
        ["run", "parts", "p.yaml", "-o", "parts/out.parquet", *MEMORY],
        "is in the input folder",
    ),
    "inside the input of Spark": (
        ["run", "parts", "p.yaml", "-o", "parts/out.parquet", "--force", *SPARK],
        "is in the input folder",
    ),
    "Arrow from Spark": (
        ["run", "parts", "p.yaml", "-o", "out.arrow", *SPARK],
        "Spark writes folders of Parquet or CSV",
    ),
    "Arrow into Spark": (["inspect", "t.arrow", *SPARK], "which Spark does not read"),
    "a report that is none": (
        ["run", "parts", "p.yaml", "-o", "out.csv", *MEMORY, "--report", "r.pdf"],
        "the name of a report has the extension",
    ),
    "a report that is there": (
        ["run", "parts", "p.yaml", "-o", "out.csv", *SPARK, "--report", "there.json"],
        "there.json exists already",
    ),
    "wishes": (["run", "parts", "wishes.yaml", "-o", "out.csv", *MEMORY], "personal preferences"),
    "anatomy": (["run", "parts", "anatomy.yaml", "-o", "out.csv", *SPARK], "linked tables"),
    "verify anatomy": (["verify", "parts", "anatomy.yaml", *SPARK], "linked tables"),
    "a population": (["run", "parts", "people.yaml", "-o", "out.csv", *SPARK], "a second table"),
    "rows as they came": (["run", "parts", "kept.yaml", "-o", "out.csv", *SPARK], "have no order"),
    "a method for memory": (
        ["run", "parts", "p.yaml", "-o", "out.csv", "--method", "bottom-up", *SPARK],
        "bottom-up needs all rows in one place",
    ),
}


@pytest.fixture
def bad(parts, tmp_path):  # noqa: ARG001 - they are used too
    """Tables and policies with which nothing can be done."""
    none = table(0)
    pq.write_table(none, tmp_path / "none.parquet")
    (tmp_path / "none.csv").write_text("age,disease\n")
    strange = table(3).set_column(0, "age", pa.array([1, 2, 3], pa.duration("s")))
    pq.write_table(strange, tmp_path / "strange.parquet")
    LocalFiles().write(table(), tmp_path / "t.arrow", options=CsvOptions())
    for name in ("mixed", "heads", "nested", "empty", "there.parquet"):
        (tmp_path / name).mkdir()
    (tmp_path / "nested" / "sub").mkdir()
    pq.write_table(table(), tmp_path / "mixed" / "a.parquet")
    texts = pa.table({"age": ["1", "2"], "disease": ["a", "b"]})
    pq.write_table(texts, tmp_path / "mixed" / "b.parquet")
    (tmp_path / "heads" / "a.csv").write_text("age,disease\n1,a\n")
    (tmp_path / "heads" / "b.csv").write_text("disease,age\na,1\n")
    (tmp_path / "other.yaml").write_text("columns: {zip: quasi}\nconstraints: [{k: 2}]\n")
    wish = "hierarchy: {tree: {any: [a, b]}}, levels: {1: [a], 2: [b]}, preference: wish"
    (tmp_path / "wishes.yaml").write_text(
        POLICY.replace(
            "disease: sensitive", f"disease: {{role: sensitive, {wish}}}, wish: preference"
        )
    )
    (tmp_path / "anatomy.yaml").write_text(
        POLICY.replace("{k: 2}", "{l: 2, of: disease}") + "publish: anatomy\n"
    )
    (tmp_path / "people.yaml").write_text(
        POLICY.replace("{k: 2}", "{k-map: 2}") + "population: t.parquet\n"
    )
    (tmp_path / "kept.yaml").write_text(POLICY + "order: kept\n")
    (tmp_path / "there.json").write_text("mine")


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_told_and_nothing_written(shoal, tmp_path, case):
    arguments, words = CASES[case]
    before = sorted(tmp_path.rglob("*"))
    result = shoal(*arguments)
    assert result.code == 2, result.err
    assert result.err.startswith("Error: ")
    assert words in result.err
    assert result.out == ""
    told = shoal(*arguments, "--json")
    assert (told.code, told.data()["exit_code"], told.err) == (2, 2, "")
    assert sorted(tmp_path.rglob("*")) == before


def test_no_java(shoal, parts, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    for command in (["run", parts, "p.yaml", "-o", "out.csv"], ["verify", parts, "p.yaml"]):
        failed = shoal(*command, *SPARK)
        assert failed.code == 2
        assert "needs Java 17" in failed.err


def test_no_pyspark(shoal, parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    failed = shoal("inspect", parts, *SPARK)
    assert failed.code == 2
    assert "pip install 'shoal[spark]'" in failed.err


@pytest.mark.usefixtures("parts")
def test_a_certificate_is_made_and_checked_there(shoal):
    made = shoal(
        "run", "parts", "p.yaml", "-o", "out.parquet", "--report", "r.json", *MEMORY, "--json"
    )
    assert (made.code, made.data()["report"]) == (0, ["r.json"])
    check = ("verify", "out.parquet", "p.yaml", "--certificate", "r.json")
    for more in (MEMORY, []):
        fits = shoal(*check, *more, "--json").data()["certificate"]
        assert fits == {
            "file": "r.json",
            "fits": True,
            "differences": [],
            "without_people": False,
        }
    rows = pq.read_table("out.parquet").to_pylist()
    pq.write_table(
        pa.Table.from_pylist([rows[0] | {"disease": "none"}, *rows[1:]]), "other.parquet"
    )
    failed = shoal("verify", "other.parquet", "p.yaml", *check[3:], *MEMORY)
    assert failed.code == 4
    assert "digests differ" in failed.err


def test_verifying_does_not_ask_for_an_order(shoal, parts, tmp_path):
    (tmp_path / "kept.yaml").write_text(POLICY + "order: kept\n")
    assert shoal("verify", parts, "kept.yaml", *MEMORY).code == 0


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
@pytest.mark.parametrize("change", ["more", "fewer", "another order"])
def test_parts_with_other_columns_are_refused(shoal, tmp_path, ending, change):
    folder, whole = tmp_path / "release", table(42)
    folder.mkdir()
    (tmp_path / "p.yaml").write_text(POLICY.replace("}\n", ", ward: plain}\n", 1))
    whole = whole.append_column("ward", pa.array(["w"] * 42))
    other = {
        "more": whole.append_column("Ann Smith", pa.array(["x"] * 42)),
        "fewer": whole.drop(["ward"]),
        "another order": whole.select(["ward", "disease", "age"]),
    }[change]
    for name, part in (("a", whole), ("b", other)):
        LocalFiles().write(part, folder / f"{name}.{ending}", options=CsvOptions())
    for arguments in (
        ["verify", "release", "p.yaml", *MEMORY],
        ["inspect", "release", *MEMORY],
        ["run", "release", "p.yaml", "-o", "out.csv", *MEMORY],
        *([["verify", "release", "p.yaml", *SPARK]] if ending != "arrow" else []),
    ):
        result = shoal(*arguments)
        assert result.code == 2, result.err
        assert f"a.{ending}" in result.err
        assert f"b.{ending} name different columns" in result.err
        assert "Ann" not in result.err


def test_a_part_without_a_header_is_not_quoted(shoal, tmp_path):
    folder = tmp_path / "release"
    folder.mkdir()
    (tmp_path / "p.yaml").write_text(POLICY)
    for first, second in ("ab", "ba"):
        (folder / f"{first}.csv").write_text("age,disease\n1,x\n1,x\n")
        (folder / f"{second}.csv").write_text("77,gout\n1,x\n")
        result = shoal("verify", "release", "p.yaml", *MEMORY)
        assert result.code == 2
        assert "must have the same header" in result.err
        assert "77" not in result.err
        assert "gout" not in result.err
