"""A report's files: all appear or none, and verify notices what does not fit them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.drawing.page import can_draw
from shoal.report.certificate import seal_of
from tests.anatomy.plain import people
from tests.anatomy.plain import policy as anatomy_policy
from tests.releases import Fixed

POLICY = {
    "columns": {"name": "identifier", "age": "quasi", "town": "quasi", "ill": "sensitive"},
    "constraints": [{"k": 3}, {"l": 2, "of": "ill"}],
    "method": "least-loss-partition",
    "seed": 4,
}
ROWS = 60
needs_drawing = pytest.mark.skipif(not can_draw(), reason="what draws charts is not installed")


def table() -> pa.Table:
    return pa.table(
        {
            "name": [f"n{i}" for i in range(ROWS)],
            "age": [20 + i * 7 % 31 for i in range(ROWS)],
            "town": [f"t{i % 3}" for i in range(ROWS)],
            "ill": [("flu", "gout", "cold")[i * 5 // 3 % 3] for i in range(ROWS)],
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release in files, with its policy and certificate."""
    (tmp_path / "policy.yaml").write_text(shoal.Policy.load(POLICY).to_yaml(), encoding="utf-8")
    release = shoal.anonymize(table(), POLICY)
    release.write(tmp_path / "out.csv", report=tmp_path / "report.json")
    return tmp_path


def verify(folder: Path, *more: str) -> tuple[int, dict[str, Any]]:
    files = [str(folder / name) for name in ("out.csv", "policy.yaml", "report.json")]
    arguments = ["verify", *files[:2], "--certificate", files[2], "--json", *more]
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, json.loads(done.stdout)


def changed(folder: Path, change: Callable[[dict[str, Any]], None], sealed: bool = True) -> None:
    """Change the certificate; `sealed`: by somebody who knows how it is sealed."""
    path = folder / "report.json"
    told = json.loads(path.read_text(encoding="utf-8"))
    change(told)
    if sealed:
        told["seal"] = seal_of(told)
    path.write_text(json.dumps(told), encoding="utf-8")


def test_a_certificate_that_fits(folder: Path) -> None:
    code, found = verify(folder)
    assert (code, found["verified"]) == (0, True)
    assert found["certificate"] == {
        "file": str(folder / "report.json"),
        "fits": True,
        "differences": [],
        "without_people": False,
    }
    arguments = ["verify", str(folder / "out.csv"), str(folder / "policy.yaml"), "--json"]
    assert json.loads(CliRunner().invoke(app, arguments).stdout)["certificate"] is None


TAMPERED: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "reached": (
        lambda c: c["guarantees"][0].update(reached=99),
        "99 in the certificate.",
    ),
    "classes": (lambda c: c["guarantees"][1].update(classes=1), "l of ill: classes is"),
    "asked": (lambda c: c["guarantees"][0].update(asked=2), "other guarantees"),
    "guarantees": (lambda c: c.update(guarantees=c["guarantees"][:1]), "other guarantees"),
    "rows": (lambda c: c["release"].update(rows=59), "The file has 60 rows, the certificate 59."),
    "columns": (lambda c: c["release"].update(columns=["age"]), "the certificate age."),
    "digest": (lambda c: c["release"].update(digest="0"), "their digests differ"),
    "policy": (lambda c: c["policy"].update(digest="0"), "of another policy"),
    "apart": (lambda c: c["release"].update(sensitive_digests={"ill": "0"}), "tables apart"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_changed_certificate_is_noticed(folder: Path, what: str) -> None:
    change, words = TAMPERED[what]
    changed(folder, change)
    code, found = verify(folder)
    assert (code, found["kind"]) == (4, "VerificationFailed")
    assert not found["certificate"]["fits"]
    assert words in found["error"]
    assert len(found["certificate"]["differences"]) == 1


def test_a_change_elsewhere_breaks_the_seal(folder: Path) -> None:
    changed(folder, lambda c: c["risk"]["before"].update(unique_rows=0), sealed=False)
    code, found = verify(folder)
    assert code == 4
    assert "its seal does not fit" in found["error"]


@pytest.mark.parametrize("how", ["cell", "fewer"])
def test_a_changed_file_is_noticed(folder: Path, how: str) -> None:
    path = folder / "out.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    if how == "cell":  # two people of different classes change their values
        first, ill = rows[0].rsplit(",", 1)
        parted = [row.rsplit(",", 1) for row in rows]
        other = next(i for i, (of, its) in enumerate(parted) if of != first and its != ill)
        rows[0], rows[other] = f"{first},{parted[other][1]}", f"{parted[other][0]},{ill}"
    else:
        rows = rows[: len(rows) // 2]
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    code, found = verify(folder)
    assert code == 4
    if how != "fewer":
        assert "The rows of the file are not those" in found["error"]


def test_the_same_rows_in_another_order_fit(folder: Path) -> None:
    path = folder / "out.csv"
    head, *rows = path.read_text(encoding="utf-8").splitlines()
    assert rows != rows[::-1]
    path.write_text("\n".join([head, *rows[::-1]]) + "\n", encoding="utf-8")
    code, found = verify(folder)
    assert (code, found["certificate"]["fits"]) == (0, True)


def test_what_is_said_on_a_terminal(folder: Path) -> None:
    names = ("out.csv", "policy.yaml", "report.json")
    out, asked, told = (str(folder / name) for name in names)
    done = CliRunner().invoke(app, ["verify", out, asked, "--certificate", told])
    assert "Certificate" in done.stdout
    assert "fits the policy, the rows and every guarantee" in done.stdout
    changed(folder, lambda c: c["release"].update(rows=59))
    done = CliRunner().invoke(app, ["verify", out, asked, "--certificate", told])
    assert done.exit_code == 4
    assert "does not fit" in done.stdout
    assert "The file has 60 rows, the certificate 59." in done.stderr


def test_another_policy_is_named_by_what_differs(folder: Path) -> None:
    other = POLICY | {"suppression": 0.5}
    (folder / "policy.yaml").write_text(shoal.Policy.load(other).to_yaml(), encoding="utf-8")
    code, found = verify(folder)
    assert code == 4
    assert "They differ in suppression." in found["error"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("[]", "no certificate of Shoal"),
        ('{"certificate": 99}', "a newer one"),
        ('{"certificate": 1}', "no whole certificate"),
    ],
)
def test_files_that_are_no_certificate(folder: Path, text: str, words: str) -> None:
    (folder / "report.json").write_text(text, encoding="utf-8")
    code, found = verify(folder)
    assert (code, found["kind"]) == (2, "InputError")
    assert words in found["error"]


def test_numbers_and_times_read_the_same_from_a_frame_and_a_file(tmp_path: Path) -> None:
    n = 40
    frame = pd.DataFrame(
        {
            "age": [20 + i % 5 for i in range(n)],
            "share": [i / 7 if i % 3 else float(i) for i in range(n)],
            "large": [1e20 * i for i in range(n)],
            "seen": pd.date_range("2020-01-01", periods=n, freq="7h"),
            "well": [i % 2 == 0 for i in range(n)],
        }
    )
    plain = dict.fromkeys(("share", "large", "seen", "well"), "plain")
    asked = {"columns": {"age": "quasi", **plain}, "constraints": [{"k": 2}]}
    release = shoal.anonymize(frame, asked)
    release.report(tmp_path / "report.json")
    (tmp_path / "policy.yaml").write_text(release.policy.to_yaml(), encoding="utf-8")
    release.write(tmp_path / "out.csv")
    assert verify(tmp_path)[0] == 0
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert any("share is plain" in words and "100.0 %" in words for words in told["warnings"])


def test_anatomy_files_are_checked_each(tmp_path: Path) -> None:
    release = shoal.anonymize(people(60), anatomy_policy(method="l-clustering"))
    release.write(tmp_path / "out.csv", report=tmp_path / "report.json")
    (tmp_path / "policy.yaml").write_text(release.policy.to_yaml(), encoding="utf-8")
    assert verify(tmp_path)[0] == 0
    changed(tmp_path, lambda c: c["release"]["sensitive_digests"].update(pay="0"))
    code, found = verify(tmp_path)
    assert code == 4
    assert "The table of pay is not the one" in found["error"]


# all or nothing


def run_files(folder: Path, **more: Any) -> shoal.Release:
    import pyarrow.parquet as pq

    pq.write_table(table(), folder / "raw.parquet")
    asked = POLICY | {"method": more.pop("method", "mondrian")}
    return shoal.run(folder / "raw.parquet", asked, folder / "out.parquet", **more)


def test_nothing_is_written_where_a_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("mine")
    with pytest.raises(shoal.InputError, match=r"report.json exists already"):
        run_files(tmp_path, report=tmp_path / "report.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["raw.parquet", "report.json"]
    release = run_files(tmp_path, report=tmp_path / "report.json", force=True)
    assert "report" in release.seconds
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["verified"]


def test_nothing_is_written_where_verification_fails(tmp_path: Path) -> None:
    lying = Fixed((tuple(i // 2 for i in range(ROWS)),))
    with pytest.raises(shoal.VerificationFailed):
        run_files(tmp_path, method=lying, report=tmp_path / "report.json")
    assert [p.name for p in tmp_path.iterdir()] == ["raw.parquet"]


@needs_drawing
def test_nothing_is_written_where_the_page_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(certificate: dict[str, Any]) -> str:  # noqa: ARG001
        raise RuntimeError("no page")

    monkeypatch.setattr("shoal.report.files.page", broken)
    with pytest.raises(RuntimeError, match="no page"):
        run_files(tmp_path, report=tmp_path / "report.html")
    assert [p.name for p in tmp_path.iterdir()] == ["raw.parquet"]


def test_without_what_draws_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.drawing.page.find_spec", {}.get)
    begun: list[str] = []
    watch = {"progress": lambda event: begun.append(event.step)}
    with pytest.raises(shoal.InputError, match="not installed"):
        run_files(tmp_path, report=tmp_path / "report.html", **watch)
    assert not begun
    run_files(tmp_path, report=tmp_path / "report.json", **watch)
    assert "report" in begun


def test_a_report_must_be_a_page_or_a_certificate(tmp_path: Path) -> None:
    with pytest.raises(shoal.InputError, match=r"Allowed: \.html"):
        run_files(tmp_path, report=tmp_path / "report.pdf")


def test_a_policy_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(POLICY), encoding="utf-8")
    release = shoal.anonymize(table(), path)
    for report in ("policy.json", "policy.html"):
        with pytest.raises(shoal.InputError, match="is the policy itself"):
            release.report(tmp_path / report, force=True)
    assert json.loads(path.read_text(encoding="utf-8")) == POLICY


@needs_drawing
def test_a_page_has_its_certificate_beside_it(tmp_path: Path) -> None:
    release = shoal.anonymize(table(), POLICY)
    assert release.report(tmp_path / "report.html") == tmp_path / "report.html"
    told = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert told["release"]["rows"] == ROWS
    assert "<h1" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(shoal.InputError, match="exists already"):
        release.report(tmp_path / "report.html")
