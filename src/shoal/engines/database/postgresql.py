"""PostgreSQL, through ADBC: rows come and go by binary COPY, as Arrow batches.

The password comes from libpq's usual places: PGPASSWORD, ~/.pgpass, a service file.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.database.base import Database, comment_of, refuse_nested, sql_name
from shoal.errors import InputError, listed, nearest
from shoal.io.address import Address, TableName

AS_THEY_ARE = {
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "text",
    "varchar",
    "bool",
    "date",
    "timestamp",
    "timestamptz",
    "bytea",
}
"""Types that are read in their own type; numbers are decimals, and all others are texts."""
TYPES: dict[str, str] = {
    "int8": "smallint",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "integer",
    "uint32": "bigint",
    "uint64": "numeric(20)",
    "float": "real",
    "double": "double precision",
    "bool": "boolean",
    "date32[day]": "date",
    "binary": "bytea",
    "string": "text",
}
WRITTEN = {"uint64": pa.decimal128(20, 0), "halffloat": pa.float32(), "date64[ms]": pa.date32()}
"""Types that are converted before they are written."""
MOST_DIGITS = 38
LONGEST_NAME = 63
"""Bytes of a name; PostgreSQL cuts longer ones."""
SETTINGS = (
    # how values read as texts
    "DateStyle = 'ISO, YMD'",
    "TimeZone = 'UTC'",
    # rows in the order in which they were written, as in a file
    "synchronize_seqscans = off",
    "max_parallel_workers_per_gather = 0",
)
PATIENCE = "60s"
"""How long to wait for readers of a table that is replaced."""
CONNECT_SECONDS = "10"
BATCH_BYTES = "adbc.postgresql.batch_size_hint_bytes"
BYTES = 4_000_000
"""About the size of a batch."""
SQLSTATE = re.compile(r"SQLSTATE: (\w{5})")
PRIMARY = re.compile(r"(?:ERROR|FATAL|PANIC):\s+(.*)")
FIRST_DAY, LAST_DAY = -719162, 2932896
"""0001-01-01 and 9999-12-31, in days."""
MICROSECONDS = 86_400_000_000
EXTRA = "database"


class Cause(NamedTuple):
    """Why a connection failed."""

    sign: str
    words: str


CONNECTION_CAUSES = (
    Cause("password authentication failed", "the server did not accept the password of the user"),
    Cause(
        "no password supplied",
        "the server asks for a password. Set PGPASSWORD, or put it into ~/.pgpass or a service file",
    ),
    Cause("could not translate host name", "the host is not known"),
    Cause("Connection refused", "no server accepts connections there"),
    Cause("timeout expired", "the server did not answer in time"),
    Cause("No such file or directory", "no server listens on this socket"),
)
"""Signs in libpq's message; any other message is shown as it is, without secrets."""
STATES = {
    "25006": "the query would change the database. Only SELECT is allowed",
    "53100": "the disk of the server, or a quota on it, is full",
    "53200": "the server ran out of memory",
    "53300": "the server has too many connections",
    "53400": "a limit of the server's configuration was exceeded",
    "55P03": f"others used the table for more than {PATIENCE}. Run again later",
    "57014": "the server cancelled the work; a time limit such as statement_timeout may be set",
    "40P01": "it was in a deadlock with another session. Run again",
    "22021": "a text holds a character that the database's encoding lacks",
}
"""Words for SQLSTATE codes, where the message itself is not shown."""
SIGNS = {
    "read-only transaction": STATES["25006"],
    "No space left on device": STATES["53100"],
    "canceling statement": STATES["57014"],
    "out of memory": STATES["53200"],
}
"""The same by signs in the message."""
FAILED = "the server could not compute a row; a value does not fit an expression, perhaps"
LOST = "the connection to the server was lost"


class PostgreSQL(Database):
    """A connection to a PostgreSQL server, and one transaction."""

    def __init__(self, address: Address, write: bool = False) -> None:
        """`write`: the transaction may change the database."""
        super().__init__(address)
        self._con: Any = _connect(address)
        self._cursor: Any = self._con.cursor()
        mode = "READ COMMITTED, READ WRITE" if write else "REPEATABLE READ, READ ONLY"
        try:
            with self._translated():
                self._run(f"SET TRANSACTION ISOLATION LEVEL {mode}")
                for setting in SETTINGS:
                    self._run(f"SET LOCAL {setting}")
        except BaseException:
            self.close()
            raise

    def source(self, address: Address) -> str:
        """The SQL to read from."""
        if address.query is not None:
            return f"({address.query}\n) AS shoal_query"
        assert address.table is not None
        if self._value(f"SELECT to_regclass({_text(address.table.quoted)})::oid") is None:
            raise InputError(self._missing(address.table))
        return address.table.quoted

    def names(self, source: str) -> list[str]:
        """The columns, in order."""
        return list(self._described(source).names)

    def _described(self, source: str) -> pa.Schema:
        with self._translated():
            return self._cursor.adbc_execute_schema(f"SELECT * FROM {source}")

    def schema(self, source: str, columns: Sequence[str]) -> pa.Schema:
        """The types in which the columns are read."""
        described = self._described(source)
        found = {field.name: field for field in described}
        digits = self._digits(
            source,
            [n for n in columns if _type(found[n]) == "numeric" and not _precision(found[n])],
        )
        fields = []
        for name in columns:
            field, kind = found[name], _type(found[name])
            if kind == "numeric":
                precision, scale = _precision(field) or digits[name]
                fields.append(pa.field(name, pa.decimal128(precision, scale)))
            elif kind == "money":
                fields.append(pa.field(name, pa.decimal128(21, 2)))
            elif kind in AS_THEY_ARE:
                fields.append(pa.field(name, field.type))
            else:
                self._refuse_nested(name, kind, field.type)
                fields.append(pa.field(name, pa.string()))
        return pa.schema(fields)

    def _refuse_nested(self, name: str, kind: str, read_as: pa.DataType) -> None:
        """Raise `InputError` for arrays and rows in a cell."""
        oid = re.fullmatch(r"unnamed<oid:(\d+)>", kind)
        of = f"oid = {oid[1]}" if oid else f"typname = {_text(kind)}"
        row = self._rows(
            f"SELECT typcategory::text, format_type(oid, NULL) FROM pg_type WHERE {of}"
        )
        category, shown = row[0] if row else ("", kind)
        if category == "A" or pa.types.is_list(read_as):
            raise refuse_nested(self.address, name, shown, f"array_to_string({name}, ' ')")
        if category == "C" or pa.types.is_struct(read_as):
            raise refuse_nested(self.address, name, shown, f"({name}).part")

    def _digits(self, source: str, columns: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Precision and scale that hold all values of columns that have none declared."""
        if not columns:
            return {}
        parts = []
        for name in columns:
            value = sql_name(name)
            finite = f"FILTER (WHERE {value}::text NOT IN ('NaN', 'Infinity', '-Infinity'))"
            parts += [
                f"max(length(trunc(abs({value}))::text)) {finite}",
                f"max(scale({value})) {finite}",
            ]
        (row,) = self._rows(f"SELECT {', '.join(parts)} FROM {source}")
        found = {}
        for i, name in enumerate(columns):
            whole, scale = (int(value or 0) for value in row[2 * i : 2 * i + 2])
            if whole + scale > MOST_DIGITS:
                raise InputError(
                    f"{self.address}: column '{name}' (numeric) has values that need {whole + scale} "
                    f"digits; at most {MOST_DIGITS} are read. Round it in a query, or cast it to text "
                    "or double precision."
                )
            found[name] = (max(1, whole + scale), scale)
        return found

    def batches(self, source: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows of the columns of a schema."""
        kinds = {field.name: _type(field) for field in self._described(source)}
        parts = [f"{_expression(name, kinds[name])} AS {sql_name(name)}" for name in schema.names]
        with self._translated():
            checked = self._value("SELECT current_setting('server_encoding')") == "SQL_ASCII"
            self._cursor.adbc_statement.set_options(**{BATCH_BYTES: str(BYTES)})
            self._cursor.execute(f"SELECT {', '.join(parts)} FROM {source}")
            for batch in self._cursor.fetch_record_batch():
                yield self._converted(batch, schema, checked)

    def _converted(self, batch: pa.RecordBatch, schema: pa.Schema, checked: bool) -> pa.RecordBatch:
        """A batch in the types of the schema. `checked`: its texts may be in any encoding."""
        columns = []
        for field, column in zip(schema, batch.columns, strict=True):
            try:
                if checked:
                    column.validate(full=True)
                column = column if column.type == field.type else column.cast(field.type)
            except pa.ArrowException:
                raise InputError(
                    f"{self.address}: column '{field.name}' has values that cannot be read, such as "
                    "an infinite number or a text that is not UTF-8. Choose other rows, or convert "
                    "it, in a query."
                ) from None
            self._check_years(field, column)
            columns.append(column)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _check_years(self, field: pa.Field, column: pa.Array) -> None:
        """Raise `InputError` for infinite dates, which Arrow does not have."""
        per_day = MICROSECONDS if pa.types.is_timestamp(field.type) else 1
        if per_day == 1 and not pa.types.is_date(field.type):
            return
        numbers = column.view(pa.int32() if per_day == 1 else pa.int64())
        ends = pc.min_max(numbers).as_py()
        low, high = ends["min"], ends["max"]
        if low is None or (low >= FIRST_DAY * per_day and high < (LAST_DAY + 1) * per_day):
            return
        raise InputError(
            f"{self.address}: column '{field.name}' has dates that are infinite, or outside of the "
            "years 1 to 9999. Replace them in a query."
        )

    def check_target(self, address: Address, force: bool) -> TableName:
        """The table to write, with its schema."""
        if address.table is None:
            raise InputError(f"{address}: a release is written to a table, not to a query.")
        target = self._full(address.table)
        with self._translated():
            self._check_schema(target)
            old = self._rows(
                "SELECT c.oid, c.relkind::text, pg_has_role(c.relowner, 'USAGE'), "
                "c.relrowsecurity, c.relispartition, c.relhassubclass "
                f"FROM pg_class c WHERE c.oid = to_regclass({_text(target.quoted)})"
            )
        if not old:
            return target
        oid, kind, owned, secured, part, parent = old[0]
        if not force:
            raise InputError(
                f"{address} exists already. Pass --force (in Python force=True) to replace it."
            )
        if kind != "r" or part or parent:
            raise InputError(
                f"{address} is not an ordinary table, but a view, a partition or the like. It is not "
                "replaced; choose another name."
            )
        if not owned:
            raise InputError(f"{address} belongs to another user, so it cannot be replaced.")
        if secured:
            raise InputError(
                f"{address} has row security, which a replaced table would lose. Choose another name."
            )
        if dependent := self._dependents(oid):
            raise InputError(
                f"{address} is used by {listed(dependent)}, so it cannot be replaced. Drop what uses "
                "it first, or let it read another table."
            )
        return target

    def _full(self, table: TableName) -> TableName:
        schema = table.schema
        if schema is None:
            schema = self._value("SELECT current_schema()::text")
            if schema is None:
                raise InputError(
                    f"{self.address}: no schema is in the search path. Name one: ?table=schema.NAME"
                )
        for part in (schema, table.name):
            if len(part.encode()) > LONGEST_NAME:
                raise InputError(
                    f"'{part}' is longer than the {LONGEST_NAME} bytes that a name in PostgreSQL may "
                    "have."
                )
        return TableName(schema, table.name)

    def _check_schema(self, target: TableName) -> None:
        schema = _text(target.schema or "")
        exists = f"EXISTS (SELECT FROM pg_namespace WHERE nspname = {schema})"
        if not self._value(f"SELECT {exists}"):
            raise InputError(
                f"{self.address}: there is no schema '{target.schema}' in the database. Create it "
                "first."
            )
        if not self._value(f"SELECT has_schema_privilege({schema}, 'CREATE')"):
            raise InputError(
                f"{self.address}: this user has no right to create tables in the schema "
                f"'{target.schema}'. It needs GRANT CREATE ON SCHEMA."
            )
        setting = "current_setting('default_transaction_read_only') = 'on'"
        if self._value(f"SELECT pg_is_in_recovery() OR {setting}"):
            raise InputError(f"{self.address}: the server is read-only, a standby perhaps.")

    def _dependents(self, oid: int) -> list[str]:
        """Views and foreign keys that use a table."""
        rows = self._rows(
            "SELECT DISTINCT pg_describe_object('pg_class'::regclass, "
            "coalesce(r.ev_class, k.conrelid), 0) "
            "FROM pg_depend d "
            "LEFT JOIN pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid "
            "LEFT JOIN pg_constraint k ON d.classid = 'pg_constraint'::regclass AND k.oid = d.objid "
            f"WHERE d.refobjid = {oid} AND d.refclassid = 'pg_class'::regclass "
            f"AND d.deptype = 'n' AND coalesce(r.ev_class, k.conrelid) <> {oid} ORDER BY 1"
        )
        return [str(row[0]) for row in rows]

    def identity(self, address: Address) -> str | None:
        """The table's number in this very server."""
        if address.table is None:
            return None
        table = _text(address.table.quoted)
        sql = "pg_postmaster_start_time()::text || current_database() || '.' || "
        found = self._value(f"SELECT {sql} to_regclass({table})::oid::text")
        return None if found is None else str(found)

    def comment(self, table: TableName) -> str | None:
        """The comment of a table."""
        place = f"to_regclass({_text(table.quoted)})"
        found = self._value(f"SELECT obj_description({place}, 'pg_class')")
        return None if found is None else str(found)

    def written_type(self, kind: pa.DataType) -> pa.DataType:
        """The type in which a column is written."""
        return written_type(kind)

    def create(self, table: TableName, schema: pa.Schema) -> None:
        """Create an empty table."""
        columns = ", ".join(f"{sql_name(field.name)} {self._type_of(field)}" for field in schema)
        for name in schema.names:
            if len(name.encode()) > LONGEST_NAME:
                raise InputError(
                    f"{self.address}: the name of column '{name}' is longer than the {LONGEST_NAME} "
                    "bytes that PostgreSQL allows."
                )
        with self._translated():
            self._run(f"CREATE TABLE {table.quoted} ({columns})")

    def _type_of(self, field: pa.Field) -> str:
        kind = field.type
        if pa.types.is_decimal(kind):
            return f"numeric({kind.precision}, {kind.scale})"
        if pa.types.is_timestamp(kind):
            return "timestamp" if kind.tz is None else "timestamptz"
        found = TYPES.get(str(written_type(kind)))
        if found is None:
            raise InputError(
                f"{self.address}: column '{field.name}' has the type {kind}, which is not written to "
                "PostgreSQL. Convert it to text, numbers or dates first."
            )
        return found

    def insert(self, table: TableName, rows: pa.RecordBatchReader) -> None:
        """Add rows to a table."""
        with self._translated():
            self._cursor.adbc_ingest(table.name, rows, mode="append", db_schema_name=table.schema)

    def put_in_place(self, staged: TableName, target: TableName, comment: str) -> None:
        """Give a table its name; what it replaces goes in the same transaction."""
        with self._translated():
            self._run(f"SET LOCAL lock_timeout = '{PATIENCE}'")
            old = self._value(f"SELECT to_regclass({_text(target.quoted)})::oid")
            grants: list[str] = []
            if old is not None:
                self._run(f"LOCK TABLE {target.quoted} IN SHARE ROW EXCLUSIVE MODE")
                was = self._value(f"SELECT obj_description({old}, 'pg_class')")
                comment = comment_of(was, comment)
                if self._fits(old, staged):
                    self._exchange_rows(staged, target, comment)
                    return
                self._run(f"LOCK TABLE {target.quoted} IN ACCESS EXCLUSIVE MODE")
                grants = self._inherited(old, staged, target)
                self._run(f"DROP TABLE {target.quoted}")
            self._run(f"ALTER TABLE {staged.quoted} RENAME TO {sql_name(target.name)}")
            for statement in grants:
                self._run(statement)
            self._run(f"COMMENT ON TABLE {target.quoted} IS {_text(comment)}")

    def _fits(self, old: int, staged: TableName) -> bool:
        """Whether a table can take the rows of another as they are: the same columns, the rights, and
        nothing that would change a row on its way."""
        columns = (
            "(SELECT array_agg((attname, atttypid, atttypmod, attgenerated)::text ORDER BY attnum) "
            "FROM pg_attribute WHERE attrelid = {} AND attnum > 0 AND NOT attisdropped)"
        )
        new = f"{_text(staged.quoted)}::regclass"
        plain = (
            f"SELECT FROM pg_class WHERE oid = {old} AND NOT relhastriggers AND NOT relhasrules "
            "AND has_table_privilege(oid, 'DELETE') AND has_table_privilege(oid, 'INSERT')"
        )
        same = f"{columns.format(old)} = {columns.format(new)}"
        return bool(self._value(f"SELECT {same} AND EXISTS ({plain})"))

    def _exchange_rows(self, staged: TableName, target: TableName, comment: str) -> None:
        """Replace the rows of a table, which stays the same for everything that refers to it.

        A statement that began before the commit, and waits or reads meanwhile, finds the old rows: in
        a table of another identity it would find none.
        """
        self._run(f"DELETE FROM {target.quoted}")
        self._run(f"INSERT INTO {target.quoted} SELECT * FROM {staged.quoted}")
        self._run(f"DROP TABLE {staged.quoted}")
        self._run(f"COMMENT ON TABLE {target.quoted} IS {_text(comment)}")

    def _inherited(self, old: int, staged: TableName, target: TableName) -> list[str]:
        """Statements that give a new table the owner, grants and column comments of an old one."""
        place, new = target.quoted, f"{_text(staged.quoted)}::regclass"
        owner, listed_grants = self._rows(
            f"SELECT relowner::regrole::text, relacl IS NOT NULL FROM pg_class WHERE oid = {old}"
        )[0]
        found = [f"ALTER TABLE {place} OWNER TO {owner}"]
        grantee = "CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END"
        # what a new table is granted by default is not what the old one was granted
        taken = self._rows(
            f"SELECT DISTINCT {grantee} FROM pg_class c, aclexplode(c.relacl) a "
            f"WHERE c.oid = {new} AND a.grantee <> c.relowner"
        )
        found += [f"REVOKE ALL ON TABLE {place} FROM {row[0]}" for row in taken]
        if listed_grants:
            found.append(f"REVOKE ALL ON TABLE {place} FROM {owner}")
        given = self._rows(
            f"SELECT {grantee}, a.privilege_type, a.is_grantable, NULL::text "
            f"FROM pg_class c, aclexplode(c.relacl) a WHERE c.oid = {old} "
            f"UNION ALL SELECT {grantee}, a.privilege_type, a.is_grantable, quote_ident(t.attname) "
            "FROM pg_attribute t, aclexplode(t.attacl) a "
            f"WHERE t.attrelid = {old} AND NOT t.attisdropped AND EXISTS "
            f"(SELECT FROM pg_attribute n WHERE n.attrelid = {new} AND n.attname = t.attname)"
        )
        for role, privilege, grantable, column in given:
            what = privilege if column is None else f"{privilege} ({column})"
            option = " WITH GRANT OPTION" if grantable else ""
            found.append(f"GRANT {what} ON TABLE {place} TO {role}{option}")
        comments = self._rows(
            f"SELECT quote_ident(t.attname), col_description({old}, t.attnum) FROM pg_attribute t "
            f"WHERE t.attrelid = {old} AND t.attnum > 0 AND NOT t.attisdropped "
            f"AND col_description({old}, t.attnum) IS NOT NULL AND EXISTS "
            f"(SELECT FROM pg_attribute n WHERE n.attrelid = {new} AND n.attname = t.attname)"
        )
        found += [f"COMMENT ON COLUMN {place}.{name} IS {_text(text)}" for name, text in comments]
        return found

    def commit(self) -> None:
        """End the transaction."""
        with self._translated():
            self._con.commit()

    def close(self) -> None:
        """Close the connection; what was not committed is undone by the server."""
        for part in (self._cursor, self._con):
            with suppress(Exception):  # the connection may be lost already
                part.close()

    def _missing(self, table: TableName) -> str:
        known = self._rows(
            "SELECT quote_ident(n.nspname), quote_ident(c.relname), "
            "n.nspname = ANY (current_schemas(false)) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname !~ '^pg_' "
            "AND n.nspname <> 'information_schema' ORDER BY 1, 2 LIMIT 1000"
        )
        names = [name if near else f"{schema}.{name}" for schema, name, near in known]
        hint = nearest(str(table), names) or nearest(table.name, names)
        return f"{self.address}: there is no such table or view, or this user may not see it.{hint}"

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self._translated():
            self._cursor.execute(sql)
            return list(self._cursor.fetchall())

    def _value(self, sql: str) -> Any:
        return self._rows(sql)[0][0]

    def _run(self, sql: str) -> None:
        self._cursor.execute(sql)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Raise errors of ours for those of the driver, which may quote a row or the query."""
        try:
            yield
        except InputError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise _failure(self.address, error) from None
        except Exception as error:
            if not type(error).__module__.startswith("adbc_driver_manager"):
                raise
            raise _failure(self.address, error) from None


def written_type(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is written, where its own has no counterpart."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    types = pa.types
    if types.is_null(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.binary()
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if types.is_decimal32(kind) or types.is_decimal64(kind):
        return pa.decimal128(kind.precision, kind.scale)
    return WRITTEN.get(str(kind), kind)


def _connect(address: Address) -> Any:
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise InputError(
            f"{address}: reading and writing PostgreSQL needs ADBC. Install it: "
            f"pip install 'shoal[{EXTRA}]'"
        ) from None
    uri = address.connection
    given = dict(address.parameters)
    more = {"client_encoding": "utf8", "fallback_application_name": "shoal"}
    if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
        more["connect_timeout"] = CONNECT_SECONDS
    added = "&".join(f"{key}={value}" for key, value in more.items() if key not in given)
    try:
        return dbapi.connect(uri + ("&" if "?" in uri else "?") + added)
    except Exception as error:
        raise _no_connection(address, error) from None


def _no_connection(address: Address, error: Exception) -> InputError:
    said = str(error)
    for cause in CONNECTION_CAUSES:
        if cause.sign in said:
            return InputError(f"{address}: {cause.words}.")
    lines = said.rpartition("Failed to connect:")[2].strip().splitlines() or ["it failed"]
    found = PRIMARY.search(lines[0])
    words = address.without_secrets(found[1] if found else lines[0]).rstrip(".")
    return InputError(f"{address}: cannot connect: {words}.")


def _failure(address: Address, error: Exception) -> InputError:
    """What went wrong, in words that hold no value of a row."""
    said = str(error)
    state = SQLSTATE.search(said)
    code = state[1] if state else ""
    primary = PRIMARY.search(said)
    if code in STATES:
        words = STATES[code]
    elif not code and primary and "FATAL" not in primary[0]:
        # while rows come, the driver has no codes
        words = next((w for sign, w in SIGNS.items() if sign in primary[1]), FAILED)
    elif not code or code[:2] in ("08", "57"):
        words = LOST
    elif code[:2] in ("42", "2B", "0A", "3F") and primary:
        # about names and syntax; these messages hold no values of rows
        words = address.without_secrets(primary[1]).rstrip(".")
    elif code[:2] == "22":
        words = "a value of the table does not fit an expression of the query, or a type"
    else:
        words = f"the server refused the work (SQLSTATE {code})"
    return InputError(f"{address}: {words}.")


def _type(field: pa.Field) -> str:
    """PostgreSQL's name of a column's type."""
    return (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()


def _precision(field: pa.Field) -> tuple[int, int] | None:
    """Precision and scale of a numeric column; None where it has none, or too many digits."""
    modifier = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1"))
    if modifier < 4:
        return None
    precision = ((modifier - 4) >> 16) & 0xFFFF
    scale = (((modifier - 4) & 0x7FF) ^ 1024) - 1024
    precision, scale = (precision - scale, 0) if scale < 0 else (max(precision, scale), scale)
    return (precision, scale) if precision <= MOST_DIGITS else None


def _expression(name: str, kind: str) -> str:
    """What is selected of a column: values in a type that Arrow has, or texts."""
    value = sql_name(name)
    if kind in AS_THEY_ARE:
        return value
    if kind == "money":
        return f"{value}::numeric::text"
    # what is not a number is missing, as in files
    return f"NULLIF({value}, 'NaN')::text" if kind == "numeric" else f"{value}::text"


def _text(value: str) -> str:
    """An SQL text literal, whatever the server takes a backslash for."""
    quoted = "'" + value.replace("'", "''") + "'"
    return quoted if "\\" not in value else " E" + quoted.replace("\\", "\\\\")
