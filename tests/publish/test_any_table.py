"""Whatever a table holds, its labels can be read back and cover the values under them."""

from datetime import date
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import shoal
from tests import naive
from tests.examples import examples
from tests.releases import raw_text, text_rows

TRICKY = [
    "*",
    "**",
    "[1~2]",
    "{a, b}",
    "a, b",
    "\\",
    "\\*",
    "a\\",
    "<missing>",
    "",
    " ",
    ", ",
    "12*",
]
TRICKY += [
    "{",
    "}",
    "[",
    "]",
    "~",
    "[30-35)",
    "Ж",
    "日本",
    "e\u0301",
    "\u00e9",
    "\n",
    '"',
    "null",
    "0",
]
words = st.sampled_from(TRICKY) | st.text(alphabet="*\\[]{},~<> ab", max_size=4)
METHODS: list[Any] = [
    "least-loss-partition",
    "flexible-partition",
    {"name": "flexible-partition", "dimension": "widest"},
    {"name": "mondrian", "strict": False},
    "bottom-up",
]


def columns_of(n: int) -> st.SearchStrategy[dict[str, list[Any]]]:
    def column(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(st.none() | values, min_size=n, max_size=n).filter(
            lambda found: any(value is not None for value in found)
        )

    return st.fixed_dictionaries(
        {
            "words": column(words),
            "code": column(st.text(alphabet="*\\ab0", max_size=4)),
            "number": column(st.integers(-(10**20), 10**20) | st.integers(-5, 5)),
            "part": column(st.floats(allow_nan=False, allow_infinity=False)),
            "day": column(st.dates(date(1, 1, 1), date(9999, 12, 31))),
            "yes": column(st.booleans()),
            "step": column(st.integers(-30, 30) | st.decimals(-30, 30, places=1)),
            "visit": column(st.dates(date(1000, 1, 1), date(2029, 12, 31))),
        }
    )


tables = st.integers(2, 12).flatmap(columns_of)
COLUMNS: dict[str, Any] = {
    "words": {"role": "quasi", "kind": "unordered"},
    "code": {"role": "quasi", "hierarchy": {"mask": "right"}},
    "number": {"role": "quasi", "kind": "ordered"},
    "part": {"role": "quasi", "kind": "ordered"},
    "day": {"role": "quasi", "kind": "ordered"},
    "yes": "quasi",
    "step": {"role": "quasi", "hierarchy": {"intervals": [2.5, 5, 20], "from": 1}},
    "visit": {"role": "quasi", "hierarchy": {"date": ["month", "quarter", "year", "decade"]}},
}


def arrow(raw: dict[str, list[Any]]) -> pa.Table:
    # numbers of any size and with any places, as a file would hold them
    as_text = {name: [raw_text(v) for v in raw[name]] for name in ("number", "step")}
    return pa.table({name: pa.array(values) for name, values in (raw | as_text).items()})


def release_of(raw: dict[str, list[Any]], method: Any, k: int, order: str) -> pa.Table:
    asked = {"columns": COLUMNS, "constraints": [{"k": k}], "method": method, "order": order}
    return shoal.anonymize(arrow(raw), asked).table


@examples(20)
@given(raw=tables, method=st.sampled_from(METHODS))
def test_nothing_generalised_reads_back_as_the_raw_value(raw: dict[str, Any], method: Any) -> None:
    table = release_of(raw, method, 1, "kept")
    for name in ("words", "code", "day", "yes", "step", "visit"):
        labels = table[name].to_pylist()
        read = [None if lab is None else naive.plain(naive.pieces(lab)) for lab in labels]
        texts = [raw_text(value) for value in raw[name]]
        assert read == texts
        assert len(set(labels)) == len(set(texts)), "distinct values keep distinct labels"
    for name, number in (("number", int), ("part", float)):
        numbers = [None if lab is None else number(lab) for lab in table[name].to_pylist()]
        assert numbers == raw[name]


@examples(30)
@given(raw=tables, method=st.sampled_from(METHODS), k=st.integers(2, 5))
def test_labels_cover_just_what_is_under_them(raw: dict[str, Any], method: Any, k: int) -> None:
    k = min(k, len(raw["words"]))
    table = release_of(raw, method, k, "kept")
    names = list(COLUMNS)
    rows = text_rows(table.select(names))
    assert min(naive.counts_by_class(rows, range(len(names))).values()) >= k
    for name in names:
        under: dict[str | None, set[Any]] = {}
        for label, value in zip(table[name].to_pylist(), raw[name], strict=True):
            under.setdefault(label, set()).add(value)
        for label, values in under.items():
            check_label(name, label, values)


def check_label(name: str, label: str | None, values: set[Any]) -> None:
    tree = visits(values) if name == "visit" else None
    assert all(naive.inside(label, precise(value), tree) for value in values), (name, label)
    if label is None or label == "*" or name in ("step", "visit"):
        return
    found = naive.pieces(label)
    if name in ("words", "yes") and found[:1] == [("{", False)]:
        assert naive.members(found[1:-1]) == {raw_text(value) for value in values}
    elif found[:1] == [("[", False)]:
        ends = [naive.place(naive.plain(end), None) for end in naive.split_at(found[1:-1], "~")]
        places = {naive.place(str(precise(value)), None) for value in values}
        assert ends == [min(places), max(places)], "no wider than it must be"
    elif ("*", False) not in found:
        assert len(values) == 1, "a label that is no label stands for one value"


def visits(days: set[Any]) -> dict[str, set[str]]:
    """The days under each month, quarter, year and decade."""
    nodes: dict[str, set[str]] = {}
    for day in days - {None}:
        quarter = f"{day.year}-Q{(day.month + 2) // 3}"
        for node in (f"{day:%Y-%m}", quarter, f"{day.year}", f"{day.year // 10 * 10}s"):
            nodes.setdefault(node, set()).add(day.isoformat())
    return nodes


def precise(value: Any) -> str | None:
    """As `raw_text`, but with every digit of a large float."""
    if isinstance(value, float) and abs(value) >= 2**53:
        return repr(value)
    return "0" if value == 0 and isinstance(value, float) else raw_text(value)


@examples(20)
@given(raw=tables, method=st.sampled_from(METHODS), k=st.integers(1, 4), data=st.data())
def test_the_order_of_the_input_gives_nothing_away(
    raw: dict[str, Any], method: Any, k: int, data: st.DataObject
) -> None:
    n = len(raw["words"])
    moved = data.draw(st.permutations(range(n)))
    turned = {name: [values[i] for i in moved] for name, values in raw.items()}
    first = release_of(raw, method, min(k, n), "sorted")
    assert release_of(turned, method, min(k, n), "sorted").equals(first)
