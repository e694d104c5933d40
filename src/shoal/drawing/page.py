"""Pages of HTML that hold all they need: no script, no network, light and dark, on paper too."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
from importlib.util import find_spec

from shoal.errors import InputError


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


# Whether what draws and fills pages is installed.


PACKAGES = ("matplotlib", "jinja2")


def can_draw() -> bool:
    """Whether charts and pages can be made here."""
    return all(find_spec(package) for package in PACKAGES)


def require_drawing(what: str) -> None:
    """Raise `InputError` unless charts and pages can be made; to be asked before any work."""
    if not can_draw():
        raise InputError(
            f"{what} needs the packages that draw charts, which are not installed. "
            "Install them with: pip install 'shoal[report]'"
        )
