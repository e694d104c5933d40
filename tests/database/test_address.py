"""Addresses of tables: how they are read, and that they never show a password."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.io.address import Address, Dialect, TableName, place_of, shown_name, table_name
from tests.examples import examples

SECRET = "S3cret!"


def address(text: str) -> Address:
    found = place_of(text)
    assert isinstance(found, Address)
    return found


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("visits", TableName(None, "visits")),
        ("Visits", TableName(None, "visits")),
        ("public.visits", TableName("public", "visits")),
        ('"Visits"', TableName(None, "Visits")),
        ('"My Schema"."a.b"', TableName("My Schema", "a.b")),
        ('"a ""b"""', TableName(None, 'a "b"')),
        ("été_2", TableName(None, "été_2")),
        ("%22a%26b%22", TableName(None, "a&b")),
    ],
)
def test_names_are_read_as_in_sql(text: str, table: TableName) -> None:
    assert address(f"postgresql://host/db?table={text}").table == table


@pytest.mark.parametrize("text", ["", ".", "a.", "a.b.c", '"a', "a b", "a-b", "a..b", '""', "1a"])
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="table="):
        place_of(f"postgresql://host/db?table={text}")


@examples(40)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_can_be_quoted(name: str) -> None:
    assert table_name(TableName(None, name).quoted) == TableName(None, name)
    assert table_name(str(TableName("s", name)), fold=True) == TableName("s", name)


@pytest.mark.parametrize(
    ("text", "file", "dialect"),
    [
        ("visits.sqlite", "visits.sqlite", Dialect.SQLITE),
        ("data/visits.db?table=v", "data/visits.db", Dialect.SQLITE),
        ("visits.sqlite#v", "visits.sqlite", Dialect.SQLITE),
        ("sqlite:///visits.any?table=v", "visits.any", Dialect.SQLITE),
        ("sqlite:////data/visits.db?table=v", "/data/visits.db", Dialect.SQLITE),
        ("duckdb:///visits.duckdb?query=SELECT 1", "visits.duckdb", Dialect.DUCKDB),
        ("Visits.DUCKDB?table=v", "Visits.DUCKDB", Dialect.DUCKDB),
    ],
)
def test_files_of_databases(text: str, file: str, dialect: Dialect) -> None:
    found = address(text)
    assert (found.file, found.dialect) == (Path(file), dialect)


@pytest.mark.parametrize("text", ["visits.csv", "a.db/visits.parquet", "C:\\visits.csv", "x.dbf"])
def test_other_files_are_paths(text: str) -> None:
    assert place_of(text) == Path(text)
    assert place_of(Path(text)) == Path(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("postgresql://host/db", "names a database, but no table"),
        ("postgresql://host/db?table=a&table=b", "names one table"),
        ("postgresql://host/db?table=a&query=SELECT 1", "not both"),
        ("postgresql://host/db?query=", "is empty"),
        ("mysql://host/db?table=a", "'mysql://…' is not an address"),
        ("postgressql://host/db?table=a", "Did you mean 'postgresql'?"),
        ("https://host/visits.csv", "is not an address"),
        ("sqlite://visits.db?table=a", "after three slashes"),
        ("sqlite:///?table=a", "names no file"),
        ("visits.db?tabel=a", "'tabel' is not part of an address"),
    ],
)
def test_other_addresses_are_refused_with_a_way_out(text: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        place_of(text)
    assert found in str(error.value)


def test_a_query_runs_to_the_end() -> None:
    sql = "SELECT a & 1, b FROM v WHERE t LIKE '%ad%' AND u = '?table=x'"
    assert address(f"postgresql://h/d?sslmode=require&query={sql};").query == sql
    assert address("v.sqlite?query=SELECT+a%2B1+FROM%20v").query == "SELECT a+1 FROM v"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://ann:{SECRET}@host:5432/db?table=visits",
        f"postgres://ann:{SECRET}@host/db?sslmode=require&table=visits",
        f"postgresql://ann@host/db?password={SECRET}&table=visits",
        f"postgresql://ann@host/db?table=visits&password={SECRET}",
        f"postgresql://host/db?sslpassword={SECRET}&query=SELECT 1",
        f"postgresql://ann:{SECRET}%2F%40@host/db?table=visits",
        f"postgresql://ann:a/b@{SECRET}@host/db?table=visits",
        f"postgresql://ann:?{SECRET}@host/db?table=visits",
        f"postgresql://:{SECRET}@host/db?table=visits",
    ],
)
def test_a_password_is_never_shown(text: str) -> None:
    found = address(text)
    for shown in (str(found), repr(found), f"{found}", found.database, repr([found])):
        assert SECRET not in shown
    assert SECRET in found.connection.replace("%21", "!")
    assert SECRET not in found.public.connection
    assert SECRET not in found.without_secrets(f"it was {next(iter(found.secrets.values()))}")
    assert found.public == found


def test_what_libpq_gets() -> None:
    found = address(
        "postgresql://ann:p%40ss@[::1]:5433,other/db?table=v&sslmode=require&options=-c%20a"
    )
    assert found.connection == (
        "postgresql://ann@[::1]:5433,other/db?sslmode=require&options=-c%20a&password=p%40ss"
    )
    assert (
        str(found)
        == "postgresql://ann:***@[::1]:5433,other/db?sslmode=require&options=-c a&table=v"
    )


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            f"postgresql://ann:{SECRET}@db.example:5432/clinic?table=public.visits",
            "table public.visits",
        ),
        (f"postgresql://ann:{SECRET}@db.example/clinic?query=SELECT 1", "a query"),
        ("/private/clinic.sqlite?table=visits", "table visits"),
        ("/private/clinic/visits.csv", "visits.csv"),
    ],
)
def test_reports_name_a_table_without_its_place(text: str, name: str) -> None:
    assert shown_name(place_of(text)) == name
