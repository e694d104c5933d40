"""A small table of people, and a policy for it."""

import datetime

import numpy as np
import pyarrow as pa

POLICY = """
columns:
  name: identifier
  age: quasi
  town: quasi
  disease: sensitive
  admitted: plain
  weight: plain
constraints: [{k: 5}, {l: 2, of: disease}]
seed: 7
"""


def people(rows: int = 400) -> pa.Table:
    draw = np.random.default_rng(5)
    towns = ["Ath", "Mons", 'Huy "old"', "Liège, 1", None]
    ills = ["flu", "asthma", "it's", "cancer"]
    day = datetime.date(2020, 1, 1)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": pa.array(draw.integers(18, 90, rows), pa.int32()),
            "town": [towns[i] for i in draw.integers(0, 5, rows)],
            "disease": [ills[i] for i in draw.integers(0, 4, rows)],
            "admitted": [day + datetime.timedelta(int(i)) for i in draw.integers(0, 90, rows)],
            "weight": pa.array(draw.integers(300, 1200, rows) / 10),
        }
    )
