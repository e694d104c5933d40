"""A small sample on disk, and the command line in this process."""

import json
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app
from shoal.sample import write_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """Files that no test may change."""
    return write_sample(tmp_path_factory.mktemp("sample"), rows=400)


@pytest.fixture
def shoal(monkeypatch, tmp_path):
    """Call the command line in an empty folder; gives exit code, stdout, stderr and `data()`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)

    def call(*arguments):
        result = CliRunner().invoke(app, [str(a) for a in arguments], prog_name="shoal")
        return SimpleNamespace(
            code=result.exit_code,
            out=result.stdout,
            err=result.stderr,
            data=lambda: json.loads(result.stdout),
        )

    return call


@pytest.fixture
def release(sample, shoal, tmp_path):
    """A verified release of the sample."""
    made = shoal("run", sample.table, sample.policy, "-o", "release.csv", "--quiet")
    assert (made.code, made.out, made.err) == (0, "", "")
    return tmp_path / "release.csv"
