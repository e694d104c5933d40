"""Pages of HTML that hold all they need: no script, no network, light and dark, on paper too."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, **values: Any) -> str:
    """Fill a template, named as `shoal.report/report.html`: the package whose folder `templates`
    holds it, and its file. Everything filled in is escaped unless it is marked safe."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["style"] = _source("shoal.drawing/style.css")
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment


def _source(name: str) -> str:
    package, _, file = name.partition("/")
    return files(package).joinpath("templates", file).read_text(encoding="utf-8")
