"""Small parts that screens are made of: texts, boxes, buttons, notices and terms.

Every text is set as text, never as HTML, so a column may be called `<b>`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from shoal.errors import ShoalError
from shoal.studio.policy_text import Change
from shoal.studio.session import Session
from shoal.studio.words import plain_error

ElementT = TypeVar("ElementT", bound=ui.element)


def text(words: str, classes: str = "", tag: str = "span", **props: Any) -> TextElement:
    """A text in an element."""
    return described(TextElement(tag=tag, text=words).classes(classes), **props)


def box(tag: str = "div", classes: str = "", **props: Any) -> ui.element:
    """An element that holds others; use it with `with`."""
    return described(ui.element(tag).classes(classes), **props)


def described(element: ElementT, **props: Any) -> ElementT:
    """The element with attributes; `aria_label` is written `aria-label`."""
    for name, value in props.items():
        element.props[name.replace("_", "-")] = value
    return element


def button(
    words: str, handler: Callable[[], Any], classes: str = "quiet", **props: Any
) -> TextElement:
    """A button with a text."""
    made = text(words, classes, "button", type="button", **props)
    made.on("click", lambda: handler())
    return made


def on_press(container: ui.element, attribute: str, handler: Callable[[str], object]) -> None:
    """Call a function with the value of an attribute, whenever something that has it is pressed.

    The container is what listens, so a press on a part that is being drawn again is not lost.
    """
    container.on(
        "click",
        lambda event: handler(str(event.args)),
        js_handler=f"(e) => {{const hit = e.target.closest('[{attribute}]');"
        f" if (hit) emit(hit.getAttribute('{attribute}'))}}",
    )


def icon_button(icon: str, label: str, handler: Callable[[], Any], **props: Any) -> ui.element:
    """A button with an icon alone; `label` is what a screen reader says and the pointer shows."""
    made = box("button", "icon-button", type="button", aria_label=label, title=label, **props)
    with made:
        ui.icon(icon).props("aria-hidden=true")
    made.on("click", lambda: handler())
    return made


def notice(words: str, kind: str = "") -> TextElement:
    """A message in its own box; kind: `bad`, `warn` or nothing."""
    classes = f"notice is-{kind}" if kind else "notice"
    return text(words, classes, "div", role="alert" if kind == "bad" else "status")


def term(words: str, meaning: str) -> ui.element:
    """A term of the field, whose meaning is a click (or a pointer) away."""
    made = text(words, "term small", "button", type="button", aria_label=f"{words}: {meaning}")
    made.style(
        "background:none;border-width:0 0 1px;padding:0;min-height:24px;font:inherit;color:inherit"
    )
    made.props["title"] = meaning
    with made, ui.menu():
        text(meaning, "small", "p").style("padding:12px;margin:0;max-width:36ch")
    return made


def edit(session: Session, name: str, change: Change, likely: tuple[Change, ...] = ()) -> bool:
    """Change the policy by a named step; a mistake is shown, and changes nothing.

    likely: steps that may come next.
    """
    return _tried(lambda: session.edit(name, change, likely))


def replace(session: Session, name: str, policy: str) -> bool:
    """Put another text in place of the policy; as `edit`."""
    return _tried(lambda: session.replace(name, policy))


def _tried(work: Callable[[], None]) -> bool:
    try:
        work()
    except ShoalError as error:
        tell(str(error))
        return False
    return True


def show_column(session: Session, name: str) -> None:
    """Show a column on the screen about columns, also where that is shown already."""
    session.chosen_column = name
    session.column_chosen.emit()
    ui.navigate.to("/columns")


def spoken(slider: ui.element, name: str, *values: str) -> None:
    """What a screen reader says of a slider: its name, and the value of each of its thumbs.

    `page.js` gives both to the part that takes the focus.
    """
    slider.props["aria-label"] = name
    slider.props["data-said"] = "|".join(values)
    slider.update()


def tell(error: str) -> None:
    """Show a mistake in plain words above everything else, in place of an earlier one.

    It stays until it is closed, the next step is made or another screen is shown.
    """
    ui.notify(
        plain_error(error),
        type="negative",
        multi_line=True,
        timeout=0,
        group=False,
        close_button="Close",
        position="top",
        classes="mistake",
    )


def close_mistakes() -> None:
    """Close what `tell` has shown: a step was made since."""
    ui.run_javascript("shoalCloseMistakes()")


def spaced(number: float) -> str:
    """A count for people."""
    return f"{number:,.0f}"
