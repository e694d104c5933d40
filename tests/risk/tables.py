"""Random tables of every type, with names that speak and names that do not."""

import datetime
from decimal import Decimal

import pyarrow as pa
from hypothesis import strategies as st

NAMES = ["name", "id", "age", "sex", "zip", "birth", "salary", "disease", "protection_level", "x"]
ODD = ["no", "2020", "a: b", 'say "hi"', "tab\there", "zwei\nZeilen", "#", "-", " ", "ключ", "🐟"]
ODD += ["null", "{a}", "[b]", "*", "&c", "!d", "%", "@e", "back\\slash", "o'clock", "a,b", "~", "="]

VALUES = [
    (pa.string(), st.sampled_from(["a", "b", "c", "", " ", "*", "[1~2]"])),
    (pa.string(), st.integers(-5, 200).map(str)),
    (pa.string(), st.integers(0, 99999).map("{:05d}".format)),
    (pa.string(), st.dates(datetime.date(1, 1, 1)).map(str)),
    (pa.string(), st.sampled_from(["1e999", "2.5", "-3", "+4"])),
    (pa.string(), st.text(st.characters(codec="utf-8"), max_size=60)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.int16(), st.integers(0, 9)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.date32(), st.dates()),
    (pa.timestamp("us"), st.datetimes(datetime.datetime(1700, 1, 1))),
    (pa.time64("us"), st.times()),
    (pa.decimal128(12, 2), st.integers(-999, 999).map(lambda n: Decimal(n) / 4)),
    (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["u", "v", "w"])),
    (pa.binary(), st.binary(max_size=3)),
    (pa.list_(pa.int64()), st.lists(st.integers(0, 2), max_size=2)),
    (pa.duration("s"), st.integers(0, 99).map(lambda s: datetime.timedelta(seconds=s))),
    (pa.null(), st.none()),
]


@st.composite
def tables(draw, min_rows=0, names=(*NAMES, *ODD)):
    n = draw(st.integers(min_rows, 40))
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    columns = {}
    for name in chosen:
        kind, values = draw(st.sampled_from(VALUES))
        maybe = st.one_of(st.none(), values) if draw(st.booleans()) else values
        columns[name] = pa.array(draw(st.lists(maybe, min_size=n, max_size=n)), kind)
    return pa.table(columns)
