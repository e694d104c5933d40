"""The studio from a notebook, and how the command is told where to listen."""

import os
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

import pandas as pd
import pytest

import shoal
from tests.studio.process import WAIT, studio
from tests.studio.steps import SHOAL

FRAME = pd.DataFrame({"age": [30, 31, 32, 33] * 5, "ill": ["a", "b"] * 10})


def test_a_frame_is_opened_and_its_copy_goes_with_the_studio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    policy = tmp_path / "table.policy.yaml"
    running = shoal.studio(FRAME, policy, browser=False)
    try:
        assert str(policy) in repr(running)
        assert "token=" in running.address
        (copy,) = (tmp_path / "tmp").glob("shoal-studio-*/table.parquet")
        assert oct(copy.stat().st_mode & 0o777) == "0o600"
        assert pd.read_parquet(copy).equals(FRAME)
        with urllib.request.urlopen(running.address, timeout=WAIT) as answer:
            assert answer.status == 200
        until = time.monotonic() + WAIT
        while not policy.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert "age" in policy.read_text(encoding="utf-8")
        assert running.policy == policy.resolve()
    finally:
        running.stop()
    assert not copy.exists()
    assert repr(running) == "A studio that was stopped"


def test_where_it_cannot_listen_no_copy_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(shoal.InputError, match=rf"Port {port} of 127\.0\.0\.1.*--port"):
            shoal.studio(FRAME, tmp_path / "p.yaml", port=port, browser=False)
        assert list(tmp_path.iterdir()) == []
        refused = subprocess.run(
            [*SHOAL, "studio", "--port", str(port), "--no-browser"],
            capture_output=True, text=True, cwd=tmp_path,
        )  # fmt: skip
    assert refused.returncode == 2
    assert "--port" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_the_port_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with studio("--port", str(port), cwd=tmp_path) as running:
        assert running.port == port
    missing = subprocess.run(
        [*SHOAL, "studio", "none.csv", "--no-browser"],
        capture_output=True, text=True, cwd=tmp_path, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    assert missing.returncode == 2
    assert "none.csv" in missing.stderr
