"""What the studio writes is what the command line writes: release, report, certificate and tables."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal import api
from shoal.errors import InputError, ShoalError
from shoal.progress import ignore_event
from shoal.studio.screens.release import command_of, database_target, python_of
from shoal.studio.tasks import Order, is_as_written, write_release
from shoal.studio.worker import Tables

TIMES = ("date", "seconds", "seal")
"""Keys of a certificate that speak of when it was made, and the seal over all of it."""


def in_folder(folder: Path) -> tuple[Path, Order]:
    found = api.write_sample(folder, rows=300)
    text = found.policy.read_text(encoding="utf-8").replace("method: auto", "method: mondrian")
    found.policy.write_text(text, encoding="utf-8")
    beside = folder / "hospital-release"
    return found.table, Order(
        policy=str(found.policy),
        target=f"{beside}.csv",
        report=f"{beside}-report.html",
        external_report=f"{beside}-for-recipients.html",
        key=None,
        seed_file=f"{beside}.seed",
        force=False,
    )


def without_times(content: Any) -> Any:
    if isinstance(content, dict):
        return {key: without_times(value) for key, value in content.items() if key not in TIMES}
    return [without_times(one) for one in content] if isinstance(content, list) else content


def page_without_times(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    for certificate in path.parent.glob("*.json"):
        content = certificate.read_text(encoding="utf-8")
        for own in re.findall(r'"(?:seal|date)": "([^"]+)"', content):
            text = text.replace(own, "TIME OR SEAL")
    text = re.sub(r"\((?:[a-z]+ \d+\.\d\d(?:, )?)+\)", "TIMES OF STEPS", text)
    return re.sub(r"\b\d[\d.,]*\s*(ms|s|seconds?|min)\b", "TIME", text)


def test_the_files_differ_in_the_time_and_the_seal_alone(tmp_path: Path) -> None:
    here, there = tmp_path / "studio" / "hospital", tmp_path / "terminal" / "hospital"
    table, order = in_folder(here)
    written = write_release(Tables(str(table)), ignore_event, order)
    assert written.verified
    other_table, other = in_folder(there)
    shutil.copy(str(order.seed_file), str(other.seed_file))
    words = shlex.split(command_of(str(other_table), other))
    subprocess.run([sys.executable, "-m", "shoal.cli.app", *words[1:], "-q"], check=True)
    names = sorted(path.name for path in here.iterdir())
    assert names == sorted(path.name for path in there.iterdir())
    assert (here / "hospital-release.csv").read_bytes() == Path(other.target).read_bytes()
    certificates = [name for name in names if name.endswith(".json")]
    assert certificates
    for name in certificates:
        one, two = (json.loads((at / name).read_text(encoding="utf-8")) for at in (here, there))
        assert without_times(one) == without_times(two)
    for name in (Path(str(order.report)).name, Path(str(order.external_report)).name):
        one, two = (page_without_times(at / name) for at in (here, there))
        assert one == two


def test_what_is_not_for_others_has_a_folder_of_its_own(tmp_path: Path) -> None:
    table, plain = in_folder(tmp_path)
    private = tmp_path / "hospital-private"
    order = replace(
        plain,
        report=str(private / "report.html"),
        seed_file=str(private / "release.seed"),
        private=str(private),
    )
    Path(order.target).write_text("taken")
    with pytest.raises(ShoalError, match="exists already"):
        write_release(Tables(str(table)), ignore_event, order)
    assert not private.exists()  # nothing was written, so nothing is left
    Path(order.target).unlink()
    written = write_release(Tables(str(table)), ignore_event, order)
    assert oct(private.stat().st_mode & 0o777) == "0o700"
    assert {Path(one).parent for one in written.private} == {private}
    assert all(Path(one).parent == tmp_path for one in written.files if one not in written.private)
    # it is known whether all files are still what was written
    assert is_as_written(Tables(), ignore_event, written)
    release = Path(order.target)
    bytes_then = release.read_bytes()
    release.write_bytes(bytes_then[:-1] + b" ")
    assert not is_as_written(Tables(), ignore_event, written)
    release.write_bytes(bytes_then)
    assert is_as_written(Tables(), ignore_event, written)
    (private / "release.seed").unlink()
    assert not is_as_written(Tables(), ignore_event, written)
    # the command makes the folder too
    shutil.rmtree(private)
    release.unlink()
    Path(str(order.external_report)).unlink()
    Path(str(order.external_report)).with_suffix(".json").unlink()
    command = command_of(str(table), order).replace(
        "shoal run", f"{shlex.quote(sys.executable)} -m shoal.cli.app run -q"
    )
    subprocess.run(command, shell=True, check=True)
    assert oct(private.stat().st_mode & 0o777) == "0o700"
    assert (private / "report.html").exists()
    code = python_of(str(table), replace(order, force=True, private=f"{private}-2"))
    assert f"Path({str(private) + '-2'!r}).mkdir(mode=0o700, exist_ok=True)" in code
    compile(code, "recipe", "exec")


@pytest.mark.parametrize("file", ["hospital.sqlite", "hospital.duckdb"])
def test_a_table_of_a_database_file_is_verified_by_the_command_line(
    tmp_path: Path, file: str
) -> None:
    table, files = in_folder(tmp_path)
    target = database_target(f"{file}?table=published", tmp_path)
    order = replace(files, target=target, external_report=None, seed_file=None)
    written = write_release(Tables(str(table)), ignore_event, order)
    assert (written.verified, written.rows, written.files[0]) == (True, 300, target)
    policy = (tmp_path / "policy.yaml").read_text(encoding="utf-8")
    assert require_verified(target, order.policy)
    assert not require_verified(target, with_k(order.policy, policy, 200))
    with pytest.raises(ShoalError, match="exists already"):
        write_release(Tables(str(table)), ignore_event, order)
    assert write_release(Tables(str(table)), ignore_event, replace(order, force=True)).verified
    # beside other tables, and the command line writes the same rows
    other = replace(order, target=database_target(f"{file}?table=other", tmp_path), report=None)
    words = shlex.split(command_of(str(table), other))
    subprocess.run([sys.executable, "-m", "shoal.cli.app", *words[1:], "-q"], check=True)
    one, two = (api.prepare(place).table() for place in (target, other.target))
    assert one.equals(two)


def require_verified(place: str, policy: str) -> bool:
    command = [sys.executable, "-m", "shoal.cli.app", "verify", place, policy]
    return subprocess.run(command, capture_output=True).returncode == 0


def with_k(path: str, policy: str, k: int) -> str:
    stricter = Path(path).with_name("stricter.yaml")
    stricter.write_text(policy.replace("k: 5", f"k: {k}"), encoding="utf-8")
    return str(stricter)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "is missing"),
        ("release.csv", "not the address of a table"),
        ("mysql://host/db?table=t", "allowed: postgresql"),
        ("postgresql://host/db", "no table in it"),
        ("postgresql://me:secret@host/db?table=t", "has a password"),
    ],
)
def test_addresses_that_name_no_table(tmp_path: Path, address: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        database_target(address, tmp_path)
    assert "secret" not in str(raised.value)
