"""What is left of the detail, for the page: bars of cells by what they say, and the levels chosen."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shoal.evidence.detail import EVERY_BIN
from shoal.report.formatting import percent, shown

SHADES = {
    "exact": 1.0,
    "one-of-2-3": 0.72,
    "one-of-4-9": 0.5,
    "one-of-many": 0.2,
    "range-5": 0.72,
    "range-20": 0.5,
    "range-50": 0.34,
    "range-wide": 0.2,
    "masked": 0.5,
}
"""How strong a bin is drawn; the others, of cells that say nothing, are grey."""


@dataclass(frozen=True)
class DetailRow:
    """One quasi-identifier."""

    name: str
    parts: list[tuple[str, str, float]]
    """Of each bin its key, its label and its share."""
    exact: str
    typical: str
    labels: str
    ncp: str


@dataclass(frozen=True)
class DetailView:
    """The table of what is left of each column."""

    rows: list[DetailRow]
    legend: list[tuple[str, str]]
    """The bins that occur, by key and label."""
    shades: dict[str, float]
    left_out: int


def detail_view(certificate: Mapping[str, Any], most: int) -> DetailView | None:
    """The table of at most so many columns, those with the fewest exact cells; None without any."""
    columns = certificate["detail"]["columns"]
    if not columns:
        return None
    least = set(sorted(columns, key=lambda name: columns[name]["exact"])[:most])
    chosen = {name: one for name, one in columns.items() if name in least}
    used = {part["key"] for one in chosen.values() for part in one["bins"]}
    return DetailView(
        [_row(name, one, _ncp(certificate, name)) for name, one in chosen.items()],
        [(key, label) for key, label in EVERY_BIN.items() if key in used],
        SHADES,
        len(columns) - len(chosen),
    )


def _ncp(certificate: Mapping[str, Any], name: str) -> str:
    """The mean NCP of a column; nothing where a certificate does not have it."""
    loss = certificate.get("cost", {}).get("columns", {}).get(name, {}).get("loss")
    return "" if loss is None else percent(loss)


def _row(name: str, one: Mapping[str, Any], ncp: str) -> DetailRow:
    rows = max(1, one["rows"])
    return DetailRow(
        shown(name, 60),
        [(part["key"], part["label"], part["rows"] / rows) for part in one["bins"]],
        percent(one["exact"]),
        one["typical"] or "–",
        f"{one['labels']:,}",
        ncp,
    )


def detail_words(detail: Mapping[str, Any]) -> str:
    """`31 % exact, 52 % in ranges, 17 % one of 10 or more values`."""
    return ", ".join(f"{percent(one['share'])} {one['label']}" for one in detail["summary"])


def detail_sentence(detail: Mapping[str, Any]) -> str:
    """`Of the cells in quasi columns 31 % are exact, 52 % in ranges`."""
    words = detail_words(detail).replace(" exact", " are exact", 1)
    return f"Of the cells in quasi columns {words}"


@dataclass(frozen=True)
class LevelRow:
    """The level of one column, and an example."""

    name: str
    level: str
    words: str
    value: str
    label: str


def level_rows(certificate: Mapping[str, Any]) -> list[LevelRow]:
    """The levels that a full-domain method chose; none for other methods."""
    return [
        LevelRow(
            shown(name, 60),
            "" if one["level"] is None else f"{one['level']} of {one['highest']}",
            one["name"],
            "" if one["value"] is None else shown(one["value"], 40),
            "" if one["label"] is None else shown(one["label"], 40),
        )
        for name, one in certificate["levels"].items()
    ]
