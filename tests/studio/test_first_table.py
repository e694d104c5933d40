"""The table that the studio is started with."""

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.studio.server import serve


@pytest.mark.parametrize("content", [None, '"age",\n1,2\n', ""])
def test_what_cannot_be_opened_is_refused_before_the_studio_starts(
    tmp_path: Path, content: str | None
) -> None:
    table = tmp_path / "t.csv"
    if content is not None:
        table.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.csv"):
        serve(str(table), None, browser=False, ready=lambda address: pytest.fail(address))
