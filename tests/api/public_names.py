"""The public names of Shoal with their parameters, one a line.

python -m tests.api.public_names > tests/api/public_names.txt
"""

import dataclasses
import inspect
from collections.abc import Iterator

import typer

import shoal
from shoal import api, plugins, testing
from shoal.cli.app import app
from shoal.policy import Column, Policy


def lines() -> Iterator[str]:
    """Functions, classes that are made by users, commands, policy fields and the checks of plug-ins."""
    functions = dict(inspect.getmembers(api, inspect.isfunction))
    for name in shoal.__all__:
        found = functions.get(name) or getattr(shoal, name)
        yield f"shoal.{name}{_parameters(found)}"
    for name, check in inspect.getmembers(testing, inspect.isfunction):
        if check.__module__ == "shoal.testing" and not name.startswith("_"):
            yield f"shoal.testing.{name}{_parameters(check)}"
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    for name, command in sorted(commands.items()):
        options = sorted(option for each in command.params for option in each.opts)
        yield f"command {name}: {' '.join(options)}"
    yield f"policy: {' '.join(sorted(set(Policy.model_fields) - {'folder'}))}"
    yield f"policy, a column: {' '.join(sorted(Column.model_fields))}"
    for kind in ("methods", "models", "metrics", "presets", "formats"):
        yield f"{kind}: {' '.join(sorted(getattr(plugins, kind)()))}"


def _parameters(found: object) -> str:
    """The names of a function's parameters, or of the fields of a plug-in."""
    if inspect.isfunction(found):
        return f"({', '.join(inspect.signature(found).parameters)})"
    if isinstance(found, type) and issubclass(found, plugins.Plugin):
        return f"({', '.join(field.name for field in dataclasses.fields(found))})"  # type: ignore[arg-type]
    return ""


if __name__ == "__main__":
    print("\n".join(lines()))
