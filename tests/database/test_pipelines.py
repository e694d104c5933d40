"""The examples of docs/pipelines.md, run as far as that is possible without their services."""

import os
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from tests.database.server import PASSWORDS, Server
from tests.pages import ROOT, blocks

FILES = {
    block.mark.removeprefix("file: "): block.body
    for block in blocks(ROOT / "docs" / "pipelines.md")
    if block.mark.startswith("file: ")
}
BAD = "UPDATE published SET age = '[30~31]' WHERE ctid = (SELECT min(ctid) FROM published)"
"""What a gate is for: somebody makes a person stand out."""


@pytest.fixture
def project(visits: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the page, for the server of the tests; `shoal` is on the path."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("clerk@db.example", f"clerk@127.0.0.1:{visits.port}"))
        if path.suffix == ".sh":
            path.chmod(0o755)
    programs = tmp_path / "bin"
    programs.mkdir()
    command = f'#!/bin/sh\nexec {sys.executable} -m shoal.cli.app "$@"\n'
    (programs / "shoal").write_text(command)
    (programs / "shoal").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(command: str | list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=isinstance(command, str),
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def publish(server: Server, project: Path, name: str = "published") -> None:
    shoal.run(server.address("visits"), project / "policy.yaml", server.address(name))


@pytest.mark.long
def test_cron(visits: Server, project: Path) -> None:
    done = call(["./nightly.sh"])
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(list(project.glob("report-*.json"))) == 1
    assert visits.tables() == {"public.visits", "public.published"}


@pytest.mark.long
def test_airflow(visits: Server, project: Path) -> None:
    tasks = tasks_of((project / "dags" / "publish_visits.py").read_text())
    verify = tasks["verify"]
    assert verify["env"] == {"PGPASSWORD": "{{ conn.office.password }}"}
    secret = {"PGPASSWORD": PASSWORDS["clerk"], "PGPASSFILE": os.devnull}
    publish(visits, project)
    visits.run(BAD)
    failed = call(verify["bash_command"], **secret)
    assert failed.returncode == 4
    assert PASSWORDS["clerk"] not in failed.stdout + failed.stderr
    assert tasks["announce"]["after"] == ["verify"]


def tasks_of(source: str) -> dict[str, dict[str, Any]]:
    """The tasks of a DAG; modules with the names of Airflow's note what they are given."""
    tasks: dict[str, dict[str, Any]] = {}

    class Operator:
        def __init__(self, task_id: str, **options: Any) -> None:
            self.name = task_id
            tasks[task_id] = options | {"after": []}

        def __rshift__(self, other: "Operator") -> "Operator":
            tasks[other.name]["after"].append(self.name)
            return other

    class Dag:
        def __init__(self, name: str, **options: Any) -> None:
            assert name
            assert options

        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    made = {
        "airflow.providers.standard.operators.bash": {"BashOperator": Operator},
        "airflow.sdk": {"DAG": Dag},
    }
    saved = dict(sys.modules)
    try:
        for name, content in made.items():
            parts = name.split(".")
            for end in range(1, len(parts) + 1):
                part = ".".join(parts[:end])
                sys.modules.setdefault(part, types.ModuleType(part))
            vars(sys.modules[name]).update(content)
        exec(compile(source, "publish_visits.py", "exec"), {})
    finally:
        for name in set(sys.modules) - set(saved):
            del sys.modules[name]
    return tasks


@pytest.mark.long
def test_dbt(visits: Server, project: Path) -> None:
    # dbt is replaced by a script that notes how it is called
    (project / "bin" / "dbt").write_text('#!/bin/sh\necho "$@" >> calls.txt\n')
    (project / "bin" / "dbt").chmod(0o755)
    visits.run("CREATE SCHEMA checked", "CREATE SCHEMA readable")
    try:
        publish(visits, project, "checked.visits_release")
        assert call(["./publish.sh"]).returncode == 0
        calls = (project / "calls.txt").read_text().splitlines()
        assert [each.split()[0] for each in calls] == ["build", "run-operation"]
        # the statements of the macro, as dbt would run them
        statements = re.findall(r'run_query\("(.+?)"\)', FILES["macros/publish.sql"])
        assert len(statements) == 3
        own = [each.replace("pub", "readable").replace("readers", "guest") for each in statements]
        visits.run(*own)
        assert visits.rows("SELECT count(*) FROM readable.visits_release") == [(400,)]
        publish(visits, project, "checked.visits_release")
        visits.run(BAD.replace("published", "checked.visits_release"))
        assert call(["./publish.sh"]).returncode == 4
        calls = (project / "calls.txt").read_text().splitlines()
        assert [each.split()[0] for each in calls] == ["build", "run-operation", "build"]
    finally:
        visits.run("DROP SCHEMA IF EXISTS checked, readable CASCADE")


def test_github_actions(visits: Server, project: Path) -> None:
    workflow = yaml.safe_load((project / ".github" / "workflows" / "verify.yml").read_text())
    assert set(workflow[True]) == {"schedule", "push"}  # `on` is a truth value in YAML 1.1
    (job,) = workflow["jobs"].values()
    install, step = job["steps"][-2:]
    assert install["run"] == "pip install 'shoal[database]'"
    assert set(step["env"]) == {"PGPASSWORD"}
    secret = {"PGPASSWORD": PASSWORDS["clerk"], "PGPASSFILE": os.devnull}
    publish(visits, project)
    assert call(step["run"], **secret).returncode == 0


def test_a_query_is_a_gate_too(visits: Server, project: Path) -> None:
    publish(visits, project)
    sql = "SELECT * FROM published WHERE admitted < '2020-01-03'"
    done = CliRunner().invoke(app, ["verify", visits.query(sql), "policy.yaml"])
    assert done.exit_code == 4
