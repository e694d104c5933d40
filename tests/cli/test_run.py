"""`shoal run` and `shoal verify`."""

import pyarrow.parquet as pq
import pytest

FIELDS = {
    "rows",
    "groups",
    "published_classes",
    "suppressed_rows",
    "method",
    "verified",
    "metrics",
    "seconds",
}


def test_run_shows_what_it_cost(shoal, sample, tmp_path):
    made = shoal("run", sample.table, sample.policy, "-o", "out.csv")
    assert made.code == 0
    assert made.err == ""
    for words in ("Verified", "l of disease", "auto chose", "Detail", "zip", "out.csv"):
        assert words in made.out
    assert (tmp_path / "out.csv").is_file()


def test_run_json(shoal, sample):
    data = shoal("run", sample.table, sample.policy, "-o", "out.csv", "--json").data()
    assert set(data) >= FIELDS
    assert (data["rows"], data["verified"], data["output"]) == (400, True, "out.csv")
    assert data["metrics"]["mean-ncp"] == pytest.approx(data["metrics"]["ncp"] / 400 / 7)
    assert set(data["seconds"]) >= {"read", "encode", "group", "write", "verify"}


def test_method_and_seed_can_be_replaced(shoal, sample):
    changed = shoal(
        "run", sample.table, sample.policy, "-o", "out.csv", "--json",
        "--method", "mondrian", "--seed", 3, "--show-seed",
    )  # fmt: skip
    assert (changed.data()["method"], changed.data()["seed"]) == ("mondrian", "3")


def test_costly_metrics_are_measured_on_request(shoal, sample):
    arguments = ["run", sample.table, sample.policy, "-o", "out.csv", "--force"]
    assert "query-error" not in shoal(*arguments, "--json").data()["metrics"]
    asked = ["--metric", "query-error", "--metric", "loss", "--metric", "query-error"]
    metrics = shoal(*arguments, *asked, "--json").data()["metrics"]
    assert metrics["query-error"] > 0
    seen = shoal(*arguments, *asked)
    assert f"query-error  {metrics['query-error']:.3g}, mean" in " ".join(seen.out.split(" "))
    refused = shoal(*arguments, "--metric", "query-eror")
    assert refused.code == 2
    assert "Did you mean 'query-error'?" in refused.err


def test_other_formats_are_told_by_the_name(shoal, sample, tmp_path):
    assert shoal("run", sample.table, sample.policy, "-o", "out.parquet", "--quiet").code == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 400


def test_nothing_is_overwritten_without_force(shoal, sample, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    refused = shoal("run", sample.table, sample.policy, "-o", "out.csv")
    assert refused.code == 2
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert shoal("run", sample.table, sample.policy, "-o", "out.csv", "--force", "-q").code == 0
    assert (tmp_path / "out.csv").read_text() != "mine"


def test_verify_finds_what_was_promised(shoal, sample, release):
    seen = shoal("verify", release, sample.policy)
    assert seen.code == 0
    assert "3 of 3 guarantees found" in seen.out
    data = shoal("verify", release, sample.policy, "--json").data()
    assert data["verified"] is True
    assert [each["model"] for each in data["guarantees"]] == ["k", "l", "l"]
    assert "error" not in data


def test_verify_tells_what_falls_short(shoal, sample, release):
    lines = release.read_text().splitlines()
    release.write_text("\n".join(lines[:-1]) + "\n")
    alone = lines[0:1] + [lines[1]] * 4
    release.write_text("\n".join(alone) + "\n")
    seen = shoal("verify", release, sample.policy)
    assert seen.code == 4
    assert "0 of 3 guarantees found" in seen.out
    assert "fall short" in seen.err
    failed = shoal("verify", release, sample.policy, "--json")
    assert failed.code == failed.data()["exit_code"] == 4
    assert failed.data()["verified"] is False
    assert failed.data()["kind"] == "VerificationFailed"


def test_columns_of_a_partial_constraint_are_named(shoal, sample, release, tmp_path):
    text = sample.policy.read_text().replace("- {k: 5} ", "- {k: 5, on: [age, sex]} ")
    (tmp_path / "part.yaml").write_text(
        text.replace("hierarchies/education.csv", str(sample.hierarchies[0]))
    )
    assert "k on age, sex" in shoal("verify", release, "part.yaml").out
