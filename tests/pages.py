"""The project's Markdown pages: their code blocks, headings, sections and links."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(page for page in (ROOT / "docs").rglob("*.md") if "reproduction" not in page.parts),
    ]
)
"""Written by hand. The pages of the reproductions are written by their runs."""
FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True)
class Block:
    """A fenced block of code."""

    page: Path
    line: int
    language: str
    body: str
    mark: str
    """The comment right above it: `tested`, `prints`, `file: PATH` or nothing. The examples of a page
    find its files."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """The code blocks of a page, in order."""
    text = read(page)
    return [
        Block(
            page,
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            found["body"],
            found["mark"] or "",
        )
        for found in FENCE.finditer(text)
    ]


def every_block(language: str, mark: str | None = None) -> list[Block]:
    """The code blocks of all pages in a language, and with a mark if one is given."""
    return [
        block
        for page in PAGES
        for block in blocks(page)
        if block.language == language and mark in (None, block.mark)
    ]


def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text(encoding="utf-8")


def section(name: str, heading: str) -> str:
    """The part of a page under the first heading with the words `heading`, up to the next heading of
    the same or a higher rank."""
    text = FENCE.sub(lambda found: found[0].replace("\n#", "\n "), read(ROOT / name))
    begin = re.search(rf"^(#+) .*{re.escape(heading)}\b.*$", text, re.M)
    assert begin, f"{name} has no heading about {heading}"
    end = re.search(rf"^#{{1,{len(begin[1])}}} ", text[begin.end() :], re.M)
    return text[begin.start() : begin.end() + (end.start() if end else len(text))]


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page."""
    text = FENCE.sub("", read(page))
    headings = re.findall(r"^#+ (.+)$", text, re.M)
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def links(page: Path) -> list[str]:
    """The targets of the links of a page."""
    return re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", read(page)))
