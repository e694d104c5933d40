"""The real command in a process of its own."""

import json
import os
import resource
import signal
import subprocess
import sys

import pytest

HEAVY = ("numba", "pandas", "polars", "pyarrow", "duckdb", "pydantic", "numpy", "rich", "yaml")


def command(*arguments, cwd, code="from shoal.cli.app import main; main()", **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], []])
def test_help_imports_nothing_heavy(tmp_path, arguments):
    code = (
        "import sys\nfrom shoal.cli.app import main\ntry:\n    main()\n"
        f"finally:\n    print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = command(*arguments, cwd=tmp_path, code=code)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("arguments", [["models", "k"], ["metrics"], ["inspect", "{table}"]])
def test_commands_that_run_no_kernel_do_not_wait_for_numba(tmp_path, sample, arguments):
    code = (
        "import sys\nfrom shoal.cli.app import main\ntry:\n    main()\n"
        "finally:\n    print('numba' in sys.modules, file=sys.stderr)"
    )
    words = [word.format(table=sample.table) for word in arguments]
    done = command(*words, cwd=tmp_path, code=code)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "False"


UNUSED = ("numba", "pandas", "narwhals", "polars", "pyspark", "matplotlib", "jinja2", "fastexcel")
"""What a run from file to file on a few rows must not load."""


def test_a_small_run_loads_only_what_it_uses(tmp_path):
    (tmp_path / "t.csv").write_text("age,ill\n21,flu\n22,flu\n35,gout\n38,flu\n")
    (tmp_path / "p.yaml").write_text(
        "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 2}]\n"
    )
    code = (
        "import sys\nfrom shoal.cli.app import main\ntry:\n    main()\n"
        f"finally:\n    print([m for m in {UNUSED!r} if m in sys.modules], file=sys.stderr)"
    )
    done = command("run", "t.csv", "p.yaml", "-o", "r.csv", cwd=tmp_path, code=code)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "[]"
    assert sorted((tmp_path / "r.csv").read_text().splitlines()[1:]) == [
        "[21~22],flu",
        "[21~22],flu",
        "[35~38],flu",
        "[35~38],gout",
    ]


def test_help_names_every_command(shoal, tmp_path):
    done = command("--help", cwd=tmp_path)
    assert done.returncode == 0
    names = ("demo", "inspect", "init", "run", "verify", "compare", "methods", "models", "metrics")
    for name in names:
        assert f"\n  {name} " in done.stdout
        assert shoal(name, "--help").code == 0


def test_json_is_alone_on_standard_output(tmp_path, sample):
    done = command("run", sample.table, sample.policy, "-o", "r.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["verified"] is True
    assert done.stderr == ""
    again = command("run", sample.table, sample.policy, "-o", "r.csv", "--json", cwd=tmp_path)
    assert again.returncode == 2
    assert json.loads(again.stdout)["exit_code"] == 2


def test_usage_errors_are_json_too(tmp_path):
    done = command("run", "--json", cwd=tmp_path)
    assert done.returncode == 2
    assert json.loads(done.stdout)["kind"] == "UsageError"
    plain = command("run", cwd=tmp_path)
    assert plain.returncode == 2
    assert plain.stdout == ""
    assert "Usage:" in plain.stderr


def test_no_traceback_and_no_colour(tmp_path, sample):
    done = command("run", tmp_path, sample.policy, "-o", "r.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    seen = command("inspect", sample.table, cwd=tmp_path)
    assert "\x1b" not in seen.stdout


def test_a_terminal_that_knows_no_unicode(tmp_path, sample):
    made = command(
        "run", sample.table, sample.policy, "-o", "r.csv", cwd=tmp_path, PYTHONIOENCODING="ascii"
    )
    assert made.returncode == 0
    assert made.stdout.isascii()
    assert "yes  k" in made.stdout


def test_a_reader_that_leaves_early_is_no_error(tmp_path, sample):
    code = (
        "import os, sys\nfrom shoal.cli.app import main\n"
        "read, write = os.pipe()\nos.close(read)\nos.dup2(write, 1)\nmain()"
    )
    done = command("inspect", sample.table, cwd=tmp_path, code=code)
    assert "Traceback" not in done.stderr
    assert "unexpected error" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_ctrl_c_ends_with_130_and_one_line(tmp_path, sample):
    code = (
        "import os, signal, time\nimport shoal.pipeline.run as pipeline\n"
        "def run(*_, **__):\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
        "pipeline.run_files = run\nfrom shoal.cli.app import main\nmain()"
    )
    done = command("run", sample.table, sample.policy, "-o", "r.csv", cwd=tmp_path, code=code)
    assert done.returncode == 130
    assert done.stderr.splitlines() == ["Interrupted: no incomplete file is left behind."]
    assert list(tmp_path.iterdir()) == []


def test_debugging_shows_the_trace(tmp_path, sample):
    code = (
        "import shoal.pipeline.run as pipeline\ndef run(*_, **__):\n    raise ValueError('deep')\n"
        "pipeline.run_files = run\nfrom shoal.cli.app import main\nmain()"
    )
    arguments = ("run", sample.table, sample.policy, "-o", "r.csv")
    quiet = command(*arguments, cwd=tmp_path, code=code)
    assert quiet.returncode == 1
    assert "deep" not in quiet.stderr
    loud = command(*arguments, cwd=tmp_path, code=code, SHOAL_DEBUG="1")
    assert loud.returncode == 1
    assert "Traceback" in loud.stderr
    assert "deep" in loud.stderr


CRASH = """
import os, resource
_, most = resource.getrlimit(resource.RLIMIT_CORE)
resource.setrlimit(resource.RLIMIT_CORE, (most, most))  # as `ulimit -c unlimited`
import shoal.engines.memory as memory
def read(*_, **__):
    print(resource.getrlimit(resource.RLIMIT_CORE)[0])
    import sys
    sys.stdout.flush()
    os.abort()
memory.LocalFiles.read = read
from shoal.cli.app import main
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep images elsewhere")
def test_a_crash_leaves_no_image_of_the_rows(tmp_path):
    (tmp_path / "t.csv").write_text("age,ill\n21,flu\n22,flu\n35,gout\n38,flu\n")
    (tmp_path / "p.yaml").write_text(
        "columns: {age: quasi, ill: sensitive}\nconstraints: [{k: 2}]\n"
    )
    done = command("run", "t.csv", "p.yaml", "-o", "r.csv", cwd=tmp_path, code=CRASH)
    assert done.returncode == -signal.SIGABRT
    assert done.stdout.strip() in ("0", "1")
    assert {path.name for path in tmp_path.iterdir() if path.name[0] != "."} == {"t.csv", "p.yaml"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep images elsewhere")
def test_an_image_is_kept_for_whoever_asks_for_it(tmp_path):
    (tmp_path / "t.csv").write_text("age\n21\n")
    (tmp_path / "p.yaml").write_text("columns: {age: quasi}\nconstraints: [{k: 1}]\n")
    done = command(
        "run", "t.csv", "p.yaml", "-o", "r.csv", cwd=tmp_path, code=CRASH, SHOAL_DEBUG="1"
    )
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    assert done.stdout.strip() == str(most)
