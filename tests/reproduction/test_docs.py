"""What the docs say of full runs is what full runs gave."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import shoal
from tests.pages import ROOT

FOLDER = ROOT / "docs" / "reproduction"
RESULTS = sorted(FOLDER.glob("*/result.json"))


def test_the_page_is_made_from_the_results() -> None:
    spec = importlib.util.spec_from_file_location("index", FOLDER / "index.py")
    assert spec
    assert spec.loader
    index = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(index)
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == index.text()


def test_links_lead_somewhere() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    files = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if link]
    assert all((FOLDER / link).exists() for link in files)


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.parent.name)
def test_a_committed_run_is_a_full_one_with_all_its_files(path: Path) -> None:
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["quick"] is False
    assert found["name"] == path.parent.name
    assert found["versions"]["shoal"] == shoal.__version__
    names = {"index.html", "result.json", "claims.csv"}
    names |= {f"{figure['name']}.{end}" for figure in found["figures"] for end in ("svg", "csv")}
    assert {each.name for each in path.parent.iterdir()} == names
