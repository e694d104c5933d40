"""The public names are those that are written down: none goes or changes by accident."""

from pathlib import Path

from tests.api.public_names import lines


def test_the_public_names_are_those_that_are_listed() -> None:
    listed = Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").splitlines()
    found = list(lines())
    assert found == listed, (
        "a public name or parameter changed. If it is meant, `docs/versions.md` says what that "
        "takes; then run `python -m tests.api.public_names > tests/api/public_names.txt`"
    )
