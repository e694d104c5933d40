"""What there is in a room of plug-ins, told by their own docstrings."""

import inspect
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from shoal import plugins
from shoal.cli.console import block, guarded, indented, out, print_json
from shoal.cli.options import Json


def show_room(room: plugins.Kind, name: str | None, as_json: bool) -> None:
    """List the plug-ins of a room, or explain one of them."""
    every = {"methods": plugins.methods, "models": plugins.models, "metrics": plugins.metrics}
    one = {"methods": plugins.method, "models": plugins.model, "metrics": plugins.metric}
    chosen = [one[room](name)] if name is not None else list(every[room]().values())
    if as_json:
        print_json(_as_data(chosen[0]) if name is not None else {room: [*map(_as_data, chosen)]})
    elif name is not None:
        console = out()
        console.print()
        block(console, _explained(room, chosen[0]))
    else:
        show_list(out(), room, chosen)


def show_list(console: Console, room: plugins.Kind, found: list[type]) -> None:
    """A line or two for each plug-in."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for plugin in found:
        each = plugins.describe(plugin)
        summary = Text(each.summary)
        if each.on_request:
            summary.append(" On request alone.", style="dim")
        table.add_row(each.name, summary)
    console.print()
    block(console, table)
    for problem in plugins.problems(room).values():
        block(console, Text(f"Not available: {problem}", style="yellow"))
    block(console, Text(f"`shoal {room} NAME` tells more about one.", style="dim"))


def _explained(room: plugins.Kind, plugin: type) -> RenderableType:
    described = plugins.describe(plugin)
    parts: list[RenderableType] = [Text(described.name, style="bold")]
    for paragraph in _paragraphs(plugin):
        parts += [Text(), Text(paragraph)]
    parts += [Text(), Text(_used_as(room, plugin), style="dim")]
    for option in described.options:
        head = Text.assemble((option.name, "bold"), f": {option.type}; ", (_default(option), "dim"))
        parts += [Text(), head, indented(Text(option.text), 4)]
    return Group(*parts)


def _used_as(room: plugins.Kind, plugin: type) -> str:
    described = plugins.describe(plugin)
    if room == "methods":
        return f"Used in a policy as `method: {described.name}`."
    if room == "models":
        needed = [o.name for o in described.options if o.default == plugins.REQUIRED]
        return f"Used in a policy's constraints as {{{', '.join(f'{n}: ..' for n in needed)}}}."
    if described.on_request:
        return (
            f"It takes long, so it is measured on request alone: `metrics: [{described.name}]` in a "
            f"policy, or `shoal run --metric {described.name}`."
        )
    return "Every release is measured by it."


def _default(option: plugins.Option) -> str:
    if option.default == plugins.REQUIRED:
        return plugins.REQUIRED
    return f"{option.default} if left out"


def _paragraphs(plugin: type) -> list[str]:
    """The docstring, each paragraph on one line for the terminal to wrap."""
    text = inspect.getdoc(plugin) or ""
    return [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]


def _as_data(plugin: type) -> dict[str, Any]:
    described = plugins.describe(plugin)
    return {
        "name": described.name,
        "summary": described.summary,
        "text": "\n\n".join(_paragraphs(plugin)),
        "options": [option._asdict() for option in described.options],
        "on_request": described.on_request,
    }


# `shoal methods`: ways to put rows into groups.


@guarded
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the methods, or explain one."""

    show_room("methods", name, json)


# `shoal metrics`: what a release is measured by.


@guarded
def metrics(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the metrics, or explain one."""

    show_room("metrics", name, json)


# `shoal models`: guarantees a policy can ask for.


@guarded
def models(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this one.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the privacy models, or explain one."""

    show_room("models", name, json)
