"""The documentation site: its pages gathered, built by zensical without the network, and checked.

    python -m docs.website

Pages are plain Markdown that also reads well on a code host. Gathering them adds the generated reference
and the pages beside `docs/`, and adapts links. The site is in `build/site`, its pages in `build/docs`.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = ROOT / "build" / "docs"
SITE = ROOT / "build" / "site"
BESIDE = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarks.md",
}
"""Pages of the project outside of `docs/`, and where they stand in the site."""
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"(?<!\\)(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
PICTURE = re.compile(
    r'<picture>\s*<source[^>]*srcset="(?P<dark>[^"]+)"[^>]*>\s*'
    r'<img (?P<rest>[^>]*?)src="(?P<light>[^"]+)"(?P<more>[^>]*)>\s*</picture>'
)


# Gathering


def gather(pages: Path = PAGES) -> Path:
    """Write all pages of the site, links adapted, into an empty folder."""
    from docs import reference

    shutil.rmtree(pages, ignore_errors=True)
    for path, name in _places().items():
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            text = adapted(path.read_text(encoding="utf-8"), path)
            target.write_text(text, encoding="utf-8")
        else:
            shutil.copyfile(path, target)
    for name, text in reference.pages().items():
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return pages


@cache
def _places() -> dict[Path, str]:
    """Every file of the site that is not generated, and its path there."""
    found = {
        path: path.relative_to(DOCS).as_posix().replace("README.md", "index.md")
        for path in sorted(DOCS.rglob("*"))
        if path.is_file() and path.suffix != ".py" and "__pycache__" not in path.parts
    }
    return found | {ROOT / path: name for path, name in BESIDE.items()}


def adapted(text: str, path: Path) -> str:
    """A page as the site needs it: its links, its pictures, and a blank line before every list."""
    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [_adapted_prose(text[last : fence.start()], path), fence[0]]
        last = fence.end()
    return "".join([*parts, _adapted_prose(text[last:], path)])


def _adapted_prose(text: str, path: Path) -> str:
    text = re.sub(r"^<!-- (?:tested|prints|file: [^>]+) -->\n", "", text, flags=re.M)
    text = PICTURE.sub(_two_pictures, text)
    # CommonMark lets a list follow a paragraph at once, the Markdown of the site does not
    text = re.sub(r"^((?![-*] |\d+\. |\s|\||<).+\n)(?=(?:- |1\. ))", r"\1\n", text, flags=re.M)
    return LINK.sub(lambda link: _adapted_link(link, path), text)


def _two_pictures(found: re.Match[str]) -> str:
    """A picture for light and one for dark pages: the site has a switch of its own for these."""
    return "\n".join(
        f'<img {found["rest"]}src="{found[scheme]}#only-{scheme}"{found["more"]}>'
        for scheme in ("light", "dark")
    )


def _adapted_link(link: re.Match[str], path: Path) -> str:
    """A link to where its target stands in the site; words alone if it is no page of it."""
    mark, words, target = link.groups()
    address, sharp, anchor = target.partition("#")
    if "://" in address or not address:
        return link[0]
    wanted = (path.parent / address).resolve()
    places = _places()
    here = places[path]
    if wanted in places:
        relative = os.path.relpath(places[wanted], Path(here).parent)
        return f"{mark}[{words}]({Path(relative).as_posix()}{sharp}{anchor})"
    if wanted.is_relative_to(DOCS / "reference"):
        return link[0]
    return words


# Building


def build() -> None:
    """Build the site from the gathered pages; a warning of zensical is an error."""
    shutil.rmtree(SITE, ignore_errors=True)
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


# Checking


@dataclass
class Parsed(HTMLParser):
    """What a page offers and needs: its anchors, its links, and what the browser loads for it."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what is of interest of a tag."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {
            values[name] for name in ("id", "name") if name in values and tag != "meta"
        }
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and values.get("rel") not in ("canonical", "next", "prev"):
            self.loads.append(values.get("href", ""))
        self.loads += [values[name] for name in ("src", "data-src") if values.get(name)]


def check(site: Path = SITE) -> list[str]:
    """What is wrong with a built site: links and anchors that lead nowhere, anything from outside,
    and pages that no page links to."""
    parsed = {}
    for path in sorted(site.rglob("*.html")):
        parsed[path] = Parsed()
        parsed[path].feed(path.read_text(encoding="utf-8"))
    problems, reached = [], set()
    for path, page in parsed.items():
        name = path.relative_to(site).as_posix()
        for target in page.loads:
            if urlsplit(target).netloc:
                problems.append(f"{name} loads {target}")
        for link in [*page.links, *page.loads]:
            address = urlsplit(link)
            if address.scheme or address.netloc or path.name == "404.html":
                continue
            wanted = _file(path, unquote(address.path))
            if not wanted.exists():
                problems.append(f"{name} links to {link}, which does not exist")
                continue
            if wanted != path:
                reached.add(wanted)
            anchor = unquote(address.fragment)
            is_heading = anchor and wanted in parsed and not anchor.startswith("only-")
            if is_heading and anchor not in parsed[wanted].anchors:
                problems.append(f"{name} links to {link}, which has no such heading")
    made = {(site / path.relative_to(PAGES)).with_suffix(".html") for path in PAGES.rglob("*.md")}
    unlinked = made & set(parsed) - reached - {site / "index.html"}
    problems += [f"{path.relative_to(site)} is linked from no page" for path in sorted(unlinked)]
    return [*problems, *_styles_from_outside(site)]


def _file(page: Path, address: str) -> Path:
    """The file behind a link of a page."""
    if not address:
        return page
    wanted = (page.parent / address).resolve()
    return wanted / "index.html" if wanted.is_dir() else wanted


def _styles_from_outside(site: Path) -> Iterator[str]:
    for path in site.rglob("*.css"):
        for found in re.findall(
            r"url\(\s*['\"]?(https?:[^)'\"]+)", path.read_text(encoding="utf-8")
        ):
            yield f"{path.relative_to(site)} loads {found}"


if __name__ == "__main__":
    gather()
    build()
    wrong = check()
    if wrong:
        sys.exit("\n".join(wrong))
    number = len(list(SITE.rglob("*.html")))
    print(f"The site is in {SITE.relative_to(ROOT)}: {number} pages, all links lead somewhere.")
