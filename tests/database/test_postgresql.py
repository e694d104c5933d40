"""Reading from PostgreSQL and writing to it, with a real server."""

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.engines.database.staging import open_table, staging
from shoal.engines.files import LocalFiles
from shoal.errors import InputError, VerificationFailed
from shoal.io.address import Address, place_of
from shoal.verification.digest import digest_of
from tests.database.people import POLICY
from tests.database.server import CLERK, GUEST, OWNER, Server
from tests.examples import examples

EVERY_TYPE = {
    "smallint": ("1", 1),
    "integer": ("2", 2),
    "bigint": ("9007199254740993", 9007199254740993),
    "numeric(10, 2)": ("4.5", Decimal("4.50")),
    "numeric": ("6.70", Decimal("6.70")),
    "numeric(4, -2)": ("123456", Decimal("123500")),
    "weight": ("71.5", Decimal("71.5")),
    "real": ("1.5", 1.5),
    "double precision": ("0.1", 0.1),
    "text": ("'it''s'", "it's"),
    "varchar(5)": ("'abc'", "abc"),
    "char(4)": ("'ab'", "ab"),
    "boolean": ("true", True),
    "date": ("'2020-02-29'", datetime.date(2020, 2, 29)),
    "timestamp": (
        "'2020-01-02 03:04:05.123456'",
        datetime.datetime(2020, 1, 2, 3, 4, 5, 123456),
    ),
    "timestamptz": (
        "'2020-01-02 03:04:05+02'",
        datetime.datetime(2020, 1, 2, 1, 4, 5, tzinfo=datetime.UTC),
    ),
    "time": ("'12:30'", "12:30:00"),
    "interval": ("'1 day'", "1 day"),
    "uuid": (
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    ),
    "json": ("""'{"a": 1}'""", '{"a": 1}'),
    "jsonb": ("""'{"a":1}'""", '{"a": 1}'),
    "mood": ("'sad'", "sad"),
    "bytea": ("'\\x00ff'", b"\x00\xff"),
    "money": ("'12.50'", Decimal("12.50")),
    "inet": ("'10.0.0.1'", "10.0.0.1/32"),
    "int4range": ("'[1,3)'", "[1,3)"),
}


def test_every_common_type_is_read_as_a_person_would_write_it_down(server: Server) -> None:
    server.run("CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE DOMAIN weight AS numeric(6, 1)")
    columns = ", ".join(f'"c{i}" {kind}' for i, kind in enumerate(EVERY_TYPE))
    values = ", ".join(f"{text}::{kind}" for kind, (text, _) in EVERY_TYPE.items())
    server.run(
        f"CREATE TABLE kinds ({columns})",
        f"INSERT INTO kinds VALUES ({values})",
        f"INSERT INTO kinds VALUES ({', '.join(['NULL'] * len(EVERY_TYPE))})",
    )
    for place in (server.address("kinds"), server.query("SELECT * FROM kinds")):
        read = LocalFiles().read(place_of(place))
        for i, (kind, (_, wanted)) in enumerate(EVERY_TYPE.items()):
            assert read.column(f"c{i}").to_pylist() == [wanted, None], kind
    # and out again, in types of their own
    roles = {"c0": "quasi"} | {f"c{i}": "plain" for i in range(1, len(EVERY_TYPE))}
    rules = {"columns": roles, "constraints": [{"k": 2}], "order": "kept"}
    shoal.run(server.address("kinds"), rules, server.address("out"))
    again = LocalFiles().read(place_of(server.address("out")))
    original = LocalFiles().read(place_of(server.address("kinds")))
    for i in range(1, len(EVERY_TYPE)):
        assert again.column(f"c{i}").equals(original.column(f"c{i}")), list(EVERY_TYPE)[i]


UNREADABLE = [
    ("SELECT ARRAY['a', 'b'] AS tags", "column 'tags' has the type text[]"),
    ("SELECT ROW(1, 'a') AS pair", "column 'pair' has the type record"),
    ("SELECT 'infinity'::date AS day", "column 'day' has dates that are infinite"),
    ("SELECT '-infinity'::timestamptz AS at", "column 'at' has dates that are infinite"),
    ("SELECT 'Infinity'::numeric AS dose", "column 'dose' has values that cannot be read"),
    ("SELECT 1e40::numeric AS dose", "column 'dose' (numeric) has values that need 41 digits"),
    ("SELECT 1 AS a, 2 AS a", "more than one column named a"),
    ("SELECT 'Ann'::int", "a value of the table does not fit"),
    ("SELECT 1 / (age - 40) AS x FROM visits", "a value does not fit an expression"),
    ("SELEC 1", "syntax error at or near"),
    ("SELECT nme FROM visits", 'column "nme" does not exist'),
    ("DELETE FROM visits RETURNING 1", "syntax error"),
    ("SELECT 1; DROP TABLE visits", "syntax error"),
]


def test_what_cannot_be_read_is_one_clear_line(visits: Server) -> None:
    for select, found in UNREADABLE:
        with pytest.raises(InputError) as error:
            LocalFiles().read(place_of(visits.query(select)))
        assert found in str(error.value)
        assert "\n" not in str(error.value)
        assert "Ann" not in str(error.value).replace(select, "")
    assert visits.rows("SELECT count(*) FROM visits") == [(400,)]


def test_a_function_of_a_query_changes_nothing(visits: Server) -> None:
    visits.run(
        "CREATE FUNCTION gone() RETURNS int LANGUAGE sql AS 'DELETE FROM visits RETURNING 1'"
    )
    with pytest.raises(InputError, match="Only SELECT is allowed"):
        LocalFiles().read(place_of(visits.query("SELECT gone() AS a")))


def test_not_a_number_is_missing(server: Server) -> None:
    read = LocalFiles().read(place_of(server.query("SELECT 'NaN'::numeric AS x UNION SELECT 2.50")))
    assert sorted(read.column("x").to_pylist(), key=str) == [Decimal("2.50"), None]


@pytest.mark.parametrize("memory", [None, "500MB"])
@pytest.mark.parametrize("by", ["table", "query"])
def test_a_release_is_the_same_as_that_of_a_file(
    visits: Server, policy: Path, table: pa.Table, tmp_path: Path, memory: str | None, by: str
) -> None:
    pq.write_table(table, tmp_path / "visits.parquet")
    file = shoal.run(tmp_path / "visits.parquet", policy, tmp_path / "release.parquet")
    backwards = "SELECT * FROM visits ORDER BY name DESC"
    source = visits.address("visits") if by == "table" else visits.query(backwards)
    release = shoal.run(source, policy, visits.address("pub"), memory=memory)
    wanted = pq.read_table(tmp_path / "release.parquet")
    found = LocalFiles().read(place_of(visits.address("pub")))
    assert digest_of(found) == digest_of(wanted)
    if memory is None:
        assert found.to_pylist() == wanted.to_pylist()
    assert release.metrics == file.metrics
    (comment,) = visits.rows("SELECT obj_description('pub'::regclass)")[0]
    assert comment.endswith(digest_of(wanted))
    kinds = "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
    assert visits.rows(f"{kinds} WHERE attrelid = 'pub'::regclass AND attnum > 0") == [
        ("age", "text"),
        ("town", "text"),
        ("disease", "text"),
        ("admitted", "date"),
        ("weight", "double precision"),
    ]
    assert visits.tables() == {"public.visits", "public.pub"}


def test_every_function_takes_an_address(visits: Server, policy: Path, tmp_path: Path) -> None:
    source, target = visits.address("visits"), visits.address("pub")
    release = shoal.run(source, policy, target, report=tmp_path / "report.json")
    assert shoal.verify(target, policy, certificate=tmp_path / "report.json").holds
    assert shoal.verify(target, policy, memory="500MB").holds
    assert shoal.inspect(source).rows == shoal.inspect(source, memory="500MB").rows == 400
    assert shoal.draft_policy(source).policy.quasi
    assert shoal.assess(source, ["age", "town"]).reidentification.unique_rows > 0
    known = visits.query("SELECT age, town FROM visits")
    assert shoal.attack(target, policy, known=known).release.pinned == 0
    assert shoal.compare(source, policy, methods=["mondrian"]).recommended.method == "mondrian"
    made = shoal.anonymize(source, policy)
    assert str(made.write(visits.address("again"))) == visits.address("again")
    assert str(release.output) == target
    again = LocalFiles().read(place_of(visits.address("again")))
    assert digest_of(again) == digest_of(LocalFiles().read(place_of(target)))


def test_anatomy_is_written_as_several_tables_together(visits: Server) -> None:
    rules = POLICY.replace("{k: 5}, ", "") + "publish: anatomy\n"
    release = shoal.run(visits.address("visits"), rules, visits.address("pub"))
    assert visits.tables() == {"public.visits", "public.pub", "public.pub_sensitive"}
    assert str(release.sensitive_outputs["disease"]) == visits.address("pub_sensitive")
    assert shoal.verify(visits.address("pub"), rules).holds
    visits.run("DROP TABLE pub")
    with pytest.raises(InputError, match=r"pub_sensitive exists already"):
        shoal.run(visits.address("visits"), rules, visits.address("pub"))
    assert visits.tables() == {"public.visits", "public.pub_sensitive"}


def test_names_with_schemas_and_quotes(visits: Server, policy: Path) -> None:
    visits.run('CREATE SCHEMA "My Schema"', user=OWNER)
    visits.run('ALTER SCHEMA "My Schema" OWNER TO clerk', user=OWNER)
    target = visits.address('"My Schema"."Release ""1"""')
    shoal.run(visits.address("public.VISITS"), policy, target)
    assert 'My Schema.Release "1"' in visits.tables()
    assert shoal.verify(target, policy).holds
    with pytest.raises(InputError, match="there is no schema 'nowhere'"):
        shoal.run(visits.address("visits"), policy, visits.address("nowhere.pub"))
    with pytest.raises(InputError, match="longer than the 63 bytes"):
        shoal.run(visits.address("visits"), policy, visits.address("x" * 64))


def test_force_replaces_a_release_and_keeps_its_grants(visits: Server, policy: Path) -> None:
    source, target = visits.address("visits"), visits.address("pub")
    shoal.run(source, policy, target, k=3)
    with pytest.raises(InputError, match=r"exists already\. Pass --force"):
        shoal.run(source, policy, target)
    visits.run(
        "GRANT SELECT ON pub TO guest WITH GRANT OPTION",
        "GRANT UPDATE (age), SELECT (town) ON pub TO PUBLIC",
        "REVOKE DELETE ON pub FROM clerk",
        "COMMENT ON COLUMN pub.age IS 'years, it''s a range'",
        "COMMENT ON TABLE pub IS 'For \\ the press'",
        "ALTER DEFAULT PRIVILEGES FOR ROLE clerk GRANT INSERT ON TABLES TO guest",
    )
    acl = "SELECT relacl::text FROM pg_class WHERE oid = 'pub'::regclass"
    columns = (
        "SELECT attname, attacl::text, col_description(attrelid, attnum) FROM pg_attribute "
        "WHERE attrelid = 'pub'::regclass AND attnum > 0"
    )
    before = visits.rows(acl), visits.rows(columns)
    shoal.run(source, policy, target, k=6, force=True)
    assert (visits.rows(acl), visits.rows(columns)) == before
    (comment,) = visits.rows("SELECT obj_description('pub'::regclass)")[0]
    assert comment.startswith("For \\ the press\nRelease made by Shoal")
    shoal.run(source, policy, target, k=6, force=True)
    assert visits.rows("SELECT obj_description('pub'::regclass)") == [(comment,)]
    assert visits.rows("SELECT count(*) FROM pub", GUEST) == [(400,)]


def test_an_owner_stays_the_owner(visits: Server, policy: Path) -> None:
    shoal.run(visits.address("visits"), policy, visits.address("pub"))
    visits.run("GRANT clerk TO guest", "GRANT SELECT ON visits TO guest", user=OWNER)
    try:
        target = visits.address("pub", GUEST)
        shoal.run(visits.address("visits", GUEST), policy, target, force=True)
    finally:
        visits.run("REVOKE clerk FROM guest", user=OWNER)
    owner = "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'pub'::regclass"
    assert visits.rows(owner) == [(CLERK,)]


@pytest.mark.parametrize(
    ("prepare", "found"),
    [
        ("CREATE VIEW pub AS SELECT 1 AS a", "is not an ordinary table"),
        ("CREATE TABLE pub (a int); CREATE VIEW v AS SELECT * FROM pub", "is used by view v"),
        ("CREATE TABLE pub (a int); ALTER TABLE pub ENABLE ROW LEVEL SECURITY", "row security"),
    ],
)
def test_what_force_does_not_replace(
    visits: Server, policy: Path, prepare: str, found: str
) -> None:
    visits.run(*prepare.split("; "))
    before = visits.tables()
    with pytest.raises(InputError, match=found):
        shoal.run(visits.address("visits"), policy, visits.address("pub"), force=True)
    assert visits.tables() == before


def test_the_input_is_never_replaced(visits: Server, policy: Path) -> None:
    other = visits.address("public.visits").replace("127.0.0.1", "localhost")
    visits.run("SELECT 1")
    import os

    passes = Path(os.environ["PGPASSFILE"])
    passes.write_text(passes.read_text() + passes.read_text().replace("127.0.0.1", "localhost"))
    for target in (visits.address("visits"), other):
        with pytest.raises(InputError, match="is the input itself"):
            shoal.run(visits.address("visits"), policy, target, force=True)
    assert visits.rows("SELECT count(*) FROM visits") == [(400,)]


def test_a_release_that_a_database_changes_is_not_published(visits: Server, policy: Path) -> None:
    visits.run(
        "CREATE FUNCTION spoil() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN "
        "FOR t IN SELECT object_identity FROM pg_event_trigger_ddl_commands() LOOP "
        "EXECUTE 'CREATE FUNCTION one() RETURNS trigger LANGUAGE plpgsql AS "
        "''BEGIN NEW.disease := upper(NEW.disease); RETURN NEW; END''';"
        "EXECUTE 'CREATE TRIGGER one BEFORE INSERT ON ' || t || "
        "' FOR EACH ROW EXECUTE FUNCTION one()'; END LOOP; END $$",
        "CREATE EVENT TRIGGER spoil ON ddl_command_end WHEN TAG IN ('CREATE TABLE') "
        "EXECUTE FUNCTION spoil()",
        user=OWNER,
    )
    try:
        for memory in (None, "500MB"):
            with pytest.raises(VerificationFailed, match="the database changed values"):
                shoal.run(visits.address("visits"), policy, visits.address("pub"), memory=memory)
    finally:
        visits.run("DROP EVENT TRIGGER spoil", user=OWNER)
    assert visits.tables() == {"public.visits"}


def test_rows_come_batch_by_batch(server: Server) -> None:
    sql = "SELECT i, 'a text of some length ' || i AS t FROM generate_series(1, 400000) AS s (i)"
    address = place_of(server.query(sql))
    assert isinstance(address, Address)
    rows = largest = batches = 0
    with open_table(address) as table:
        for batch in table.batches(table.schema()):
            rows, batches, largest = rows + len(batch), batches + 1, max(largest, batch.nbytes)
    assert rows == 400_000
    assert batches > 1
    assert largest < 24e6


CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@examples(4)
@given(
    rows=st.lists(
        st.tuples(
            st.none() | CELLS,
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.none() | st.floats(allow_nan=False),
            st.none() | st.booleans(),
            st.none() | st.dates(),
            st.none() | st.decimals(-9999, 9999, places=2, allow_nan=False),
        ),
        max_size=8,
    ),
    names=st.lists(
        CELLS.filter(lambda text: 0 < len(text.encode()) < 60), min_size=6, max_size=6
    ).filter(lambda names: len(set(names)) == 6),
)
def test_any_table_comes_back_as_plain_sql_sees_it(
    started: Server, rows: list, names: list
) -> None:
    kinds = [pa.string(), pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.decimal128(8, 2)]
    columns = list(zip(*rows, strict=True)) or [()] * 6
    table = pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], names)
    address = place_of(started.address('"any ""table"'))
    assert isinstance(address, Address)
    with staging([address], force=True) as staged:
        LocalFiles().write(table, staged.tables[0])
        staged.describe(["0" * 64])
        staged.move()
    assert LocalFiles().read(address).equals(table)
    # the twin: texts of the server itself, as JSON
    sql = 'SELECT coalesce(json_agg(t), \'[]\')::text FROM "any ""table" AS t'
    found = json.loads(started.rows(sql)[0][0], parse_float=Decimal)
    for column, name in enumerate(names):
        wanted = [row[column] for row in rows]
        got = [row[name] for row in found]
        if column == 2:
            got = [None if value is None else float(value) for value in got]
        if column == 4:
            got = [None if value is None else datetime.date.fromisoformat(value) for value in got]
        assert got == wanted
