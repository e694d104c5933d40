"""A policy file as plain data, with the line of every field.

Scalars are read by the core schema of YAML 1.2: only `true` and `false` are booleans, so a column may be
called `on` or `no`; dates, `12:30` and numbers with a leading zero (zip codes) stay text. Keys are
always text, as written. A repeated key is an error: YAML readers usually let the last one win silently,
and a column would lose its role.

YAML mistakes are reported with their position and what to change; PyYAML's own messages say what its
scanner expected.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from shoal.errors import PolicyError, listed
from shoal.policy.messages import FieldPath, Problem, refusal

QUOTE = "the quote opened here is not closed"
BRACKET = "the {} opened here is not closed, or a comma is missing in it"

WORDS = [
    ("'\\t'", "found a tab; indent with spaces"),
    ("nested too deep", "nested too deep for a policy"),
    ("too many values", "too many values for a policy; keep large hierarchies in CSV files of their "
     "own"),
    ("another document", "a second document starts here; a policy is one document, remove `---`"),
    ("mapping values are not allowed", "found a ':' where none is allowed; check the indentation, "
     "and put text that holds a ':' in quotes"),
    ("could not find expected ':'", "found a key without its ':'; write `key: value`"),
    ("undefined alias", "text that starts with * must be in quotes"),
    ("directive", "a line cannot start with %; put the text in quotes"),
    ("alphabetic or numeric character", "text that starts with * or & must be in quotes"),
    ("duplicate anchor", "found the same & name twice; give each its own"),
    ("unknown escape", "found a \\ in double quotes; use single quotes for text with a \\"),
    ("cannot start any token", "text cannot start with this character; put it in quotes"),
    ("tag", "text that starts with ! must be in quotes"),
    ("sequence entries", "a list starts on a line of its own, or is written as [a, b]"),
    ("document start", "the indentation does not fit the lines above"),
    ("block end", "the indentation does not fit the lines above"),
]  # fmt: skip
"""A part of PyYAML's message and the text that replaces it."""

MOST_BYTES = 4_000_000
MOST_VALUES = 200_000
DEEPEST = 60
"""Limits far above any policy: beyond them the file is a mistake or an attack. A draft for ten thousand
columns has 1.6 MB, most of it comments, and 60,000 values."""

TABLE_ENDINGS = (
    *(
        ".csv",
        ".tsv",
        ".gz",
        ".parquet",
        ".pq",
        ".arrow",
        ".feather",
        ".ipc",
        ".orc",
        ".xlsx",
        ".xlsm",
    ),
    *(
        ".xlsb",
        ".xls",
        ".ods",
        ".dta",
        ".sav",
        ".zsav",
        ".por",
        ".sas7bdat",
        ".xpt",
        ".jsonl",
        ".ndjson",
    ),
)

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Source:
    """Where a policy was read from."""

    name: str = ""
    """As the user wrote it; empty when the policy came from Python objects."""
    folder: Path = Path()
    """Where relative paths in the policy start."""
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[FieldPath, int] = field(default_factory=dict)
    """The line of every key and list entry, from 1."""
    replaced: frozenset[str] = frozenset()
    """Keys that replace those of the file: mistakes in them are on no line of it."""

    def with_keys(self, keys: Mapping[str, Any]) -> "Source":
        """The same, with some keys replaced."""
        return replace(self, data={**self.data, **keys}, replaced=frozenset(keys))

    def where(self, path: FieldPath = ()) -> str:
        """'policy.yaml:12: ', with the line of the field or of the nearest field around it."""
        if not self.name or (path and path[0] in self.replaced):
            return ""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return f"{self.name}:{self.lines[path[:end]]}: "
        return f"{self.name}: "


def read(path: Path) -> Source:
    """The policy in a file."""
    return parse(_text(path), str(path), path.absolute().parent)


def parse(text: str, name: str, folder: Path) -> Source:
    """The policy in a text."""
    try:
        node = _Loader(text).get_single_node()
    except yaml.YAMLError as error:
        raise PolicyError(f"{name}{syntax_words(error, text)}") from None
    if node is None or node.tag == f"{_TAG}null":
        raise PolicyError(
            f"{name}: is empty; a policy has at least `columns` and `constraints`. "
            "`shoal init` writes a draft for a table."
        )
    if not isinstance(node, yaml.MappingNode):
        shape = "a list" if isinstance(node, yaml.SequenceNode) else "text"
        raise PolicyError(
            f"{name}: found {shape}; a policy is a mapping with at least the keys `columns` and "
            "`constraints`."
        )
    builder = _Builder(Source(name, folder))
    data = builder.value(node, ())
    if builder.problems:
        raise refusal(builder.problems, builder.source.where)
    return replace(builder.source, data=data)


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise PolicyError(f"{path}: is a directory; name the policy file in it.")
        if path.suffix.lower() in TABLE_ENDINGS:
            # reading a table as YAML would give a message that quotes personal values
            raise PolicyError(f"{path}: is a table by its name; a policy is a YAML file.")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise PolicyError(f"{path}: does not exist.{_policy_files_near(path)}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name cannot be used"
        raise PolicyError(f"{path}: cannot be read: {reason.lower()}.") from None
    if len(raw) > MOST_BYTES:
        raise PolicyError(
            f"{path}: is larger than {MOST_BYTES:,} bytes; is it a policy? Keep large hierarchies "
            "in CSV files of their own."
        )
    return _decoded(raw, path)


def _policy_files_near(path: Path) -> str:
    """The YAML files in the same folder."""
    if not path.parent.is_dir():
        return f" Its folder {path.parent} does not exist either."
    files = sorted(p.name for p in path.parent.iterdir() if p.suffix in (".yaml", ".yml"))
    return f" Policy files there: {listed(files, 5)}." if files else ""


def _decoded(raw: bytes, path: Path) -> str:
    utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return raw.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        place = path if utf16 else f"{path}:{line}"
        raise PolicyError(f"{place}: is not UTF-8 text; save the file as UTF-8.") from None


class _Loader(yaml.SafeLoader):
    """Composes nodes only; the types of scalars come from the core schema below."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own attribute

    depth = n_nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        self.n_nodes += 1
        if self.depth > DEEPEST:
            raise yaml.MarkedYAMLError(problem="nested too deep", problem_mark=self.get_mark())
        if self.n_nodes > 2 * MOST_VALUES:  # each may have a key
            raise yaml.MarkedYAMLError(problem="too many values", problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


CORE_SCHEMA = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (
        r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
}
"""Per tag, its texts and their first letters."""


def add_core_schema(reader_or_writer: Any) -> None:
    """Let a PyYAML loader or dumper recognise unquoted texts that are not strings."""
    for tag, (texts, first) in CORE_SCHEMA.items():
        reader_or_writer.add_implicit_resolver(_TAG + tag, re.compile(f"(?:{texts})$"), first)


add_core_schema(_Loader)


class _Builder:
    """Turns nodes into values and records their lines."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.lines
        self.problems: list[Problem] = []
        self.n_values = 0

    def value(self, node: yaml.Node, path: FieldPath) -> Any:
        self.n_values += 1
        if self.n_values > MOST_VALUES or len(path) > DEEPEST:
            words = (
                f"grows beyond {MOST_VALUES:,} values or refers to itself, by & and *; write it out"
            )
            raise refusal([Problem(path[:2], words)], self.source.where)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self.mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return self.sequence(node, path)
        return self.scalar(node, path)

    def sequence(self, node: yaml.SequenceNode, path: FieldPath) -> list[Any]:
        for place, entry in enumerate(node.value):
            self.lines[*path, place] = _line(entry)
        return [self.value(entry, (*path, place)) for place, entry in enumerate(node.value)]

    def mapping(self, node: yaml.MappingNode, path: FieldPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.append(
                    Problem(path, "found a list or mapping as a key; keys are text")
                )
                continue
            key = (*path, key_node.value)
            if key_node.value in values:
                self.repeated(key, _line(key_node))
                continue
            self.lines[key] = _line(key_node)
            if key_node.value == "<<" and isinstance(value_node, yaml.MappingNode):
                self.problems.append(Problem(key, "merged keys (<<) are not read; write them out"))
            values[key_node.value] = self.value(value_node, key)
        return values

    def repeated(self, key: FieldPath, line: int) -> None:
        lines = f"listed twice, in lines {self.lines[key]} and {line}"
        is_column = len(key) == 2 and key[0] == "columns"
        fix = "a column has one role, so keep one of them" if is_column else "keep one of them"
        self.problems.append(Problem(key, f"{lines}; {fix}"))

    def scalar(self, node: yaml.Node, path: FieldPath) -> Any:
        text = node.value
        try:
            match node.tag.removeprefix(_TAG):
                case "str":
                    return text
                case "null":
                    return None
                case "bool":
                    return {"true": True, "false": False}[text.lower()]
                case "int":
                    return int(text, 0)
                case "float":
                    return float(re.sub(r"\.(?=[in])", "", text.lower()))
        except (KeyError, ValueError):
            self.problems.append(Problem(path, "found a number that cannot be read"))
            return None
        self.problems.append(Problem(path, "found a tag (a word with !); tags are not read"))
        return None


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def syntax_words(error: yaml.YAMLError, text: str) -> str:
    """':line:column: what is wrong', to follow the file's name."""
    if isinstance(error, yaml.reader.ReaderError):
        line = text.count("\n", 0, error.position) + 1
        return (
            f":{line}: contains a control character (code {ord(text[error.position])}); remove it."
        )
    if not isinstance(error, yaml.MarkedYAMLError):
        return ": cannot be read as YAML."
    problem, context = str(error.problem or ""), str(error.context or "")
    mark, words = error.problem_mark, _explanation(f"{context} {problem}")
    if (opening := _unclosed(problem, context)) and error.context_mark:
        mark, words = error.context_mark, opening
    place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
    return f"{place}: {words}."


def _explanation(problem: str) -> str:
    for piece, words in WORDS:
        if piece in problem:
            return words
    return "cannot be read as YAML; check indentation, quotes and brackets"


def _unclosed(problem: str, context: str) -> str:
    """The text for a bracket or quote that is not closed, if that is the mistake."""
    if "quoted scalar" in context and "end of stream" in problem:
        return QUOTE
    if "flow mapping" in context and "expected" in problem:
        return BRACKET.format("{")
    if "flow sequence" in context and "expected" in problem:
        return BRACKET.format("[")
    return ""
