import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from shoal.errors import HierarchyError, PolicyError
from shoal.hierarchy import Hierarchy, parse_hierarchy
from shoal.hierarchy.csv_file import CsvFile
from shoal.hierarchy.dates import DateParts
from shoal.hierarchy.intervals import Intervals
from shoal.hierarchy.mask import Mask
from shoal.hierarchy.nested import NestedTree


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        ("race.csv", CsvFile("race.csv")),
        (Path("folder/race.csv"), CsvFile("folder/race.csv")),
        ({"csv": "race.csv", "separator": ","}, CsvFile("race.csv", ",")),
        ({"intervals": [5, 10, 20], "from": 20}, Intervals((5, 10, 20), start=20)),
        ({"intervals": [0.5]}, Intervals((0.5,))),
        ({"mask": "right"}, Mask("right")),
        ({"date": ["month", "year", "decade"]}, DateParts(("month", "year", "decade"))),
        ({"tree": {"any": ["a", "b"]}}, NestedTree({"any": ["a", "b"]})),
        (Mask("left"), Mask("left")),
    ],
)
def test_every_form(value: Any, spec: Hierarchy) -> None:
    assert parse_hierarchy(value) == spec


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
        ({"mask": "right", "fom": 1}, "found the key 'fom' next to 'mask'; allowed is mask."),
        (
            {"intervals": [5], "form": 1},
            "'form' next to 'intervals'; allowed are intervals, from. Did you mean 'from'?",
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
        parse_hierarchy(value)


def test_what_is_no_tree_is_said_as_such() -> None:
    with pytest.raises(HierarchyError, match="not a multiple of"):
        parse_hierarchy({"intervals": [5, 12]})
    with pytest.raises(HierarchyError, match="'x' has two parents"):
        parse_hierarchy({"tree": {"a": ["x"], "b": ["x"]}})


def test_a_policy_writes_what_it_reads() -> None:
    spec = Intervals((5, 10), start=2)
    assert parse_hierarchy(spec.to_plain()) == spec


def test_the_public_class_is_cheap_to_import() -> None:
    code = (
        "import sys; from shoal.hierarchy import Hierarchy; "
        "print(sorted({'pyarrow', 'pydantic', 'numba'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_no_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        __import__("shoal.hierarchy").hierarchy.nothing  # noqa: B018
