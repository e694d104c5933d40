"""The hash that cuts a folder into parts is Spark's own."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from shoal.engines.spark.row_hashes import xxhash64
from shoal.engines.spark.session import SparkTables


def some_values(n: int) -> pa.Table:
    rng = np.random.default_rng(n)
    whole = rng.integers(-(2**63), 2**63 - 1, n)
    texts = ["ä" * int(size) + str(i) for i, size in enumerate(rng.integers(0, 40, n))]
    floats = np.where(rng.random(n) < 0.3, -0.0, rng.normal(size=n))
    floats[: n // 10] = np.nan
    begin = datetime(1950, 1, 1, tzinfo=UTC)
    times = [begin + timedelta(microseconds=int(v) >> 12) for v in whole]
    wide = [Decimal(int(v)).scaleb(-3) * (10**15 if i % 2 else 1) for i, v in enumerate(whole)]
    columns = {
        "text": pa.array(texts),
        "bytes": pa.array([text.encode()[: i % 70] for i, text in enumerate(texts)], pa.binary()),
        "truth": pa.array(whole > 0),
        **{f"int{b}": pa.array(whole >> (64 - b)).cast(f"int{b}") for b in (8, 16, 32, 64)},
        "single": pa.array(floats.astype(np.float32)),
        "double": pa.array(floats),
        "short": pa.array([Decimal(int(v) >> 12).scaleb(-2) for v in whole], pa.decimal128(18, 2)),
        "wide": pa.array(wide, pa.decimal128(38, 3)),
        "day": pa.array([date(1900, 1, 1) + timedelta(days=int(v) % 90_000) for v in whole]),
        "time": pa.array(times, pa.timestamp("us", "UTC")),
    }
    gaps = {
        name: pa.array(column.to_pylist(), column.type, mask=rng.random(n) < 0.2, from_pandas=False)
        for name, column in columns.items()
    }
    return pa.table(gaps)


@pytest.mark.parametrize("n", [20, 700])
def test_hashes_are_those_of_spark(session: SparkTables, n: int) -> None:
    table = some_values(n)
    frame = session._spark.createDataFrame(table)
    for names in ([name] for name in table.column_names), [table.column_names]:
        for some in names:
            theirs = frame.selectExpr(f"xxhash64({', '.join(some)}) AS h").toArrow().column("h")
            columns = [table.column(name).combine_chunks() for name in some]
            assert xxhash64(n, columns).tolist() == theirs.to_pylist(), some
            coded = [column.dictionary_encode() for column in columns]
            plain = [
                c if pa.types.is_floating(c.type) else d
                for c, d in zip(columns, coded, strict=True)
            ]
            assert xxhash64(n, plain).tolist() == theirs.to_pylist(), some
