"""The recipes that build and publish the package agree with it."""

import re
import tomllib
from typing import Any

import yaml

import shoal
from tests.pages import ROOT


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(lines: list[str]) -> dict[str, str]:
    """The names of distributions with the least version of each."""
    found = {}
    for line in lines:
        name, bounds = re.fullmatch(r"([\w-]+) ?(>=[\d.]+)?.*", line).groups()  # type: ignore[union-attr]
        found[name.replace("_", "-")] = bounds
    return found


def test_the_conda_recipe_asks_for_what_the_package_needs() -> None:
    text = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(text)
    assert recipe["context"]["version"] == shoal.__version__
    has = requirements(recipe["requirements"]["run"])
    # conda has other names for two of them
    has["duckdb"], has["matplotlib"] = has.pop("python-duckdb"), has.pop("matplotlib-base")
    needs = project()["dependencies"] + project()["optional-dependencies"]["report"]
    assert has == requirements(needs) | {"python": project()["requires-python"]}


def test_the_container_installs_extras_that_exist() -> None:
    text = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", text)
    assert set(extras.split(",")) <= set(project()["optional-dependencies"])
    for line in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        assert all((ROOT / name).exists() for name in line.split())
    assert re.search(r"^USER 10001$", text, re.M)


def test_the_workflow_publishes_without_a_secret_and_with_least_rights() -> None:
    text = (ROOT / ".github" / "workflows" / "publish.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert workflow["jobs"]["publish"]["needs"] == "build"
    assert "secrets." not in text
    assert "run: make dist" in text
    used = [
        step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step
    ]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", one) for one in used)
