"""Bad files and missing extras: one clear line, exit code 2, nothing written, nobody quoted."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from tests.formats.workbooks import workbook

SECRET = "Jonathan"
OLE = bytes.fromhex("D0CF11E0A1B11AE1")
POLICY = "columns: {name: identifier, age: quasi}\nconstraints: [{k: 2}]\n"


def encrypted(path: Path) -> None:
    """As Excel writes a workbook with a password: a compound file with this stream."""
    path.write_bytes(OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(900))


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [["name", "age"], *([f"{SECRET}{i}", 30 + i] for i in range(6))]
    frame = pd.DataFrame({"name": [row[0] for row in rows[1:]], "age": range(30, 36)})
    workbook(tmp_path / "good.xlsx", {"People": rows, "More": rows})
    workbook(tmp_path / "cut.xlsx", {"People": rows})
    cut(tmp_path / "cut.xlsx")
    encrypted(tmp_path / "locked.xlsx")
    pyreadstat.write_sav(frame, str(tmp_path / "cut.sav"))
    cut(tmp_path / "cut.sav")
    pyreadstat.write_dta(frame, str(tmp_path / "cut.dta"))
    cut(tmp_path / "cut.dta")
    for name in (
        "text.xlsx",
        "text.sav",
        "text.dta",
        "text.sas7bdat",
        "text.xpt",
        "text.orc",
        "t.docx",
    ):
        (tmp_path / name).write_text(f"name,age\n{SECRET},31\n")
    (tmp_path / "text.jsonl").write_text(f"name,age\n{SECRET},31\n")
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


CASES = {
    "cut.xlsx": "is not an Excel or OpenDocument workbook, or it is damaged",
    "locked.xlsx": "is encrypted with a password. Open it and save it without one",
    "text.xlsx": "is not an Excel or OpenDocument workbook, or it is damaged",
    "good.xlsx": "has 2 sheets with data: People, More. Choose one with --sheet NAME",
    "good.xlsx#Peple": "has no sheet 'Peple'. Did you mean 'People'?",
    "cut.sav": "is not an SPSS file, or it is damaged",
    "cut.dta": "is not a Stata file, or it is damaged",
    "text.sav": "is not an SPSS file, or it is damaged",
    "text.dta": "is not a Stata file, or it is damaged",
    "text.sas7bdat": "is not a SAS file, or it is damaged",
    "text.xpt": "is not a SAS file, or it is damaged",
    "text.orc": "is not an ORC file, or it is damaged",
    "text.jsonl": "line 1: this is not JSON",
    "t.docx": "the extension '.docx' is unknown, so the format cannot be decided. Allowed: .csv",
    "none.xlsx": "none.xlsx does not exist",
}


@pytest.mark.parametrize("name", CASES)
def test_one_line_and_nothing_written(
    folder: Path, name: str, shoal: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    for arguments in (
        ["run", name, "policy.yaml", "-o", "out.csv"],
        ["inspect", name],
        ["verify", name, "policy.yaml"],
    ):
        done = shoal(*arguments)  # type: ignore[operator]
        assert done.code == 2, done.err
        assert CASES[name] in " ".join(done.err.split())
        assert done.err.startswith("Error: ")
        assert SECRET not in done.err + done.out
    assert sorted(folder.rglob("*")) == before


MISSING = """
import sys
from importlib.abc import MetaPathFinder

blocked = sys.argv[1].split(",")

class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
from shoal.cli.app import main
sys.argv = ["shoal", *sys.argv[2:]]
main()
"""


@pytest.mark.parametrize(
    ("blocked", "arguments", "message"),
    [
        ("fastexcel", ["inspect", "good.xlsx"], "needs fastexcel, which is not installed"),
        ("pyreadstat", ["inspect", "cut.sav"], "needs pyreadstat, which is not installed"),
        (
            "xlsxwriter",
            ["run", "t.csv", "policy.yaml", "-o", "out.xlsx"],
            "needs xlsxwriter, which is not installed",
        ),
        (
            "polars",
            ["run", "t.csv", "policy.yaml", "-o", "out.dta"],
            "needs polars, which is not installed",
        ),
    ],
)
def test_a_missing_extra_is_named(
    folder: Path, blocked: str, arguments: list[str], message: str
) -> None:
    (folder / "t.csv").write_text("name,age\na,1\nb,2\n")
    done = subprocess.run(
        [sys.executable, "-c", MISSING, blocked, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    extra = "excel" if blocked in ("fastexcel", "xlsxwriter") else "stats"
    shown = " ".join(done.stderr.split())
    assert done.returncode == 2, shown
    assert message in shown
    assert f"pip install 'shoal[{extra}]'" in shown
    assert not list(folder.glob("out*"))


def test_files_of_the_base_install_need_no_extra(folder: Path) -> None:
    (folder / "t.jsonl").write_text('{"name": "a", "age": 1}\n{"name": "b", "age": 2}\n')
    done = subprocess.run(
        [
            *(sys.executable, "-c", MISSING, "fastexcel,xlsxwriter,pyreadstat,polars,pandas"),
            *("run", "t.jsonl", "policy.yaml", "-o", "out.jsonl"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "out.jsonl").read_text().count("[1~2]") == 2
