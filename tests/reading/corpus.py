"""A corpus of awkward text files, each with the table that a person would write down.

Files are made here, byte by byte. `table` has the texts of every cell (None where it is missing);
`read` is what must be said to read the file, and `asks` what is asked when it is not said.
"""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Cells = Mapping[str, Sequence[str | None]]
PLAIN: Cells = {"name": ["Ann", "Zoë", None], "age": ["31", "36", "35"]}
ROWS = "Ann,31\nZoë,36\n,35\n"


@dataclass(frozen=True)
class Awkward:
    """A file, and what it means."""

    data: bytes
    table: Cells
    read: Mapping[str, Any] = field(default_factory=dict)
    asks: str = ""
    """Part of the question without `read`; empty where there is none."""
    ending: str = ".csv"


def _many_columns() -> Awkward:
    names = [f"c{i}" for i in range(5000)]
    lines = [",".join(names), *(",".join(f"{row}{i % 7}" for i in range(5000)) for row in (1, 2))]
    table: Cells = {name: [f"1{i % 7}", f"2{i % 7}"] for i, name in enumerate(names)}
    return Awkward("\n".join(lines).encode(), table)


TOTALS = "town,age,n\nMons,31,4\nHuy,36,2\nAth,35,1\nMons,33,9\nTotal,,16\n"
PEOPLE: Cells = {
    "town": ["Mons", "Huy", "Ath", "Mons"],
    "age": ["31", "36", "35", "33"],
    "n": ["4", "2", "1", "9"],
}
WITH_TOTAL = {
    name: [*PEOPLE[name], last] for name, last in zip(PEOPLE, ("Total", None, "16"), strict=True)
}
HEADERLESS = "Ann,31,F\nBen,36,M\nCem,35,M\nDan,61,M\nEva,64,F\nFay,62,F\n"
FIRST = {
    "column1": ["Ann", "Ben", "Cem", "Dan", "Eva", "Fay"],
    "column2": ["31", "36", "35", "61", "64", "62"],
    "column3": ["F", "M", "M", "M", "F", "F"],
}

HIDING = 'name,town,age\nAnn,  "x,31\nBen,Huy,36\nCas,Ans",41\nDan,Huy,47\n'
CORPUS: dict[str, Awkward] = {
    "utf-8": Awkward(("name,age\n" + ROWS).encode(), PLAIN),
    "utf-8 with a byte order mark": Awkward(("name,age\n" + ROWS).encode("utf-8-sig"), PLAIN),
    "utf-16": Awkward(("name,age\n" + ROWS).encode("utf-16"), PLAIN),
    "utf-16 without a mark": Awkward(("name,age\n" + ROWS).encode("utf-16-le"), PLAIN),
    "windows-1252": Awkward(("name,age\n" + ROWS).encode("cp1252"), PLAIN),
    "gzipped": Awkward(gzip.compress(("name,age\n" + ROWS).encode()), PLAIN, ending=".csv.gz"),
    "carriage returns": Awkward(("name,age\n" + ROWS).replace("\n", "\r\n").encode(), PLAIN),
    "old carriage returns": Awkward(("name,age\n" + ROWS).replace("\n", "\r").encode(), PLAIN),
    "no line end at the end": Awkward(("name,age\n" + ROWS).rstrip().encode(), PLAIN),
    "blank lines": Awkward(
        b"name,age\n\nAnn,31\n\n\nBen,36\n\n", {"name": ["Ann", "Ben"], "age": ["31", "36"]}
    ),
    "semicolons": Awkward(
        b"name;wage\nAnn;1,5\nBen;2\n", {"name": ["Ann", "Ben"], "wage": ["1,5", "2"]}
    ),
    "tabs": Awkward(b"name\tage\nAnn\t31\n", {"name": ["Ann"], "age": ["31"]}, ending=".tsv"),
    "bars": Awkward(b"name|age\nAnn|31\nBen|36\n", {"name": ["Ann", "Ben"], "age": ["31", "36"]}),
    "single quotes": Awkward(
        b"name;town\n'A;B';Mons\n'C''D';Huy\n",
        {"name": ["A;B", "C'D"], "town": ["Mons", "Huy"]},
        {"quote": "'"},
    ),
    "quoted line ends": Awkward(
        b'name,note\nAnn,"two\nlines"\nBen,"a ""b"""\n',
        {"name": ["Ann", "Ben"], "note": ["two\nlines", 'a "b"']},
    ),
    "quotes after blanks": Awkward(
        b'name, "home, town" ,age\nAnn,  "Mons, B" , 31\n   "Ben, ""B""","Huy\nB", 36\n'
        b'"Cas", Ans ,"41"  \n',
        {
            "name": ["Ann", 'Ben, "B"', "Cas"],
            "home, town": ["Mons, B", "Huy\nB", " Ans "],
            "age": [" 31", " 36", "41"],
        },
    ),
    "quotes after blanks in an old encoding": Awkward(
        "name; town\nAnn; 'Brüssel; B'\nBen; 'Lüttich'\n".encode("cp1252"),
        {"name": ["Ann", "Ben"], " town": ["Brüssel; B", "Lüttich"]},
        {"quote": "'"},
    ),
    "a quote after blanks by which rows are one field": Awkward(
        HIDING.encode(),
        {
            "name": ["Ann", "Dan"],
            "town": ["x,31\nBen,Huy,36\nCas,Ans", "Huy"],
            "age": ["41", "47"],
        },
        {"quote": '"'},
        "may hide whole rows",
    ),
    "quotes without a meaning, after blanks": Awkward(
        HIDING.encode(),
        {
            "name": ["Ann", "Ben", "Cas", "Dan"],
            "town": ['  "x', "Huy", 'Ans"', "Huy"],
            "age": ["31", "36", "41", "47"],
        },
        {"quote": ""},
        "may hide whole rows",
    ),
    "quoted separators": Awkward(
        b'name,town\n"Ann, A.",Mons\n', {"name": ["Ann, A."], "town": ["Mons"]}
    ),
    "an empty text and a missing one": Awkward(
        b'a,b\n"",1\n,2\n', {"a": ["", None], "b": ["1", "2"]}
    ),
    "leading zeros": Awkward(
        b"zip,n\n02138,1\n00123,2\n", {"zip": ["02138", "00123"], "n": ["1", "2"]}
    ),
    "blanks around values": Awkward(b"a,b\n x ,1\n", {"a": [" x "], "b": ["1"]}),
    "five thousand columns": _many_columns(),
    "a total row that is left out": Awkward(
        TOTALS.encode(), PEOPLE, {"footer": 1}, "the last line looks like the totals"
    ),
    "a total row that is kept": Awkward(
        TOTALS.encode(), WITH_TOTAL, {"footer": 0}, "the last line looks like the totals"
    ),
    "no header": Awkward(
        HEADERLESS.encode(), FIRST, {"header": False}, "the first line looks like data"
    ),
    "no header, but names": Awkward(
        HEADERLESS.encode(),
        dict(zip(("name", "age", "sex"), FIRST.values(), strict=True)),
        {"names": ["name", "age", "sex"]},
        "the first line looks like data",
    ),
    "a header of numbers": Awkward(
        b"31,36\n1,2\n3,4\n",
        {"31": ["1", "3"], "36": ["2", "4"]},
        {"header": True},
        "looks like data",
    ),
    "years as names": Awkward(
        b"town,2019,2020\nMons,5,6\nHuy,7,8\n",
        {"town": ["Mons", "Huy"], "2019": ["5", "7"], "2020": ["6", "8"]},
    ),
    "names given twice": Awkward(
        b"a,a\n1,2\n",
        {"x": ["1"], "y": ["2"]},
        {"header": True, "names": ["x", "y"]},
        "columns 1 and 2 have the same name",
    ),
}
"""By what is awkward about them."""
