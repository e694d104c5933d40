"""The documentation site builds without the network, and every link in it leads somewhere."""

import re
from pathlib import Path

import pytest
from docs import reference, website

import shoal
from shoal.policy import Column, Policy


@pytest.fixture(scope="module")
def site() -> Path:
    website.gather()
    website.build()
    return website.SITE


def test_every_link_leads_somewhere_and_nothing_comes_from_outside(site: Path) -> None:
    assert website.check(site) == []
    assert (site / "index.html").exists()


def test_the_check_finds_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h1 id="a"></h1><a href="other.html#gone">x</a><a href="missing.html">x</a>'
        '<script src="https://example.org/x.js"></script><img src="none.png">'
    )
    (tmp_path / "other.html").write_text('<a href="index.html#a">x</a>')
    (tmp_path / "style.css").write_text("a { background: url('https://example.org/x.png') }")
    assert website.check(tmp_path) == [
        "index.html loads https://example.org/x.js",
        "index.html links to other.html#gone, which has no such heading",
        "index.html links to missing.html, which does not exist",
        "index.html links to none.png, which does not exist",
        "style.css loads https://example.org/x.png",
    ]


def test_pages_are_adapted() -> None:
    page = website.DOCS / "how-it-works.md"
    links = "[all](../CONTRIBUTING.md#glossary), [code](../LICENSE)\n"
    text = f"Words:\n- one\n- two\n\n```text\nWords:\n- one\n```\n{links}"
    assert website.adapted(text, page) == (
        "Words:\n\n- one\n- two\n\n```text\nWords:\n- one\n```\n[all](contributing.md#glossary), code\n"
    )


def test_the_reference_has_every_public_name_and_field() -> None:
    pages = reference.pages()
    api = pages["reference/api.md"]
    lists = "".join(re.findall(r"^\*\*.*$", api, re.M))
    assert set(re.findall(r"\[`(\w+)`\]", lists)) == set(shoal.__all__)
    fields = set(re.findall(r"^\| `(\w+)` \|", pages["reference/policy-fields.md"], re.M))
    assert fields >= set(Policy.model_fields) - {"folder"} | set(Column.model_fields)
    undocumented = re.findall(r"^\| `\w+` \|.*\|  \|$", "\n".join(pages.values()), re.M)
    assert undocumented == []
