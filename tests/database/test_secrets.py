"""Passwords come from the usual places and appear nowhere; mistakes are one clear line."""

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import shoal
from shoal.cli.app import app
from shoal.errors import InputError, PolicyError
from tests.database.server import CLERK, GUEST, OWNER, PASSWORDS, Server

SECRET = PASSWORDS[CLERK]
ENCODED = "Clerk%3Apass%2Fword%401"


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(each) for each in arguments], prog_name="shoal")


def with_password(text: str) -> str:
    return text.replace(f"{CLERK}@", f"{CLERK}:{ENCODED}@")


def has_secret(text: str) -> bool:
    return SECRET in text or ENCODED in text or "pass/word" in text


@pytest.mark.parametrize(
    "command",
    [
        ["run", "ADDRESS", "POLICY", "-o", "out.csv"],
        ["run", "POLICY", "POLICY", "-o", "ADDRESS"],
        ["verify", "ADDRESS", "POLICY"],
        ["inspect", "ADDRESS"],
        ["init", "ADDRESS"],
        ["compare", "ADDRESS", "POLICY"],
        ["attack", "POLICY", "POLICY", "--known", "ADDRESS"],
        ["attack", "POLICY", "POLICY", "--known", "POLICY", "--raw", "ADDRESS"],
    ],
    ids=lambda command: " ".join(command[:1] + command[-2:]),
)
def test_a_password_on_the_command_line_is_refused(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    address = f"postgresql://clerk:{ENCODED}@127.0.0.1:1/office?table=visits"
    given = [
        address if each == "ADDRESS" else str(policy) if each == "POLICY" else each
        for each in command
    ]
    for more in ([], ["--json"]):
        done = call(*given, *more)
        assert done.exit_code == 2
        said = done.stdout + done.stderr
        assert "the address has a password" in said
        assert "PGPASSWORD" in said
        assert not has_secret(said)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["policy.yaml"]


def test_in_python_a_password_is_accepted_and_shown_nowhere(
    visits: Server, policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSFILE", os.devnull)
    source, target = with_password(visits.address("visits")), with_password(visits.address("pub"))
    release = shoal.run(source, policy, target, report=tmp_path / "report.json")
    verification = shoal.verify(target, policy, certificate=tmp_path / "report.json")
    shown = [
        repr(release),
        repr(release.output),
        str(release.run),
        repr(vars(release.output)),
        json.dumps(release.to_dict()),
        json.dumps(verification.to_dict()),
        (tmp_path / "report.json").read_text(),
        shoal.draft_policy(source).text,
    ]
    assert not [text for text in shown if has_secret(text)]
    assert "clerk:***@" not in str(release.output)
    for mistake in (source.replace("visits", "vists"), source.replace("office", "ofice")):
        with pytest.raises(InputError) as error:
            shoal.inspect(mistake)
        assert not has_secret(str(error.value))
        assert "clerk:***@127.0.0.1" in str(error.value)


def test_a_policy_has_no_password(visits: Server, policy: Path) -> None:
    text = policy.read_text().replace("{k: 5}", "{k-map: 2}")
    good = text + f"population: {visits.address('visits')}\n"
    assert shoal.anonymize(visits.address("visits"), good).verified
    with pytest.raises(PolicyError, match="an address in a policy has no password") as error:
        shoal.Policy.load(text + f"population: {with_password(visits.address('visits'))}\n")
    assert not has_secret(str(error.value))


@pytest.mark.parametrize("place", ["PGPASSWORD", "PGPASSFILE", "PGSERVICE"])
def test_the_password_comes_from_the_usual_places(
    visits: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    passes = os.environ["PGPASSFILE"]
    monkeypatch.delenv("PGPASSFILE")
    address = visits.address("visits")
    if place == "PGPASSWORD":
        monkeypatch.setenv(place, SECRET)
    elif place == "PGPASSFILE":
        monkeypatch.setenv(place, passes)
    else:
        service = tmp_path / "services"
        service.write_text(
            f"[office]\nhost=127.0.0.1\nport={visits.port}\nuser={CLERK}\ndbname=office\n"
            f"password={SECRET}\n"
        )
        monkeypatch.setenv("PGSERVICEFILE", str(service))
        address = "postgresql://?service=office&table=visits"
    done = call("inspect", address, "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 400
    assert not has_secret(done.stdout + done.stderr)


def test_mistakes_are_one_clear_line(
    visits: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    visits.run("CREATE VIEW secret AS SELECT * FROM visits", "CREATE TABLE empty (age int)")
    right, table = visits.address("visits"), visits.address
    guest = visits.address("visits", GUEST)
    cases = {
        right.replace("/office", "/ofice"): 'database "ofice" does not exist',
        right.replace("127.0.0.1", "nowhere.invalid"): "the host is not known",
        right.replace(str(visits.port), "1"): "no server accepts connections there",
        right.replace("clerk@", "nobody@"): "the server asks for a password",
        right.replace("?table", "?foo=bar&table"): 'invalid URI query parameter: "foo"',
        table(
            "vists"
        ): "there is no such table or view, or this user may not see it. Did you mean 'visits'?",
        table("pub.visits"): "there is no such table",
        guest: "permission denied for table visits",
        table("secret", GUEST): "permission denied for view secret",
        table("empty"): "has column names but no rows",
    }
    for address, words in cases.items():
        done = call("inspect", address)
        assert (done.exit_code, done.stdout) == (2, ""), address
        assert words in done.stderr, address
        assert done.stderr.startswith("Error: ")
        assert done.stderr.count("\n") == 1
    monkeypatch.setenv("PGPASSWORD", "wrong-Geheim")
    done = call("inspect", right)
    assert done.exit_code == 2
    assert "the server did not accept the password of the user" in done.stderr
    assert "wrong-Geheim" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_rights_are_checked_before_any_work(visits: Server, policy: Path) -> None:
    visits.run("GRANT SELECT ON visits TO guest")
    visits.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC", user=OWNER)
    source = visits.address("visits", GUEST)
    steps: list[object] = []
    with pytest.raises(InputError, match="no right to create tables in the schema 'public'"):
        shoal.run(source, policy, visits.address("pub", GUEST), progress=steps.append)
    shoal.run(visits.address("visits"), policy, visits.address("pub"))
    visits.run("GRANT CREATE ON SCHEMA public TO guest", user=OWNER)
    with pytest.raises(InputError, match="belongs to another user"):
        shoal.run(source, policy, visits.address("pub", GUEST), force=True, progress=steps.append)
    assert steps == []


def test_a_missing_driver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    done = call("inspect", "postgresql://127.0.0.1:1/office?table=visits")
    assert done.exit_code == 2
    assert "pip install 'shoal[database]'" in done.stderr


def test_spark_is_told_apart(visits: Server, policy: Path) -> None:
    for source, target in (
        ("visits.csv", visits.address("pub")),
        (visits.address("visits"), "o.csv"),
    ):
        done = call("run", source, policy, "-o", target, "--engine", "spark")
        assert done.exit_code == 2
        assert "no databases" in done.stderr or "does not exist" in done.stderr
