"""Databases in files: SQLite and DuckDB."""

import datetime
import os
import re
import signal
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.database.staging import staging
from shoal.engines.files import LocalFiles
from shoal.errors import InputError
from shoal.io.address import Address, place_of
from shoal.verification.digest import digest_of
from tests.database.people import people
from tests.examples import examples

ENDINGS = ["sqlite", "duckdb"]


def rows(file: Path, sql: str) -> list[tuple[Any, ...]]:
    """What others see in a file."""
    if file.suffix == ".sqlite":
        with sqlite3.connect(file) as connection:
            found = connection.execute(sql).fetchall()
        connection.close()
        return found
    with duckdb.connect(str(file)) as connection:
        return connection.execute(sql).fetchall()


def fill(file: Path, *statements: str) -> None:
    for statement in statements:
        rows(file, statement)


@pytest.fixture(params=ENDINGS)
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A database with the people in the table `visits`."""
    return filled(tmp_path / f"office.{request.param}")


def filled(file: Path) -> Path:
    address = place_of(f"{file}?table=visits")
    assert isinstance(address, Address)
    with staging([address], force=False) as staged:
        LocalFiles().write(people(), staged.tables[0])
        staged.describe(["0" * 64])
        staged.move()
    return file


def tables(file: Path) -> set[str]:
    schema = "sqlite_schema WHERE type = 'table'" if file.suffix == ".sqlite" else "duckdb_tables()"
    name = "name" if file.suffix == ".sqlite" else "table_name"
    return {row[0] for row in rows(file, f"SELECT {name} FROM {schema}")} - {"shoal_releases"}


@pytest.mark.parametrize("memory", [None, "500MB"])
def test_a_release_is_the_same_as_that_of_a_file(
    office: Path, policy: Path, tmp_path: Path, memory: str | None
) -> None:
    table = people()
    if office.suffix == ".sqlite":  # which has no dates
        table = table.set_column(4, "admitted", table["admitted"].cast(pa.string()))
    pq.write_table(table, tmp_path / "visits.parquet")
    shoal.run(tmp_path / "visits.parquet", policy, tmp_path / "release.parquet")
    wanted = digest_of(pq.read_table(tmp_path / "release.parquet"))
    source = f"{office}?query=SELECT * FROM visits ORDER BY name DESC"
    for target in (f"{office}?table=pub", f"{tmp_path}/new{office.suffix}?table=pub"):
        shoal.run(source, policy, target, memory=memory)
        assert digest_of(LocalFiles().read(place_of(target))) == wanted
        assert shoal.verify(target, policy, memory=memory).holds
        with pytest.raises(InputError, match=r"exists already\. Pass --force"):
            shoal.run(source, policy, target, memory=memory)
        shoal.run(source, policy, target, memory=memory, force=True)
    comment = (
        "SELECT comment FROM shoal_releases WHERE name = 'pub'"
        if office.suffix == ".sqlite"
        else "SELECT comment FROM duckdb_tables() WHERE table_name = 'pub'"
    )
    assert rows(office, comment)[0][0].endswith(wanted)
    assert tables(office) == {"visits", "pub"}
    assert {each.name for each in tmp_path.iterdir()} == {
        office.name,
        f"new{office.suffix}",
        "policy.yaml",
        "visits.parquet",
        "release.parquet",
    }


def test_the_only_table_need_not_be_named(office: Path, policy: Path) -> None:
    assert shoal.inspect(office).rows == 400
    assert shoal.inspect(f"{office}#visits").rows == 400
    shoal.run(office, policy, f"{office}?table=pub")
    with pytest.raises(InputError, match=r"Name a table of it: \?table=NAME\. It has: pub, visits"):
        shoal.inspect(office)
    with pytest.raises(InputError, match="name the table to write"):
        shoal.run(f"{office}?table=visits", policy, office, force=True)


@pytest.mark.parametrize(
    ("choice", "found"),
    [
        ("?table=vists", r"there is no such table or view\. Did you mean 'visits'\?"),
        ("?query=SELEC 1", "syntax error"),
        ("?query=SELECT nme FROM visits", "nme"),
        ("?query=SELECT 1 AS a, 2 AS a", "more than one column named a"),
        ("?query=DELETE FROM visits RETURNING 1", "syntax error|Only SELECT is allowed"),
        ("?query=SELECT 1; DROP TABLE visits", "one statement|Only SELECT is allowed"),
    ],
)
def test_mistakes_are_one_clear_line(office: Path, choice: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        shoal.inspect(f"{office}{choice}")
    assert re.search(found, str(error.value))
    assert "\n" not in str(error.value)
    assert rows(office, "SELECT count(*) FROM visits") == [(400,)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_no_database(tmp_path: Path, policy: Path, ending: str) -> None:
    file = tmp_path / f"office.{ending}"
    for address in (f"{file}?table=visits", f"{ending}:///{tmp_path}/office?table=visits"):
        with pytest.raises(InputError, match="does not exist"):
            shoal.inspect(address)
    file.write_text("name,age\n" * 5000)
    with pytest.raises(InputError, match=r"is not an? (SQLite|DuckDB) database"):
        shoal.inspect(f"{file}?table=visits")
    with pytest.raises(InputError, match=r"is not an? (SQLite|DuckDB) database"):
        shoal.run(f"{file}?table=visits", policy, f"{file}?table=pub")
    source = tmp_path / "people.parquet"
    pq.write_table(people(), source)
    with pytest.raises(InputError, match="Create it first"):
        shoal.run(source, policy, f"{tmp_path}/nowhere/office.{ending}?table=pub")


def test_the_input_is_never_replaced(
    office: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(office.parent)
    with pytest.raises(InputError, match="is the input itself"):
        shoal.run(f"{office}?table=visits", policy, f"{office.name}?table=VISITS", force=True)
    assert rows(office, "SELECT count(*) FROM visits") == [(400,)]


def test_a_failure_leaves_everything_as_it_was(
    office: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = office.with_name(f"new{office.suffix}")
    for target in (f"{office}?table=pub", f"{new}?table=pub"):
        with monkeypatch.context() as patch:
            patch.setattr("shoal.pipeline.run._verified", _broken)
            with pytest.raises(InputError, match="on purpose"):
                shoal.run(f"{office}?table=visits", policy, target)
    assert tables(office) == {"visits"}
    assert {each.name for each in office.parent.iterdir()} == {office.name, "policy.yaml"}


def _broken(*_: object) -> None:
    raise InputError("broken on purpose")


KILLED = """
import os, signal, sys
import shoal
from shoal.engines.database.duckdb_file import DuckDBFile
from shoal.engines.database.sqlite import SQLite

for kind in (DuckDBFile, SQLite):
    kind.commit = lambda self: os.kill(os.getpid(), signal.SIGKILL)
for file in sys.argv[2:]:
    child = os.fork()
    if not child:
        shoal.run(f"{file}?table=visits", sys.argv[1], f"{file}?table=pub", force=True)
    print(-os.WTERMSIG(os.waitpid(child, 0)[1]))
"""


def test_a_killed_process_changes_nothing(policy: Path, tmp_path: Path) -> None:
    files = [filled(tmp_path / f"office.{ending}") for ending in ENDINGS]
    targets = [f"{file}?table=pub" for file in files]
    before = []
    for file, target in zip(files, targets, strict=True):
        shoal.run(f"{file}?table=visits", policy, target, k=3)
        before.append(digest_of(LocalFiles().read(place_of(target))))
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(policy), *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.split() == [str(-signal.SIGKILL)] * 2, done.stderr
    for file, target, digest in zip(files, targets, before, strict=True):
        assert digest_of(LocalFiles().read(place_of(target))) == digest
        assert tables(file) == {"visits", "pub"}
        shoal.run(f"{file}?table=visits", policy, target, force=True)
        assert digest_of(LocalFiles().read(place_of(target))) != digest


def test_a_file_in_use_is_waited_for_in_vain(
    office: Path, policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.engines.database.sqlite.PATIENCE", 0.1)
    wait = "import sys; print('ready', flush=True); sys.stdin.read()"
    other = {
        ".sqlite": "import sqlite3; c = sqlite3.connect({0!r}); c.execute('BEGIN EXCLUSIVE'); ",
        ".duckdb": "import duckdb; c = duckdb.connect({0!r}); ",
    }[office.suffix].format(str(office))
    with subprocess.Popen(
        [sys.executable, "-c", other + wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(InputError, match="in use by another process"):
            shoal.run(f"{office}?table=visits", policy, f"{office}?table=pub")
        process.communicate(b"")
    assert tables(office) == {"visits"}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_file_that_may_not_be_written(office: Path, policy: Path) -> None:
    office.chmod(0o400)
    with pytest.raises(InputError, match="no right to write"):
        shoal.run(f"{office}?table=visits", policy, f"{office}?table=pub")


def test_a_column_of_sqlite_may_hold_anything(tmp_path: Path) -> None:
    file = tmp_path / "odd.sqlite"
    fill(
        file,
        "CREATE TABLE odd (a, b INTEGER, c REAL, d, e BOOLEAN, f DATE, g BLOB, h)",
        "INSERT INTO odd VALUES (1, 1, 1, NULL, 0, '2020-01-02', x'00ff', NULL)",
        "INSERT INTO odd VALUES ('one', 2, 2.5, 3, 1, '2021-01-02', x'01', NULL)",
        "INSERT INTO odd VALUES (1.5, NULL, NULL, 0.5, NULL, NULL, NULL, NULL)",
    )
    read = LocalFiles().read(place_of(f"{file}?table=odd"))
    assert read.to_pydict() == {
        "a": ["1", "one", "1.5"],
        "b": [1, 2, None],
        "c": [1.0, 2.5, None],
        "d": [None, 3.0, 0.5],
        "e": [False, True, None],
        "f": ["2020-01-02", "2021-01-02", None],
        "g": [b"\x00\xff", b"\x01", None],
        "h": [None, None, None],
    }
    fill(file, "INSERT INTO odd (g) VALUES (7)")
    with pytest.raises(InputError, match=r"column 'g' has bytes \(blob\) in some rows and integer"):
        LocalFiles().read(place_of(f"{file}?table=odd"))


def test_types_of_duckdb(tmp_path: Path) -> None:
    file = tmp_path / "kinds.duckdb"
    fill(
        file,
        "CREATE TABLE kinds AS SELECT 1::TINYINT AS a, 170141183460469231731687303715884105727 AS b, "
        "1.50::DECIMAL(6, 2) AS c, 'x'::ENUM ('x', 'y') AS d, TIME '12:30' AS e, "
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::UUID AS f, DATE '2020-02-29' AS g, "
        "TIMESTAMPTZ '2020-01-02 03:04:05+02' AS h, [1, 2] AS i, {'a': 1} AS j",
    )
    columns = list("abcdefgh")
    assert LocalFiles().read(place_of(f"{file}#kinds"), columns=columns).to_pylist() == [
        {
            "a": 1,
            "b": "170141183460469231731687303715884105727",
            "c": Decimal("1.50"),
            "d": "x",
            "e": "12:30:00",
            "f": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "g": datetime.date(2020, 2, 29),
            "h": datetime.datetime(2020, 1, 2, 1, 4, 5, tzinfo=datetime.UTC),
        }
    ]
    for name, kind in (("i", r"INTEGER\[\]"), ("j", "STRUCT")):
        with pytest.raises(InputError, match=f"column '{name}' has the type {kind}"):
            LocalFiles().read(place_of(f"{file}#kinds"), columns=[name])
    with pytest.raises(InputError, match="tables of this database alone"):
        LocalFiles().read(place_of(f"{file}?query=SELECT * FROM read_csv('/etc/passwd')"))


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@pytest.mark.parametrize("ending", ENDINGS)
@examples(8)
@given(
    cells=st.lists(
        st.tuples(
            st.none() | CELLS,
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.floats(allow_nan=False, allow_infinity=False),
            st.none() | st.booleans(),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_table_comes_back_as_plain_sql_sees_it(
    tmp_path_factory: pytest.TempPathFactory, ending: str, cells: list[tuple[Any, ...]]
) -> None:
    kinds = [pa.string(), pa.int64(), pa.float64(), pa.bool_()]
    columns = zip(*cells, strict=True)
    arrays = [pa.array(c, k) for c, k in zip(columns, kinds, strict=True)]
    table = pa.table(arrays, ["a", "b c", 'd"', "é"])
    file = tmp_path_factory.mktemp("any") / f"any.{ending}"
    address = place_of(f'{file}?table="any ""table"')
    assert isinstance(address, Address)
    with staging([address], force=True) as staged:
        LocalFiles().write(table, staged.tables[0])
        staged.describe(["0" * 64])
        staged.move()
    assert rows(file, 'SELECT * FROM "any ""table"') == cells
    assert digest_of(LocalFiles().read(address)) == digest_of(table)


def test_long_numbers_of_sqlite_keep_their_digits(tmp_path: Path) -> None:
    """Two ids are two people, also where another row has a number that is not whole."""
    file, long = tmp_path / "t.sqlite", 9_007_199_254_740_993
    fill(file, "CREATE TABLE t (id, n)", f"INSERT INTO t VALUES ({long}, 1), ({long - 1}, 1.5)")
    place = place_of(f"{file}?table=t")
    assert isinstance(place, Address)
    assert LocalFiles().read(place).to_pydict() == {"id": [long, long - 1], "n": [1.0, 1.5]}
    fill(file, "INSERT INTO t VALUES (1.5, 2)")
    read = LocalFiles().read(place)
    assert read["id"].to_pylist() == [str(long), str(long - 1), "1.5"]
    fill(file, f"UPDATE t SET id = {long - 1} WHERE id = {long}")
    assert LocalFiles().read(place)["id"].to_pylist() == [float(long - 1), float(long - 1), 1.5]
