"""The documentation is complete, and what it shows is what happens."""

import contextlib
import dataclasses
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
import yaml
from typer.testing import CliRunner

import shoal
from shoal import plugins
from shoal.cli.app import app
from shoal.hierarchy.parsing import KINDS
from shoal.policy import Column, Policy
from shoal.policy.column import ROLES
from shoal.policy.yaml_source import parse
from shoal.reproduction.base import Reproduction
from shoal.sample import write_sample
from tests.pages import PAGES, ROOT, Block, anchors, blocks, every_block, links, read, section

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
POLICY_FIELDS = [name for name in Policy.model_fields if name != "folder"]
PLAIN_OUTPUT = {"COLUMNS": "80", "NO_COLOR": "1"}
TIMES = re.compile(r"seconds|verify \d|\d\.\d\d")
"""Lines of output that differ from run to run."""


def words_in_code(text: str) -> set[str]:
    """The words in backticks."""
    return {word for code in re.findall(r"`([^`\n]+)`", text) for word in re.split(r"[\s,]+", code)}


# Completeness: everything that exists is documented.


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    text = section("docs/commands.md", f"shoal {name}")
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "argument":
            assert parameter.metavar in text, f"{name} {parameter.metavar}"
        else:
            assert set(parameter.opts) <= words_in_code(text), f"{name} {parameter.opts}"
    assert f"[`shoal {name}`]" in section("docs/commands.md", "The commands")


def test_only_existing_commands_are_documented() -> None:
    documented = set(re.findall(r"\bshoal ([a-z]+)\b", " ".join(map(_commands_on, PAGES))))
    assert documented <= set(COMMANDS)


def _commands_on(page: Path) -> str:
    """The commands in backticks and in console blocks."""
    text = read(page)
    spans = re.findall(r"`(shoal [^`\n]+)`", text)
    lines = re.findall(r"^\$ (shoal .+)$", text, re.M)
    return "\n".join([*spans, *lines])


COMPONENTS_POLICY = """
columns:
  zip: {role: quasi, hierarchy: {mask: right}}
  birth_date: {role: quasi, hierarchy: {date: [month, year, decade]}}
constraints: [{k: 3, on: [zip]}, {k: 2, on: [birth_date]}]
method: classfly-plus
default: drop
"""
JSON_COMMANDS = [
    ("shoal demo", "demo --folder demo --rows 500"),
    ("shoal run", "run hospital.csv policy.yaml -o release.csv --report report.json"),
    ("shoal run", "run hospital.csv personal.yaml -o personal.csv"),
    ("shoal run", "run hospital.csv components.yaml -o components.csv"),
    ("shoal verify", "verify release.csv policy.yaml --certificate report.json"),
    ("shoal decode", "decode release.csv policy.yaml -o decoded.csv"),
    ("shoal inspect", "inspect hospital.csv --fraction 0.1 --msu 2"),
    ("shoal init", "init hospital.csv -o draft.yaml"),
    ("shoal attack", "attack release.csv policy.yaml --known hospital.csv --raw hospital.csv"),
    ("shoal criteria", "criteria release.csv policy.yaml --raw hospital.csv"),
    ("shoal presets", "presets hipaa-safe-harbor"),
    ("shoal compare", "compare hospital.csv policy.yaml --methods mondrian,datafly --k 5"),
    ("shoal methods", "methods"),
    ("shoal metrics", "metrics query-error"),
]
"""Commands that print every form of JSON between them, with the section that describes it."""
KEYED_BY_DATA = {
    *("metrics", "column_loss", "largest_share", "columns", "minimal_nodes", "personal", "levels"),
    *("group_recognition", "sensitive_files", "sensitive_outputs", "sensitive", "roles", "files"),
    *("sizes", "unread", "versions", "written", "read", "hierarchies", "reasons"),
}
"""Fields whose mappings have the names of columns, metrics or files as keys, not fields."""


@pytest.fixture(scope="module")
def small_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    write_sample(folder, rows=500)
    (folder / "components.yaml").write_text(COMPONENTS_POLICY, encoding="utf-8")
    return folder


def test_every_json_field_is_documented(small_sample: Path) -> None:
    for heading, command in JSON_COMMANDS:
        printed = json.loads(_call([*command.split(), "--json"], small_sample))
        documented = words_in_code(section("docs/commands.md", heading))
        if heading in ("shoal verify", "shoal demo"):  # these refer to the section above
            documented |= words_in_code(section("docs/commands.md", "shoal run"))
        assert _fields_in(printed) <= documented, command


def _fields_in(value: Any, name: str = "") -> set[str]:
    """The names of all fields of a JSON document."""
    if isinstance(value, list):
        return {field for each in value for field in _fields_in(each, name)}
    if not isinstance(value, dict):
        return set()
    below = {field for key, each in value.items() for field in _fields_in(each, key)}
    by_data = name in KEYED_BY_DATA and not (name == "columns" and "name" in value)
    return below if by_data else below | set(value)


def test_every_field_of_a_reproduction_is_documented() -> None:
    documented = words_in_code(section("docs/commands.md", "shoal reproduce"))
    assert _dataclass_fields(Reproduction) - {"result"} <= documented


def _dataclass_fields(cls: Any) -> set[str]:
    """The names of all fields of a dataclass and of those it is made of."""
    if not dataclasses.is_dataclass(cls):
        return set().union(*map(_dataclass_fields, get_args(cls)))
    hints = typing.get_type_hints(cls)
    own = {field.name for field in dataclasses.fields(cls)}
    return own.union(*(_dataclass_fields(hints[name]) for name in own))


def test_every_exit_code_is_documented() -> None:
    table = section("docs/commands.md", "For all commands")
    for error in shoal.ShoalError.__subclasses__():
        assert f"| {error.exit_code} |" in table


@pytest.mark.parametrize("field", POLICY_FIELDS)
def test_every_policy_field_is_documented(field: str) -> None:
    text = section("docs/policy.md", "Fields")
    assert re.search(rf"^\| \[?`{field}`", text, re.M)
    for choice in get_args(Policy.model_fields[field].annotation):
        assert not isinstance(choice, str) or choice in words_in_code(text)


@pytest.mark.parametrize("field", Column.model_fields)
def test_every_column_field_is_documented(field: str) -> None:
    assert re.search(rf"^\| `{field}` \|", section("docs/policy.md", "Columns"), re.M)
    assert section("docs/policy.md", field)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_documented(role: str) -> None:
    assert re.search(rf"^\| `{role}` \|", section("docs/policy.md", "role"), re.M)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_hierarchy_is_documented(kind: str) -> None:
    text = section("docs/policy.md", "hierarchy")
    assert f"\n**`{kind}`**: " in text
    assert all(re.search(rf"\b{key}\b", text) for key in KINDS[kind].policy_keys)


@pytest.mark.parametrize(
    ("kind", "page", "heading"),
    [
        ("methods", "docs/choosing-a-method.md", "Which one"),
        ("models", "docs/policy.md", "Constraints"),
        ("metrics", "docs/policy.md", "Metrics"),
        ("presets", "docs/presets.md", "The presets"),
    ],
)
def test_plugins_are_documented_with_all_their_options(kind: str, page: str, heading: str) -> None:
    """A new plug-in may come without docs: `shoal methods` describes it from its docstrings."""
    text, every = section(page, heading), getattr(plugins, kind)()
    named = {name: each for name, each in every.items() if re.search(rf"^\| `{name}`", text, re.M)}
    assert len(named) > 5
    for name, plugin in named.items():
        for option in plugins.describe(plugin).options:
            assert re.search(rf"`{option.name}\b", read(ROOT / page)), f"{name}: {option.name}"


def test_every_package_is_described() -> None:
    """In how-it-works, as `name/` or `name.py`."""
    described = words_in_code(section("docs/how-it-works.md", "The packages"))
    for path in (ROOT / "src" / "shoal").iterdir():
        if path.is_dir() and (path / "__init__.py").exists():
            assert f"{path.name}/" in described
        elif path.suffix == ".py" and path.name != "__init__.py":
            assert path.name in described


def test_every_function_and_keyword_is_documented() -> None:
    from shoal import api

    page = ROOT / "docs/python.md"
    code = [*re.findall(r"`([^`\n]+)`", read(page)), *(block.body for block in blocks(page))]
    documented = set(re.findall(r"\w+", " ".join(code)))
    for name, function in inspect.getmembers(api, inspect.isfunction):
        if function.__module__ == "shoal.api" and name in dir(shoal):
            assert {name, *inspect.signature(function).parameters} <= documented, name


def test_the_version_and_the_licence_are_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load(read(ROOT / "CITATION.cff"))
    assert project["version"] == citation["version"] == shoal.__version__
    assert f"## [{shoal.__version__}]" in read(ROOT / "CHANGELOG.md")
    assert project["license"] == citation["license"] == "Apache-2.0"
    assert "Apache License\n" in read(ROOT / "LICENSE")


def test_every_make_command_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    documented = {
        name for page in PAGES for name in re.findall(r"(?:`|^ +)make ([a-z]+)", read(page), re.M)
    }
    assert {"demo", "test"} <= documented <= targets
    assert re.match(r"# Shoal\n\n    make demo .*\n    make test ", read(ROOT / "README.md"))


# Correctness: links lead somewhere, policies load, and examples print what is shown.


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        if "://" in path:
            continue
        target = (page.parent / path).resolve() if path else page
        if target.is_relative_to(ROOT / "docs" / "reference"):
            continue  # generated; the test of the site follows it
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("block", every_block("yaml"), ids=str)
def test_policies_load(block: Block) -> None:
    Policy.load(_completed(parse(block.body, str(block), Path()).data))


def _completed(data: dict[str, Any]) -> dict[str, Any]:
    """A policy from a part of one: from some columns, or from some fields without columns."""
    if not set(data) & set(POLICY_FIELDS):
        data = {"columns": data}
    quasi = {"age": "quasi", "zip": "quasi"}
    constraints = {} if "preset" in data else {"constraints": [{"k": 2}]}
    return {"columns": {**quasi, "disease": "sensitive"}, **constraints, **data}


def _examples() -> list[Block]:
    return [block for page in PAGES for block in blocks(page) if block.mark == "tested"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Path, Path]]:
    """Per page a folder with the sample, in which the examples of the page run in their order."""
    folders = {}
    for page in {block.page for block in _examples()}:
        folders[page] = tmp_path_factory.mktemp(page.stem)
        write_sample(folders[page])
    return folders


LONG = {"commands.md", "python.md"}
"""Pages with so many examples that they are among the long tests."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.name, marks=[pytest.mark.long] if page.name in LONG else [])
        for page in sorted({block.page for block in _examples()})
    ],
)
def test_examples_print_what_is_shown(page: Path, folders: dict[Path, Path]) -> None:
    every = blocks(page)
    for block, following in zip(every, [*every[1:], None], strict=True):
        if block.mark.startswith("file: ") and page.is_relative_to(ROOT / "docs"):
            target = folders[page] / block.mark.removeprefix("file: ")
            target.parent.mkdir(exist_ok=True)
            target.write_text(block.body, encoding="utf-8")
        if block.mark != "tested":
            continue
        if block.language in ("python", "r"):
            if block.language == "r" and shutil.which("Rscript") is None:
                continue  # as `test_examples_in_r` says
            run = _run_python if block.language == "python" else _run_r
            printed = run(block, folders[page])
            if following is not None and following.mark == "prints":
                assert printed == following.body, str(block)
        else:
            _check_console(block, folders[page])


def test_examples_in_r() -> None:
    """R runs the examples above if it is installed; if it is not, that is said here."""
    if shutil.which("Rscript") is None:
        pages = sorted({block.page.name for block in _examples() if block.language == "r"})
        pytest.skip(f"Rscript is not installed, so the examples in R were not run: {pages}")
    assert any(block.language == "r" for block in _examples())


def _run_r(block: Block, folder: Path) -> str:
    """What R prints."""
    return _run(["Rscript", "--vanilla", "-e", block.body], folder)


def _run_python(block: Block, folder: Path) -> str:
    """What it prints; warnings are errors."""
    if block.page.name == "README.md":
        return _run([sys.executable, "-W", "error", "-c", block.body], folder)
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(block.body, str(block), "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def _check_console(block: Block, folder: Path) -> None:
    """Every line shown was printed, in this order; lines with times are ignored."""
    command, _, shown = block.body.partition("\n")
    assert command.startswith("$ shoal "), str(block)
    arguments = shlex.split(command.removeprefix("$ shoal "), comments=True)
    if block.page.name == "README.md":  # in a process of its own, as users run it
        text = _run([sys.executable, "-m", "shoal.cli.app", *arguments], folder)
    else:
        text = _call(arguments, folder)
    printed = iter(_comparable_lines(text))
    for line in _comparable_lines(shown):
        assert line in printed, f"{block}: not printed, or in another order: {line}"


def _comparable_lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip() and not TIMES.search(line)]


def _run(command: list[str], folder: Path) -> str:
    """The output of a command in a process of its own."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | PLAIN_OUTPUT | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _call(arguments: list[str], folder: Path) -> str:
    """The output of a command inside this process, which need not load everything again."""
    with contextlib.chdir(folder):
        done = CliRunner(env=PLAIN_OUTPUT).invoke(app, arguments, prog_name="shoal")
    assert done.exit_code == 0, done.stderr
    return done.stdout
