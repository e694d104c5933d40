"""The docs say all there is, and what they say is so."""

import contextlib
import dataclasses
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

import shoal
from shoal import plugins, release
from shoal.cli.app import app
from shoal.comparison.outcome import Figures, Outcome
from shoal.comparison.outcome import Risk as ComparedRisk
from shoal.comparison.ranking import Recommendation
from shoal.engines.measured import ComponentReport, ConstraintReport, PersonalReport, RaisedLabel
from shoal.hierarchy.parsing import KINDS
from shoal.policy import Column, Policy
from shoal.policy.column import ROLES
from shoal.policy.yaml_source import parse
from shoal.reproduction.base import Claim, Figure, Findings, Line, Reproduction
from shoal.risk.assessment import Reidentification, Risk
from shoal.risk.attack import Attack, Guess, Linkage
from shoal.risk.inspection import ColumnReport, Inspection, Search
from shoal.risk.population import PopulationUniques
from shoal.risk.uniqueness import MinimalSet, MinimalUniques
from shoal.sample import write_sample
from shoal.verification.check import Finding
from tests.comparison.comparisons import TWO_K
from tests.pages import PAGES, ROOT, Block, anchors, blocks, every_block, links, read, section

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
FIELDS = [name for name in Policy.model_fields if name != "folder"]
PLAIN = {"COLUMNS": "80", "NO_COLOR": "1"}
SECONDS = re.compile(r"seconds|verify \d|\d\.\d\d")
"""Lines of output that differ from run to run."""


def named(text: str) -> set[str]:
    """The words in backticks."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.split(r"[\s,]+", code)}


# Everything there is has its place.


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = section("docs/commands.md", f"shoal {name}")
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "argument":
            assert parameter.metavar in text, f"{name} {parameter.metavar}"
        else:
            assert set(parameter.opts) <= named(text), f"{name} {parameter.opts}"
    assert f"[`shoal {name}`]" in section("docs/commands.md", "The commands")


def test_only_commands_that_are_there_are_documented() -> None:
    told = set(re.findall(r"\bshoal ([a-z]+)\b", " ".join(map(_code, PAGES))))
    assert told <= set(COMMANDS)


def _code(page: Path) -> str:
    """What stands in backticks or in console blocks."""
    text = read(page)
    spans = re.findall(r"`(shoal [^`\n]+)`", text)
    lines = re.findall(r"^\$ (shoal .+)$", text, re.M)
    return "\n".join([*spans, *lines])


def test_every_json_field_is_documented() -> None:
    told = named(section("docs/commands.md", "shoal run"))
    made = _release()
    assert {*made, *made["seconds"], "read", "write"} <= told
    assert {"input", "policy", "output", "holds"} <= told
    personal = (PersonalReport, RaisedLabel)
    for part in (Finding, ConstraintReport, ComponentReport, release.ColumnReport, *personal):
        assert {field.name for field in dataclasses.fields(part)} <= told
    seen = named(section("docs/commands.md", "shoal inspect"))
    risk = (Reidentification, Risk, PopulationUniques, MinimalUniques, MinimalSet)
    for part in (Inspection, ColumnReport, Search, *risk):
        assert {field.name for field in dataclasses.fields(part)} <= seen
    learnt = named(section("docs/commands.md", "shoal attack"))
    for part in (Attack, Linkage, Guess):
        assert {field.name for field in dataclasses.fields(part)} <= learnt
    again = named(section("docs/commands.md", "shoal reproduce"))
    for part in (Reproduction, Findings, Claim, Figure, Line):
        assert {field.name for field in dataclasses.fields(part)} - {"result"} <= again
    compared = named(section("docs/commands.md", "shoal compare"))
    assert set(TWO_K.to_dict()) | {"input", "policy_file", "outputs", "frontier"} <= compared
    for part in (Recommendation, Figures, Outcome, ComparedRisk):
        names = {field.name for field in dataclasses.fields(part)} - {"figures"}
        assert names <= compared


def _release() -> dict[str, Any]:
    import pyarrow as pa

    return shoal.anonymize(pa.table({"age": [1, 2]}), quasi="age", k=2).to_dict()


def test_every_exit_code_is_documented() -> None:
    table = section("docs/commands.md", "For all commands")
    for error in (shoal.InputError, shoal.PolicyError, shoal.Infeasible, shoal.VerificationFailed):
        assert f"| {error.exit_code} |" in table


@pytest.mark.parametrize("field", FIELDS)
def test_every_policy_field_is_documented(field: str) -> None:
    assert re.search(rf"^\| \[?`{field}`", section("docs/policy.md", "Fields"), re.M)
    for choice in get_args(Policy.model_fields[field].annotation):
        assert not isinstance(choice, str) or choice in named(section("docs/policy.md", "Fields"))


@pytest.mark.parametrize("field", Column.model_fields)
def test_every_column_field_is_documented(field: str) -> None:
    assert re.search(rf"^\| `{field}` \|", section("docs/policy.md", "Columns"), re.M)
    assert section("docs/policy.md", f"### {field}"[4:])


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_documented(role: str) -> None:
    assert re.search(rf"^\| `{role}` \|", section("docs/policy.md", "role"), re.M)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_hierarchy_is_documented(kind: str) -> None:
    text = section("docs/policy.md", "hierarchy")
    assert f"\n**`{kind}`**: " in text
    assert all(re.search(rf"\b{key}\b", text) for key in KINDS[kind].policy_keys)


@pytest.mark.parametrize(
    ("room", "page", "heading"),
    [
        ("methods", "docs/choosing-a-method.md", "Which one"),
        ("models", "docs/policy.md", "Constraints"),
        ("metrics", "docs/policy.md", "Metrics"),
    ],
)
def test_plug_ins_are_documented_with_all_their_options(
    room: plugins.Kind, page: str, heading: str
) -> None:
    """A new plug-in may come without docs: `shoal methods` describes it from its docstrings."""
    text = section(page, heading)
    every = {"methods": plugins.methods, "models": plugins.models, "metrics": plugins.metrics}
    named = {
        name: plugin
        for name, plugin in every[room]().items()
        if re.search(rf"^\| `{name}`", text, re.M)
    }
    assert len(named) > 5
    for name, plugin in named.items():
        for option in plugins.describe(plugin).options:
            assert re.search(rf"`{option.name}\b", read(ROOT / page)), f"{name}: {option.name}"


def test_the_versions_agree() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == shoal.__version__
    assert f"## [{shoal.__version__}]" in read(ROOT / "CHANGELOG.md")


def test_every_make_command_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    told = {
        name for page in PAGES for name in re.findall(r"(?:`|^ +)make ([a-z]+)", read(page), re.M)
    }
    assert {"demo", "test"} <= told <= targets
    assert re.match(r"# Shoal\n\n    make demo .*\n    make test ", read(ROOT / "README.md"))


# What is said is so.


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("block", every_block("yaml"), ids=str)
def test_yaml_loads(block: Block) -> None:
    Policy.load(_completed(parse(block.body, str(block), Path()).data))


def _completed(data: dict[str, Any]) -> dict[str, Any]:
    """A policy from a part of one: from some columns, or from some fields without columns."""
    if not set(data) & set(FIELDS):
        data = {"columns": data}
    quasi = {"age": "quasi", "zip": "quasi"}
    return {"columns": {**quasi, "disease": "sensitive"}, "constraints": [{"k": 2}], **data}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Path, Path]]:
    """Per page a folder with the sample in it, in which the page's examples run one by one."""
    made = {}
    for page in {block.page for block in _examples()}:
        made[page] = tmp_path_factory.mktemp(page.stem)
        write_sample(made[page])
    return made


def _examples() -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.mark == "tested"]


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | PLAIN | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _call(arguments: list[str], folder: Path) -> str:
    """The same inside this process, which need not load everything again."""
    with contextlib.chdir(folder):
        done = CliRunner(env=PLAIN).invoke(app, arguments, prog_name="shoal")
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("page", sorted({b.page for b in _examples()}), ids=lambda p: p.name)
def test_examples_give_what_is_shown(page: Path, folders: dict[Path, Path]) -> None:
    every = blocks(page)
    for block, after in zip(every, [*every[1:], None], strict=True):
        if block.mark != "tested":
            continue
        if block.language == "python":
            printed = _python(block, folders[page])
            assert after is None or after.mark != "prints" or printed == after.body, str(block)
        else:
            _check_console(block, folders[page])


def _python(block: Block, folder: Path) -> str:
    """What it prints; warnings are errors."""
    if block.page.name == "README.md":
        return _run([sys.executable, "-W", "error", "-c", block.body], folder)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(block.body, str(block), "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def _check_console(block: Block, folder: Path) -> None:
    """Every line shown was printed, in this order; lines that hold times aside."""
    command, _, shown = block.body.partition("\n")
    assert command.startswith("$ shoal "), str(block)
    arguments = shlex.split(command.removeprefix("$ shoal "), comments=True)
    if block.page.name == "README.md":  # as a newcomer runs them
        text = _run([sys.executable, "-m", "shoal.cli.app", *arguments], folder)
    else:
        text = _call(arguments, folder)
    printed = iter(_lines(text))
    for line in _lines(shown):
        assert line in printed, f"{block}: not printed, or not there: {line}"


def _lines(text: str) -> list[str]:
    return [
        line.rstrip() for line in text.splitlines() if line.strip() and not SECONDS.search(line)
    ]
