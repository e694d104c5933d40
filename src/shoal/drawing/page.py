"""HTML pages that need nothing else: no script, no network; light, dark and on paper."""

from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError

if TYPE_CHECKING:
    from jinja2 import Environment

PACKAGES = ("matplotlib", "jinja2")


def can_draw() -> bool:
    """Whether the packages for charts and pages are installed."""
    return all(find_spec(package) for package in PACKAGES)


def require_drawing(what: str) -> None:
    """Raise `InputError` unless charts and pages can be made; to be called before any work."""
    if not can_draw():
        raise InputError(
            f"{what} needs the packages that draw charts, which are not installed. "
            "Install them with: pip install 'shoal[report]'"
        )


def render(template: str, **values: Any) -> str:
    """Fill a template, named by its package and file: `shoal.report/report.html`.

    Values are escaped unless they are marked safe.
    """
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
