"""Files that belong together: written together or not at all, verified together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import yaml

import shoal
from shoal.engines.files import LocalFiles
from shoal.errors import InputError, PolicyError, VerificationFailed
from shoal.io.commit import replacing_all, temporary_names
from shoal.verification.check import require
from tests.anatomy.plain import people, policy
from tests.releases import Fixed, text_rows

ONE: dict[str, Any] = {
    "columns": {"age": "quasi", "town": "quasi", "ill": "sensitive", "ward": "plain"},
    "constraints": [{"l": 2, "of": "ill"}],
    "publish": "anatomy",
    "default": "drop",
    "seed": 5,
}
TABLE = people(60)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.csv"
    pa.csv.write_csv(TABLE, path)
    return path


@pytest.fixture
def pair(source: Path) -> tuple[Path, Path]:
    target = source.parent / "out.csv"
    shoal.run(source, ONE, target)
    return target, source.parent / "out.sensitive.csv"


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_every_format(source: Path, ending: str) -> None:
    target = source.parent / f"out.{ending}"
    release = shoal.run(source, policy(), target)
    ill, pay = (source.parent / f"out.{name}.{ending}" for name in ("ill", "pay"))
    assert files(source.parent) == sorted(["in.csv", target.name, ill.name, pay.name])
    require(shoal.verify(target, policy()))
    engine = LocalFiles()
    frame = shoal.anonymize(engine.read(source), policy())  # texts, as the file holds them
    assert text_rows(engine.read(target)) == text_rows(frame.table)
    assert text_rows(engine.read(ill)) == text_rows(frame.sensitive_tables["ill"])
    assert release.largest_share == frame.largest_share
    other = frame.write(source.parent / f"again.{ending}")
    assert text_rows(engine.read(other)) == text_rows(frame.table)
    if ending in ("csv", "csv.gz"):
        assert engine.read(other).equals(engine.read(target))


def test_nothing_is_overwritten_without_force(source: Path) -> None:
    (source.parent / "out.sensitive.csv").write_text("mine")
    with pytest.raises(InputError, match=r"out\.sensitive\.csv exists already"):
        shoal.run(source, ONE, source.parent / "out.csv")
    with pytest.raises(InputError, match=r"out\.sensitive\.csv exists already"):
        shoal.anonymize(TABLE, ONE).write(source.parent / "out.csv")
    assert files(source.parent) == ["in.csv", "out.sensitive.csv"]
    shoal.run(source, ONE, source.parent / "out.csv", force=True)
    require(shoal.verify(source.parent / "out.csv", ONE))
    assert files(source.parent) == ["in.csv", "out.csv", "out.sensitive.csv"]


def test_the_input_is_never_overwritten(source: Path) -> None:
    path = source.rename(source.parent / "out.sensitive.csv")
    with pytest.raises(InputError, match="is the input itself"):
        shoal.run(path, ONE, source.parent / "out.csv", force=True)


def test_a_lying_method_writes_nothing(source: Path) -> None:
    ill = TABLE["ill"].to_pylist()
    flu = [1 if value == "flu" else 0 for value in ill]
    older = source.parent / "out.csv"
    older.write_text("older")
    with pytest.raises(VerificationFailed, match="1 of 2 published classes"):
        shoal.run(source, {**ONE, "method": Fixed((tuple(flu),))}, older, force=True)
    assert files(source.parent) == ["in.csv", "out.csv"]
    assert older.read_text() == "older"


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("fault", ["rows", "column"])
def test_what_went_wrong_on_the_way_is_found(
    source: Path, monkeypatch: pytest.MonkeyPatch, which: int, fault: str
) -> None:
    write, calls = LocalFiles.write, []

    def careless(self: LocalFiles, table: pa.Table, path: Path, **keys: Any) -> None:
        calls.append(path)
        if len(calls) == which + 1:
            table = table.append_column("x", table.column(0)) if fault == "column" else table[:-1]
        write(self, table, path, **keys)

    monkeypatch.setattr(LocalFiles, "write", careless)
    with pytest.raises(VerificationFailed):
        shoal.run(source, ONE, source.parent / "out.csv")
    assert files(source.parent) == ["in.csv"]


def replace_all(
    targets: list[Path], force: bool, meanwhile: Callable[[], object] = lambda: None
) -> None:
    with replacing_all(targets, force) as places:
        for path in places.paths:
            path.write_text("new")
        meanwhile()
        places.commit()


@pytest.mark.parametrize("older", [False, True])
def test_both_files_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: bool) -> None:
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    if older:
        for target in targets:
            target.write_text("older")
    moved, replace = [], Path.replace

    def failing(self: Path, to: Path) -> Path:
        if Path(to).name == "b.csv" and not moved:
            moved.append(to)
            raise OSError("no room")
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(OSError, match="no room"):
        replace_all(targets, force=True)
    assert files(tmp_path) == (["a.csv", "b.csv"] if older else [])
    assert all(path.read_text() == "older" for path in tmp_path.iterdir())
    replace_all(targets, force=True)
    assert files(tmp_path) == ["a.csv", "b.csv"]
    assert all(path.read_text() == "new" for path in tmp_path.iterdir())


def test_a_file_that_came_meanwhile_stays(tmp_path: Path) -> None:
    targets = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(InputError, match="exists already"):
        replace_all(targets, force=False, meanwhile=lambda: targets[1].write_text("theirs"))
    assert files(tmp_path) == ["b.csv"]
    assert targets[1].read_text() == "theirs"


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    with temporary_names(tmp_path / "a.csv") as (_, left):
        pass  # under our number, yet nobody's now
    left.write_text("people")
    with replacing_all([tmp_path / "a.csv", tmp_path / "b.csv"], False):
        assert not left.exists()


# tampering


def changed(path: Path, change: Any) -> None:
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join(row) for row in change(rows)) + "\n")


def first_value_is(text: str) -> Any:
    return lambda rows: [rows[0], [rows[1][0], text, rows[1][2]], *rows[2:]]


def count_is(text: str) -> Any:
    return lambda rows: [rows[0], [*rows[1][:2], text], *rows[2:]]


TAMPERED: list[tuple[int, Any, str]] = [
    (0, lambda rows: rows[:-1], "do not add up"),
    (0, lambda rows: [*rows, rows[-1]], "do not add up"),
    (0, lambda rows: [[*r[:-1], "2" if r[-1] == "1" else r[-1]] for r in rows], "a gap"),
    (0, lambda rows: [*rows[:-1], [*rows[-1][:-1], "x"]], "must be whole numbers"),
    (0, lambda rows: [*rows[:-1], [*rows[-1][:-1], ""]], "must be whole numbers"),
    (0, lambda rows: [[*r, r[0]] for r in [[*rows[0][:-1], "group"], *rows[1:]]], None),
    (0, lambda rows: [[*r, "ill" if i == 0 else "flu"] for i, r in enumerate(rows)], "'ill'"),
    (1, lambda rows: rows[:-1], "do not add up"),
    (1, lambda rows: [*rows, ["9999", "flu", "1"]], "that have no rows of people"),
    (1, lambda rows: [rows[0], rows[2], rows[1], *rows[3:]], "is not sorted"),
    (1, count_is("0"), "counts of the table of ill must be whole numbers"),
    (1, count_is("-1"), "must be whole numbers"),
    (1, count_is("1.5"), "must be whole numbers"),
    (1, count_is("7"), "do not add up"),
    (
        1,
        lambda rows: [[*r, "x" if i == 0 else "1"] for i, r in enumerate(rows)],
        "are allowed there",
    ),
    (1, lambda rows: [[r[2], r[1], r[0]] for r in rows], "in this order"),
]


@pytest.mark.parametrize("case", range(len(TAMPERED)))
def test_a_tampered_pair_is_noticed(pair: tuple[Path, Path], case: int, call: Any) -> None:
    which, change, words = TAMPERED[case]
    changed(pair[which], change)
    done = call("verify", pair[0], written_policy(pair[0].parent))
    if words is None:  # a doubled name is no table at all
        assert done.code == 2
        return
    assert done.code == 4, done.err
    assert words in " ".join(done.err.split())
    data = call("verify", pair[0], written_policy(pair[0].parent), "--json")
    assert data.code == 4
    assert words in data.data()["error"]


def test_diversity_lost_by_hand_is_noticed(pair: tuple[Path, Path], call: Any) -> None:
    rows = [line.split(",") for line in pair[1].read_text().splitlines()]
    total: dict[str, int] = {}
    for group, _, count in rows[1:]:
        total[group] = total.get(group, 0) + int(count)
    one = [rows[0], *([group, "flu", str(n)] for group, n in total.items())]
    pair[1].write_text("\n".join(",".join(row) for row in one) + "\n")
    done = call("verify", pair[0], written_policy(pair[0].parent))
    assert done.code == 4
    assert "l = 2 of ill was promised on group" in " ".join(done.err.split())
    data = call("verify", pair[0], written_policy(pair[0].parent), "--json").data()
    assert (data["verified"], data["largest_share"]) == (False, {"ill": 1.0})


def test_the_other_file_is_missing_or_another(pair: tuple[Path, Path]) -> None:
    pair[1].write_text("group,disease,count\n1,x,1\n")
    with pytest.raises(PolicyError, match=r"must have the columns group, ill, count"):
        shoal.verify(pair[0], ONE)
    pair[1].unlink()
    with pytest.raises(InputError, match=r"needs out\.sensitive\.csv") as refused:
        shoal.verify(pair[0], ONE)
    assert "Did you mean" not in str(refused.value)
    with pytest.raises(PolicyError, match="no column 'group'"):
        shoal.verify(pair[0].parent / "in.csv", ONE)


def test_a_generalised_release_is_not_taken_for_one(source: Path) -> None:
    target = source.parent / "out.csv"
    shoal.run(source, {**ONE, "publish": "generalised"}, target)
    with pytest.raises(PolicyError, match="no column 'group'"):
        shoal.verify(target, ONE)


# the command line


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    import json
    from types import SimpleNamespace

    from typer.testing import CliRunner

    from shoal.cli.app import app

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: Any) -> Any:
        done = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="shoal")
        return SimpleNamespace(
            code=done.exit_code,
            out=done.stdout,
            err=done.stderr,
            data=lambda: json.loads(done.stdout),
        )

    return run


def written_policy(folder: Path) -> Path:
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(ONE))
    return path


def test_the_pages(source: Path, call: Any) -> None:
    asked = written_policy(source.parent)
    done = call("run", source, asked, "-o", "out.csv")
    assert done.code == 0, done.err
    for words in (
        "found in the written files",
        "l of ill on group",
        "best guess",
        "Detail all in quasi columns",
        "Xiao and Tao",
        "out.sensitive.csv",
    ):
        assert words in done.out
    seen = call("verify", "out.csv", asked)
    assert seen.code == 0
    for words in ("1 of 1 guarantee found", "best guess", "out.sensitive.csv", "holds in groups"):
        assert words in seen.out
    assert "average-risk" not in seen.out
    assert "quasi column" not in seen.out
    data = call("run", source, asked, "-o", "out.csv", "--force", "--json").data()
    assert (data["publish"], data["output"]) == ("anatomy", "out.csv")
    assert data["sensitive_outputs"] == {"ill": "out.sensitive.csv"}
    checked = call("verify", "out.csv", asked, "--json").data()
    assert checked["sensitive_files"] == {"ill": "out.sensitive.csv"}
    assert checked["largest_share"] == data["largest_share"]
    assert {one["of"] for one in checked["found"]} == {"ill"}, "k of groups is no k"


def test_k_on_the_command_line(source: Path, call: Any) -> None:
    path = source.parent / "k.yaml"
    path.write_text(yaml.safe_dump({**ONE, "constraints": [{"k": 3}]}))
    done = call("run", source, path, "-o", "out.csv")
    assert done.code == 2
    assert "k is about quasi-identifiers" in " ".join(done.err.split())
