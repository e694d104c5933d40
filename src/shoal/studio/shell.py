"""The frame of every screen: steps on the left, the live panel on the right, the policy below."""

from functools import partial
from importlib.resources import files

from fastapi import Response
from fastapi.responses import FileResponse
from nicegui import app, ui
from nicegui.events import GenericEventArguments

from shoal.studio.live_panel import live_panel, live_strip
from shoal.studio.page import box, close_mistakes, icon_button, text
from shoal.studio.policy_drawer import policy_drawer
from shoal.studio.screens import SCREENS
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session

TO_THE_TOP = "document.getElementById('screen')?.scrollTo(0, 0); scrollTo(0, 0);"
PREFERS_DARK = "matchMedia('(prefers-color-scheme: dark)')"


def register(session: Session) -> None:
    """Tell NiceGUI which pages there are."""
    style = (files("shoal.studio") / "style.css").read_text(encoding="utf-8")

    script = (files("shoal.studio") / "page.js").read_text(encoding="utf-8")

    def page() -> None:
        ui.add_css(style)
        ui.add_head_html(f"<script>{script}</script>")
        _frame(session)

    ui.page("/", title="Shoal studio")(page)
    for screen in SCREENS:
        ui.page(f"/{screen.path}", title=f"{screen.title} · Shoal studio")(page)

    @app.get("/written/{name}")
    def written(name: str) -> Response:
        found = session.written_file(name)
        if found is None or not found.is_file():
            return Response("This file was not written in this session.", 404)
        return FileResponse(found, headers={"cache-control": "no-store"})

    app.on_startup(session.watch)
    app.on_shutdown(session.close)


def _frame(session: Session) -> None:
    ui.colors(
        primary="#2f4fc7", secondary="#565f70", accent="#2f4fc7", positive="#565f70",
        negative="#a8201a", info="#2f4fc7", warning="#96480a",
    )  # fmt: skip
    dark = ui.dark_mode(session.dark)
    _prefer(session, dark)
    visited: list[Screen] = []
    with box("div", "shell"):
        text("Skip to the screen", "skip", "a", href="#screen")
        _top(session, dark)
        steps = _steps(session)
        with box("section", "screen", id="screen", tabindex="-1", aria_label="Screen"):
            routes = {
                f"/{one.path}": partial(_show, session, one, visited, steps) for one in SCREENS
            }
            ui.sub_pages({"/": partial(_show, session, SCREENS[0], visited, steps), **routes})
        live_panel(session)
        toggle = policy_drawer(session)
        live_strip(session, toggle)
    session.policy_changed.subscribe(close_mistakes)
    session.table_changed.subscribe(close_mistakes)
    ui.keyboard(on_key=lambda event: _key(session, event), ignore=["input", "textarea", "select"])


def _prefer(session: Session, dark: ui.dark_mode) -> None:
    """Be as light or dark as the browser prefers, until the user chooses."""

    async def ask() -> None:
        try:
            session.dark = bool(await ui.run_javascript(f"{PREFERS_DARK}.matches", timeout=5))
        except TimeoutError:  # the page was left
            return
        dark.value = session.dark
        session.look_changed.emit()

    def follow(event: GenericEventArguments) -> None:
        if not session.look_chosen:
            session.dark = dark.value = bool(event.args)
            session.look_changed.emit()

    ui.on("prefers-dark", follow)
    ui.run_javascript(
        f"{PREFERS_DARK}.addEventListener('change', e => emitEvent('prefers-dark', e.matches))"
    )
    if not session.look_chosen:
        ui.timer(0, ask, once=True)


def _top(session: Session, dark: ui.dark_mode) -> None:
    def toggle() -> None:
        session.look_chosen = True
        session.dark = dark.value = not session.dark
        session.look_changed.emit()

    with box("header", "top"):
        with box("div", "brand"):
            text("Shoal")
            text("Publish the table, not the people", "slogan")
        name = text("", "table-name")
        icon_button("contrast", "Light or dark", toggle, id="look").classes("push")

    def follow() -> None:
        if session.opened is None or session.place is None:
            name.set_text("")
            return
        rows, columns = session.opened.rows, len(session.opened.columns)
        of_people = "" if session.people is None else f"{session.people:,} people, "
        name.set_text(f"{session.table_name} · {of_people}{rows:,} rows, {columns} columns")

    follow()
    session.table_changed.subscribe(follow)
    session.live_changed.subscribe(follow)
    session.policy_changed.subscribe(follow)


def _steps(session: Session) -> "ui.refreshable[[], None]":
    here = {"path": ""}
    drawn: dict[str, str] = {}
    """The questions that are marked."""

    @ui.refreshable
    def steps(path: str = "") -> None:
        here["path"] = path or here["path"]
        drawn.clear()
        drawn.update(session.marks)
        with box("ol"):
            for number, screen in enumerate(SCREENS, 1):
                with box("li"):
                    is_here = screen.path == here["path"]
                    link = box("a", "here" if is_here else "", href=f"/{screen.path}")
                    if is_here:
                        link.props["aria-current"] = "step"
                    with link:
                        text(str(number), "dot", aria_hidden="true")
                        text(screen.title, "step-name")
                        if question := drawn.get(screen.path):
                            text("!", "asks push", title=question, aria_label=question)

    with box("nav", "steps", aria_label="Steps"):
        steps()
    session.table_changed.subscribe(steps.refresh)

    def follow() -> None:
        if session.marks != drawn:  # nothing is drawn again under the pointer otherwise
            steps.refresh()

    session.policy_changed.subscribe(follow)
    return steps


def _show(
    session: Session, kind: type[Screen], visited: list[Screen], steps: "ui.refreshable[[], None]"
) -> None:
    for earlier in visited:
        earlier.leave()
    screen = kind(session)
    visited[:] = [screen]
    ui.context.client.on_delete(screen.leave)
    steps.refresh(kind.path)
    ui.run_javascript(
        "shoalCloseSheet(); shoalCloseMistakes();"
        + TO_THE_TOP
        + "document.querySelector('.steps .here')?.scrollIntoView({block: 'nearest', inline: 'center'})"
    )
    place = session.place
    with box("div", "screen-inner"):

        @ui.refreshable
        def content() -> None:
            nonlocal place
            if place != session.place:  # another table: its first question is at the top
                place = session.place
                ui.run_javascript(TO_THE_TOP)
            screen.is_left = False
            question, lead = screen.heading()
            with box("div"):
                text(question, "", "h1")
                text(lead, "lead", "p")
            if kind.needs_table and session.workspace is None:
                _no_table(session)
            else:
                screen.build()
                _next(session, kind, screen)

        content()

    def reopened() -> None:
        screen.leave()
        screen.follow(session.table_changed, reopened)
        content.refresh()

    screen.follow(session.table_changed, reopened)


def _no_table(session: Session) -> None:
    with box("section", "card stack-3 empty"):
        if session.live.state == "opening":
            text("The table is being read.", "sentence", "p", role="status")
            return
        text("There is no table yet", "", "h2")
        text("This step needs one. Open a file of yours, or the made-up hospital.", "why", "p")
        with box("div", "bar"):
            text("Open a table", "primary", "a", href="/open")


def _next(session: Session, kind: type[Screen], screen: Screen) -> None:
    """The way on, at the end of a screen; it says what is still to be answered before."""
    later = SCREENS[SCREENS.index(kind) + 1 :]
    if not later or session.workspace is None:
        return

    @ui.refreshable
    def way() -> None:
        question = session.questions.get(kind.path)
        text(question or kind.next_words, "small muted", "p")
        where = later[0]
        style = "quiet" if question else "primary"
        text(f"Next: {where.title}", style, "a", href=f"/{where.path}", id="next")

    with box("div", "next"):
        way()
    screen.follow(session.policy_changed, way.refresh)


def _key(session: Session, event: object) -> None:
    """Undo and redo by their usual keys, outside of text fields."""
    from nicegui.events import KeyEventArguments

    assert isinstance(event, KeyEventArguments)
    pressed = event.modifiers.ctrl or event.modifiers.meta
    if not (pressed and event.action.keydown):
        return
    if event.key.name.lower() == "z" and event.modifiers.shift:
        session.redo()
    elif event.key.name.lower() == "z":
        session.undo()
    elif event.key.name.lower() == "y":
        session.redo()
