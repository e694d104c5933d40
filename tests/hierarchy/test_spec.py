import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from shoal.errors import HierarchyError, PolicyError
from shoal.hierarchy import HierarchySpec, parse_spec
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.explicit import Tree
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        ("race.csv", CsvFile("race.csv")),
        (Path("folder/race.csv"), CsvFile("folder/race.csv")),
        ({"csv": "race.csv", "separator": ","}, CsvFile("race.csv", ",")),
        ({"intervals": [5, 10, 20], "from": 20}, Intervals((5, 10, 20), from_=20)),
        ({"intervals": [0.5]}, Intervals((0.5,))),
        ({"mask": "right"}, Mask("right")),
        ({"date": ["month", "year", "decade"]}, DateParts(("month", "year", "decade"))),
        ({"tree": {"any": ["a", "b"]}}, Tree({"any": ["a", "b"]})),
        (Mask("left"), Mask("left")),
    ],
)
def test_every_form(value: Any, spec: HierarchySpec) -> None:
    assert parse_spec(value) == spec


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            None,
            "hierarchy: found None. Write the path of a CSV file, or one of {intervals: [5, 10]}",
        ),
        (["a"], "hierarchy: found ['a']. Write the path"),
        ({}, "hierarchy: found no key; one of csv, intervals, mask, date, tree is needed."),
        ({"interval": [5]}, "hierarchy: found 'interval'; one of csv,"),
        ({"interval": [5]}, "is needed. Did you mean 'intervals'?"),
        ({"mask": "right", "date": ["year"]}, "hierarchy: found mask and date; a column has one"),
        ({"mask": "right", "fom": 1}, "found the key 'fom' beside 'mask'; allowed is mask."),
        (
            {"intervals": [5], "form": 1},
            "'form' beside 'intervals'; allowed are intervals, from. Did you mean 'from'?",
        ),
        (
            {"mask": "rihgt"},
            "hierarchy: mask: found 'rihgt'; allowed is 'right' or 'left'. Did you mean 'right'?",
        ),
        ({"date": ["mnth"]}, "hierarchy: date: found 'mnth'; allowed is a list out of day, month,"),
        ({"date": ["mnth"]}, "Did you mean 'month'?"),
        ({"date": "month"}, "hierarchy: date: found 'month'; allowed is a list"),
        (
            {"intervals": ["x"]},
            "hierarchy: intervals: found 'x'; allowed is a list of rising widths",
        ),
        ({"intervals": 5}, "hierarchy: intervals: found 5; allowed is a list of rising widths"),
        ({"intervals": [5], "from": "x"}, "hierarchy: intervals: found 'x'"),
        ({"intervals": [float("nan")]}, "hierarchy: intervals: found nan"),
        ({"csv": 5}, "hierarchy: csv: found 5; allowed is the path of a file"),
    ],
)
def test_what_cannot_be_meant_is_said(value: Any, message: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(message)):
        parse_spec(value)


def test_what_is_no_tree_is_said_as_such() -> None:
    with pytest.raises(HierarchyError, match="no multiple of"):
        parse_spec({"intervals": [5, 12]})
    with pytest.raises(HierarchyError, match="'x' has two parents"):
        parse_spec({"tree": {"a": ["x"], "b": ["x"]}})


def test_a_policy_writes_what_it_reads() -> None:
    dump = TypeAdapter(Intervals).dump_python(Intervals((5, 10), from_=2), by_alias=True)
    assert parse_spec(dump) == Intervals((5, 10), from_=2)


def test_the_tree_alone_is_cheap_to_import() -> None:
    code = (
        "import sys, shoal.hierarchy.tree; "
        "print(sorted({'pyarrow', 'pydantic', 'numba'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        __import__("shoal.hierarchy").hierarchy.nothing  # noqa: B018
