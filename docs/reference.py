"""The reference pages of the site: written from the code at every build, so they are never behind it."""

import dataclasses
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator
from typing import Any

import typer
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

import shoal
from shoal import api, plugins
from shoal.cli.app import app
from shoal.errors import ShoalError
from shoal.policy import Column, Policy
from shoal.policy.about import About
from shoal.policy.reading import Reading

GENERATED = "This page is generated from the code of version {version}."
PLUGINS = {
    "methods": (
        "Methods",
        "A method forms the groups. [Choosing a method](../choosing-a-method.md) says when to use "
        "which; `shoal methods NAME` prints the same in a terminal.",
    ),
    "models": (
        "Models",
        "A privacy model is a guarantee that every published class holds. [The models](../models.md) "
        "compares them, with what each does not protect against.",
    ),
    "metrics": (
        "Metrics",
        "What a release cost. The [policy](../policy.md#metrics) names the metrics to measure in "
        "addition to the usual ones.",
    ),
    "presets": (
        "Presets",
        "What an authority asks for, checked on the release. [Presets](../presets.md) has the sources "
        "and what is left to a person.",
    ),
    "formats": (
        "File formats",
        "The file extension decides the format. [Files](../files.md) describes sheets, labels, and "
        "what is kept of them; another distribution can declare formats of its own.",
    ),
}
"""The pages about plug-ins: their titles and first sentences."""


def pages() -> dict[str, str]:
    """The generated pages by their path in the site."""
    found = {
        "reference/api.md": _api_page(),
        "reference/policy-fields.md": _policy_page(),
        "reference/command-options.md": _commands_page(),
    }
    return found | {f"reference/{kind}.md": _plugins_page(kind) for kind in PLUGINS}


def _head(title: str, text: str) -> list[str]:
    return [f"# {title}", "", text + " " + GENERATED.format(version=shoal.__version__), ""]


# Functions and classes


def _api_page() -> str:
    """Every public name: functions, results, errors, and classes that are arguments."""
    parts = _names_by_part()
    lines = _head(
        "API",
        "Every public name of `import shoal`. [Python by task](../python.md) introduces them with "
        "examples; names that are not listed here may change in any release.",
    )
    for part, names in parts.items():
        lines += [
            f"**{part}**: " + ", ".join(f"[`{name}`]({_address(name)})" for name in names),
            "",
        ]
    for part, names in parts.items():
        if part != "Methods and models":  # these have pages of their own
            lines += [f"## {part}", "", *(line for name in names for line in _entry(name))]
    return "\n".join(lines)


def _names_by_part() -> dict[str, list[str]]:
    """The public names in the order of the page; each stands in one part."""
    plugged = {cls for kind in ("methods", "models") for cls in getattr(plugins, kind)().values()}
    parts: dict[str, list[str]] = {
        "Functions": [],
        "Policies and hierarchies": ["Policy", "Hierarchy"],
        "Results": [],
        "Methods and models": [],
        "Errors and warnings": [],
        "Progress": ["ProgressEvent"],
    }
    # the package of the studio stands for its function
    functions = set(dict(inspect.getmembers(api, inspect.isfunction)))
    settled = {name for names in parts.values() for name in names}
    for name in sorted(set(shoal.__all__) - settled):
        found = getattr(shoal, name)
        if name in functions:
            parts["Functions"].append(name)
        elif isinstance(found, type) and issubclass(found, Exception):
            parts["Errors and warnings"].append(name)
        elif found in plugged:
            parts["Methods and models"].append(name)
        else:
            parts["Results"].append(name)
    return parts


def _address(name: str) -> str:
    """Where a public name is described. `attack` is a function, `Attack` its result."""
    found = getattr(shoal, name)
    for kind in ("methods", "models"):
        if found in getattr(plugins, kind)().values():
            return f"{kind}.md#{found.name}"
    return f"#class-{name.lower()}" if isinstance(found, type) else f"#{name}"


def _entry(name: str) -> list[str]:
    found = getattr(shoal, name)
    if not isinstance(found, type):
        function = getattr(api, name)
        return [f"### {name}", "", *_signature(name, function), *_docstring(function), ""]
    lines = [f"### class {name}", ""]
    if dataclasses.is_dataclass(found) and plugins.describe_fields(found):
        lines += _docstring(found)
        lines += _table(
            ("field", "meaning"),
            [(f"`{field}`", text) for field, text in plugins.describe_fields(found).items()],
        )
    else:
        lines += _docstring(found)
    if issubclass(found, ShoalError):
        lines += [f"Exit code of a command: {found.exit_code}.", ""]
    for member, attribute in _public_members(found):
        if isinstance(attribute, property):
            continue
        lines += [f"#### {name}.{member}", ""]
        function = inspect.unwrap(getattr(found, member))
        lines += [*_signature(f"{name}.{member}", function), *_docstring(function), ""]
    properties = [
        (f"`{member}`", _first_line(attribute))
        for member, attribute in _public_members(found)
        if isinstance(attribute, property)
    ]
    return lines + _table(("attribute", "meaning"), properties)


INNER = {
    "Policy": {"load", "with_changes", "to_yaml", "quasi", "sensitive", "plain", "identifiers"},
    "Hierarchy": {
        *("from_dict", "from_frame", "from_csv", "from_function", "intervals", "mask", "dates"),
        "paths",
    },
}
"""The public members of classes that also have members for other packages of ours."""


def _public_members(cls: type) -> list[tuple[str, Any]]:
    if issubclass(cls, Exception):
        return []
    own = [
        (name, attribute)
        for base in reversed(cls.__mro__)
        if base.__module__.startswith("shoal.")
        for name, attribute in vars(base).items()
        if not name.startswith("_") and _is_member(attribute)
    ]
    named = {name: inspect.getattr_static(cls, name) for name, _ in own}
    allowed = INNER.get(cls.__name__, set(named))
    return [(name, attribute) for name, attribute in named.items() if name in allowed]


def _is_member(attribute: Any) -> bool:
    return isinstance(attribute, (property, classmethod, staticmethod)) or inspect.isfunction(
        attribute
    )


def _signature(name: str, function: Any) -> list[str]:
    """The call as code, one parameter a line where there are many."""
    parameters = [
        each
        for each in inspect.signature(function).parameters.values()
        if each.name not in ("self", "cls")
    ]
    texts, starred = [], False
    for each in parameters:
        if each.kind is each.KEYWORD_ONLY and not starred:
            texts.append("*")
            starred = True
        text = {each.VAR_POSITIONAL: "*", each.VAR_KEYWORD: "**"}.get(each.kind, "") + each.name
        starred = starred or each.kind is each.VAR_POSITIONAL
        texts.append(text if each.default is each.empty else f"{text}={each.default!r}")
    call = ", ".join(texts)
    if len(call) + len(name) > 76:
        call = (
            "\n" + textwrap.fill(call, 76, initial_indent="    ", subsequent_indent="    ") + "\n"
        )
    return ["```python", f"{name}({call})", "```", ""]


SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)


def _docstring(documented: Any) -> list[str]:
    """A numpydoc docstring as Markdown: parameters as a table, examples as code."""
    # pydantic and dataclasses give a class without a docstring its signature
    text = inspect.getdoc(documented) or ""
    first, *rest = SECTION.split(text)
    lines = [_prose(first), ""]
    for heading, body in zip(rest[::2], rest[1::2], strict=True):
        if heading == "Examples":
            lines += ["**Examples**", "", *_examples(body), ""]
        elif heading in ("Parameters", "Returns", "Raises", "Warns", "Yields", "Attributes"):
            rows = [(f"`{name}`", text) for name, text in _entries(body)]
            lines += [f"**{heading}**", "", *_table(("name", "meaning"), rows)]
        else:
            lines += [f"**{heading}**", "", _prose(body), ""]
    return lines


def _entries(body: str) -> Iterator[tuple[str, str]]:
    """The names of a section of numpydoc with the text that is indented below each."""
    for found in re.finditer(r"^(\S[^\n]*)\n((?:[ \t]+[^\n]*\n?|\n)*)", body, re.M):
        yield found[1], " ".join(found[2].split())


def _examples(body: str) -> list[str]:
    """Sessions of Python as code, and the sentences between them as they are."""
    lines: list[str] = []
    for part in re.split(r"\n\s*\n", body.strip()):
        lines += ["```pycon", part, "```", ""] if part.startswith(">>>") else [part, ""]
    return lines


def _prose(text: str) -> str:
    """Text of a docstring: `<` and `*` outside of code are meant as they stand."""
    pieces = re.split(r"(`[^`]*`|^```.*?^```)", text.strip(), flags=re.M | re.S)
    return "".join(
        piece if place % 2 else re.sub(r"([<*~])", r"\\\1", piece)
        for place, piece in enumerate(pieces)
    )


def _first_line(attribute: property) -> str:
    paragraph = (inspect.getdoc(attribute) or "").partition("\n\n")[0]
    return " ".join(paragraph.split())


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """A table of Markdown, and nothing if there are no rows."""
    if not rows:
        return []
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        cells = (_prose(cell).replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


# Policies


def _policy_page() -> str:
    lines = _head(
        "Policy fields",
        "Every field of a policy with its type and default. [The policy file](../policy.md) explains "
        "them with examples.",
    )
    parts: list[tuple[str, str, type[BaseModel]]] = [
        ("The policy", "", Policy),
        ("A column", "In place of a mapping a column may be its role alone.", Column),
        ("read", "How the table is written.", Reading),
        ("about", "The first page of the report.", About),
    ]
    for title, text, model in parts:
        lines += [f"## {title}", "", *([text, ""] if text else [])]
        words = plugins.describe_fields(model)
        rows = [
            (f"`{name}`", _type(field.annotation), _default(field), words.get(name, ""))
            for name, field in model.model_fields.items()
            if name != "folder"
        ]
        lines += _table(("field", "type", "default", "meaning"), rows)
    return "\n".join(lines)


UNNAMED = {"Any": "see the text", "Model": "constraint"}
"""What stands for types that have no words."""


def _type(hint: Any) -> str:
    """A type in words; `plugins.type_words` knows those of plug-ins."""
    words = []
    for each in plugins.type_words(hint).split(" | "):
        if each in _literals(hint):
            words.append(f"`{each}`")
        elif each.startswith("dict") or each in ("PseudonymKey", "Reading", "About"):
            words.append("mapping")
        elif each.startswith("list of "):
            inside = each.removeprefix("list of ")
            words.append("list" if inside == "Any" else f"list of {UNNAMED.get(inside, inside)}")
        else:  # the end of a seed's range says nothing to a reader
            words.append(re.sub(r" and below \d{20,}$", "", UNNAMED.get(each, each)))
    return " | ".join(words)


def _literals(hint: Any) -> set[str]:
    """The texts that a type allows one by one."""
    if typing.get_origin(hint) is typing.Literal:
        return {str(each) for each in typing.get_args(hint)}
    return set().union(*map(_literals, typing.get_args(hint)))


def _default(field: Any) -> str:
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=False)
    if default is PydanticUndefined or default is None or isinstance(default, (tuple, BaseModel)):
        return "–"
    return f"`{default}`"


# Commands


def _commands_page() -> str:
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    lines = _head(
        "Command options",
        "Every command with its arguments and options, as `--help` prints them. [The "
        "commands](../commands.md) explains them with examples, JSON fields and exit codes.",
    )
    for name, command in commands.items():
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        options = [each for each in command.params if each.param_type_name == "option"]
        usage = " ".join(
            each.metavar if each.required else f"[{each.metavar.strip('[]')}]" for each in arguments
        )
        call = " ".join(filter(None, ["shoal", name, usage, "[OPTIONS]"]))
        lines += [f"## shoal {name}", "", "```text", call, "```", ""]
        lines += [_prose(inspect.cleandoc(command.help or "")), ""]
        lines += _table(
            ("argument", "meaning"), [(f"`{each.metavar}`", each.help or "") for each in arguments]
        )
        lines += _table(
            ("option", "meaning"), [(_option(each), each.help or "") for each in options]
        )
    return "\n".join(lines)


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    needed = ", required" if option.required else ""
    value = "" if option.is_flag or not option.metavar else f" `{option.metavar}`"
    return names + value + needed


# Plug-ins


def _plugins_page(kind: str) -> str:
    title, text = PLUGINS[kind]
    lines = _head(title, text)
    for name, plugin in sorted(getattr(plugins, kind)().items()):
        lines += [f"## {name}", ""]
        if kind in ("methods", "models") and plugin.__name__ in shoal.__all__:
            lines += [f"In Python `shoal.{plugin.__name__}`.", ""]
        lines += _docstring(plugin)
        rows = [
            (f"`{each.name}`", _prose(each.type), f"`{each.default}`", each.text)
            for each in plugins.describe(plugin).options
        ]
        lines += _table(("option", "type", "default", "meaning"), rows)
    return "\n".join(lines)
