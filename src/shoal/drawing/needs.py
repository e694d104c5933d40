"""Whether what draws and fills pages is installed."""

from importlib.util import find_spec

from shoal.errors import InputError

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
