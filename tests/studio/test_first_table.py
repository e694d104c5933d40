"""The table that the studio is started with, where an answer is wanting to open it."""

from pathlib import Path

import pytest

from shoal.errors import InputError
from shoal.studio.server import serve
from tests.studio.process import studio
from tests.studio.steps import entered


def test_what_is_wanting_is_asked_for(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    rows = "".join(f"{i},{20 + i % 30},{i % 2}\n" for i in range(90))
    table.write_text(f'"",age,sex\n{rows}', encoding="utf-8")
    with studio(table) as running, entered(running) as opened:
        opened.page.click("#name-it")
        opened.page.wait_for_selector(".table-name:has-text('r.csv · 90 rows, 3 columns')")


@pytest.mark.parametrize("content", [None, '"age",\n1,2\n', ""])
def test_what_cannot_be_opened_is_refused_before_the_studio_starts(
    tmp_path: Path, content: str | None
) -> None:
    table = tmp_path / "t.csv"
    if content is not None:
        table.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.csv"):
        serve(str(table), None, browser=False, ready=lambda address: pytest.fail(address))
