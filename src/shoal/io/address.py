"""Addresses of tables in databases: a server or a database file, and a table or a query in it.

`postgresql://host/db?table=schema.visits`, `visits.sqlite?table=visits`,
`duckdb:///visits.duckdb?query=SELECT ...`. A password in an address is kept apart from everything that
is shown: neither the text nor the `repr` of an address has it.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, unquote_plus

from shoal.errors import InputError, nearest


class Dialect(StrEnum):
    """The kind of a database."""

    POSTGRESQL = "postgresql"
    SQLITE = "sqlite"
    DUCKDB = "duckdb"


SCHEMES = {
    "postgresql": Dialect.POSTGRESQL,
    "postgres": Dialect.POSTGRESQL,
    "sqlite": Dialect.SQLITE,
    "duckdb": Dialect.DUCKDB,
}
FILE_ENDINGS = {
    ".sqlite": Dialect.SQLITE,
    ".sqlite3": Dialect.SQLITE,
    ".db": Dialect.SQLITE,
    ".db3": Dialect.SQLITE,
    ".duckdb": Dialect.DUCKDB,
    ".ddb": Dialect.DUCKDB,
}
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(//)?")
CHOICE = re.compile(r"[?&](table|query)=", re.IGNORECASE)
MISSPELT = re.compile("://.*@", re.DOTALL)
"""A user, and perhaps a password, where no scheme stands before."""
IN_FILE = re.compile(
    rf"(.*(?:{'|'.join(map(re.escape, FILE_ENDINGS))}))([?#].*)?", re.IGNORECASE | re.DOTALL
)
SECRETS = ("password", "sslpassword")
"""Parameters of a connection that are never shown."""
MASK = "***"
PLAIN_NAME = re.compile(r"[^\W\d][\w$]*")
NAME_PART = re.compile(r'"((?:[^"]|"")+)"|([^".]+)')
ENCODED = "@:/?&=+ "
"""Characters of a name that are shown as they are, where they do no harm."""


class TableName(NamedTuple):
    """A table by its name, and its schema where that is given."""

    schema: str | None
    name: str

    @property
    def quoted(self) -> str:
        """The name in SQL."""
        return ".".join('"' + part.replace('"', '""') + '"' for part in self if part is not None)

    def __str__(self) -> str:
        parts = [part for part in self if part is not None]
        plain = all(PLAIN_NAME.fullmatch(part) and part == part.lower() for part in parts)
        return ".".join(parts) if plain else self.quoted


@dataclass(frozen=True, repr=False)
class Address:
    """A table, or the rows of a query, in a database."""

    dialect: Dialect
    server: str = ""
    """PostgreSQL: user, hosts and database as in a URI, without a password."""
    parameters: tuple[tuple[str, str], ...] = ()
    """PostgreSQL: further parameters of the connection, none of them secret."""
    file: Path | None = None
    """SQLite and DuckDB: the file of the database."""
    table: TableName | None = None
    query: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Parameters of the connection that are never shown."""

    @property
    def name(self) -> str:
        """What the rows are called: the table's name, or `query`."""
        return "query" if self.table is None else self.table.name

    @property
    def database(self) -> str:
        """The address of the database itself, without its table."""
        if self.file is not None:
            return str(self.file)
        shown = "&".join(f"{key}={value}" for key, value in self.parameters)
        masked = self.server
        if "password" in self.secrets:
            user, at, rest = masked.rpartition("@")
            masked = f"{user}:{MASK}@{rest}" if at else f":{MASK}@{rest}"
        return f"{Dialect.POSTGRESQL}://{masked}" + (f"?{shown}" if shown else "")

    def __str__(self) -> str:
        base = self.database
        mark = "&" if self.parameters else "?"
        if self.table is not None:
            return f"{base}{mark}table={self.table}"
        return base if self.query is None else f"{base}{mark}query={' '.join(self.query.split())}"

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"

    @property
    def public(self) -> "Address":
        """The same without its password."""
        return replace(self, secrets={})

    @property
    def connection(self) -> str:
        """PostgreSQL: the whole URI, with what is secret. It must not be shown."""
        every = {**dict(self.parameters), **self.secrets}
        shown = "&".join(f"{quote(key)}={quote(value, safe='')}" for key, value in every.items())
        return f"{Dialect.POSTGRESQL}://{self.server}" + (f"?{shown}" if shown else "")

    def without_secrets(self, text: str) -> str:
        """A message of a driver, should it quote something secret."""
        for secret in self.secrets.values():
            for spelled in {secret, quote(secret, safe=""), quote(secret)}:
                text = text.replace(spelled, MASK) if spelled else text
        return text

    def beside(self, name: TableName) -> "Address":
        """Another table of the same database."""
        return replace(self, table=name, query=None)


Place: TypeAlias = Path | Address
"""Where a table is: a file or folder, or a table or query of a database."""


def place_of(data: Any, folder: Path | None = None) -> Place:
    """The place that a text, a path or an address names; paths may be relative to a folder."""
    if isinstance(data, Address):
        return data
    text = os.fspath(data)
    found = _address(text)
    if found is None:
        return Path(data) if folder is None else folder / data
    if folder is not None and found.file is not None:
        return replace(found, file=folder / found.file)
    return found


def as_place(data: Any) -> Any:
    """The place that is named; anything else, such as a frame, as it is."""
    return place_of(data) if isinstance(data, str | os.PathLike) else data


def public(place: Place) -> Place:
    """The same place without a password."""
    return place.public if isinstance(place, Address) else place


def shown_name(place: Place) -> str:
    """What a table is called in a report: a file without its folders, a table without its server."""
    if isinstance(place, Address):
        return "a query" if place.table is None else f"table {place.table}"
    return place.name or place.resolve().name


def refuse_secrets(place: Place) -> Place:
    """Raise `InputError` for an address with a password: a command line is seen by every user."""
    if isinstance(place, Address) and place.secrets:
        raise InputError(
            f"{place}: the address has a password, which other users of this machine could read in "
            "the list of processes. Leave it out, and set PGPASSWORD, or put it into ~/.pgpass or a "
            "service file. Consider it known, and change it."
        )
    return place


def _address(text: str) -> Address | None:
    """The address in a text; None where it is the path of a file."""
    scheme = SCHEME.match(text)
    if scheme is not None:
        dialect = SCHEMES.get(scheme[1].lower())
        rest = text[scheme.end() :]
        if dialect is None and scheme[2]:
            raise InputError(
                f"'{scheme[1]}://…' is not an address that can be read or written; allowed: "
                f"postgresql://, sqlite:///, duckdb:/// and files.{nearest(scheme[1], SCHEMES)}"
            )
        if dialect is Dialect.POSTGRESQL:
            if not scheme[2]:
                raise InputError(
                    "An address of PostgreSQL begins with postgresql:// and is given as text, not as "
                    "a Path."
                )
            return _on_server(rest)
        if dialect is not None:
            return _in_file(dialect, rest, slashes=bool(scheme[2]))
    if MISSPELT.search(text):  # as a path it would be repeated in messages, with its password
        raise InputError(
            "This looks like the address of a server with a user, but does not begin with a scheme; "
            "allowed: postgresql://, sqlite:///, duckdb:/// and files."
        )
    found = IN_FILE.fullmatch(text)
    if found is None:
        return None
    # not `Path.suffix`: a file may be named `.db` alone
    dialect = FILE_ENDINGS["." + found[1].rpartition(".")[2].lower()]
    choice = found[2] or ""
    # as a sheet of a workbook is named
    choice = f"?table={choice[1:]}" if choice.startswith("#") else choice
    return _of_file(dialect, found[1], choice)


def _in_file(dialect: Dialect, rest: str, slashes: bool) -> Address:
    """`sqlite:///relative.db` or `sqlite:////absolute.db`, as in SQLAlchemy."""
    path, mark, choice = rest.partition("?")
    # neither is repeated in messages: there may be a password in it
    if MISSPELT.search(path) or (slashes and "@" in path.partition("/")[0]):
        raise InputError(
            f"An address of {dialect} names a file, but this one looks like that of a server with a "
            f"user; write {dialect}:///visits.db, or postgresql:// for a server."
        )
    if slashes:
        if not path.startswith("/"):
            raise InputError(
                f"{dialect}://{path}: the path of the file comes after three slashes: "
                f"{dialect}:///{path}"
            )
        path = path[1:]
    if not path:
        raise InputError(
            f"{dialect}:///: the address names no file, such as {dialect}:///visits.db"
        )
    whole = Path("/", path)
    if slashes and not _is_there(Path(path)) and not path.startswith("/") and _is_there(whole):
        raise InputError(
            f"{path} does not exist here. An absolute path needs four slashes: {dialect}:///{whole}"
        )
    return _of_file(dialect, path, mark + choice)


def _is_there(path: Path) -> bool:
    """Whether there is such a file; there is none where its name is too long for one."""
    try:
        return path.exists()
    except OSError:
        return False


def _of_file(dialect: Dialect, path: str, choice: str) -> Address:
    table, query, others = _chosen(dialect, path, choice)
    if others:
        raise InputError(
            f"{path}: '{others[0][0]}' is not part of an address of a database file. Allowed: "
            "?table=NAME or ?query=SELECT …"
        )
    return Address(dialect, file=Path(path), table=table, query=query)


def _on_server(rest: str) -> Address:
    """`user:password@host:port/database?parameter=value&table=name`."""
    cut = CHOICE.search(rest)
    head, choice = (rest, "") if cut is None else (rest[: cut.start()], rest[cut.start() :])
    secrets: dict[str, str] = {}
    user, at, hosts = head.rpartition("@")
    if at and not re.match(r"[^:]*[/?]", user):
        user, colon, password = user.partition(":")
        if colon:
            secrets["password"] = unquote(password)
        head = f"{user}@{hosts}" if user else hosts
    head, _, given = head.partition("?")
    table, query, more = _chosen(Dialect.POSTGRESQL, head, choice)
    parameters = [*parse_qsl(given, keep_blank_values=True), *more]
    secrets |= {key: value for key, value in parameters if key.lower() in SECRETS}
    shown = tuple(pair for pair in parameters if pair[0].lower() not in SECRETS)
    address = Address(Dialect.POSTGRESQL, head, shown, table=table, query=query, secrets=secrets)
    if table is None and query is None:
        raise InputError(
            f"{address} names a database, but no table in it. Add ?table=NAME, ?table=schema.NAME or "
            "?query=SELECT …"
        )
    return address


def _chosen(
    dialect: Dialect, where: str, choice: str
) -> tuple[TableName | None, str | None, list[tuple[str, str]]]:
    """The table or query of an address, and its other parameters. A query runs to the end."""
    table = query = None
    others: list[tuple[str, str]] = []
    while choice:
        key, _, value = choice[1:].partition("=")
        if key.lower() == "query":
            if table is not None:
                raise InputError(f"{where}: an address has either ?table= or ?query=, not both.")
            query = _query(where, value)
            break
        value, mark, rest = value.partition("&")
        choice = mark + rest
        if key.lower() != "table":
            others.append((key, unquote(value)))
        elif table is not None:
            raise InputError(f"{where}: an address names one table, but found ?table= twice.")
        else:
            table = table_name(unquote(value), fold=dialect is Dialect.POSTGRESQL)
    return table, query, others


def _query(where: str, text: str) -> str:
    """The SQL; it may be encoded as in a URL, where it then has no spaces."""
    query = text if re.search(r"\s", text) else unquote_plus(text)
    query = query.strip().rstrip(";").strip()
    if not query:
        raise InputError(f"{where}: ?query= is empty; it must be followed by SELECT …")
    return query


def table_name(text: str, fold: bool = False) -> TableName:
    """A name as in SQL: quoted, or plain; `fold`: plain names are in lower case."""
    parts, at = [], 0
    while found := NAME_PART.match(text, at):
        quoted, plain = found.groups()
        if quoted is not None:
            parts.append(quoted.replace('""', '"'))
        elif PLAIN_NAME.fullmatch(plain):
            parts.append(plain.lower() if fold else plain)
        else:
            raise InputError(
                f"?table={text}: a name with other characters than letters, digits and _ must be in "
                f'double quotes: ?table="{plain}"'
            )
        at = found.end()
        if at == len(text) or text[at] != ".":
            break
        at += 1
    if at != len(text) or not 1 <= len(parts) <= 2 or text.endswith("."):
        raise InputError(
            f'?table={text} is not the name of a table; allowed: NAME, schema.NAME and "Any Name".'
        )
    return TableName(parts[0] if len(parts) == 2 else None, parts[-1])
