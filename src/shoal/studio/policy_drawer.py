"""The policy drawer: the file behind every control, with what the last step changed in it."""

from collections.abc import Callable
from functools import partial

from nicegui import ui

from shoal.errors import ShoalError
from shoal.studio.page import box, button, icon_button, notice, text
from shoal.studio.session import Session
from shoal.studio.words import ROLES

CHANGED = "What the last step changed"


def policy_drawer(session: Session) -> Callable[[], None]:
    """Create the drawer; it follows the session by itself. Returns what opens and closes it."""
    shown = {"open": False, "changes": False}
    editors: list[ui.codemirror] = []

    @ui.refreshable
    def body() -> None:
        workspace = session.workspace
        if workspace is None:
            return
        if workspace.unsaved:
            notice(workspace.unsaved, "bad").style("margin:0 16px 8px")
        if not shown["open"]:
            return
        side = "changes" if shown["changes"] else "text"
        with box("div", f"drawer-tabs show-{side}", role="group", aria_label="The policy"):
            for words, changes in (("Text", False), ("Last change", True)):
                on = shown["changes"] == changes
                tab = button(words, partial(turn, changes), "chip on" if on else "chip")
                tab.props["aria-pressed"] = str(on).lower()
            button("Close", toggle, "quiet push")
        with box("div", f"drawer-body show-{side}"):
            with box("div", "stack text-side"):
                editor = ui.codemirror(workspace.text, language="YAML", line_wrapping=True)
                editors[:] = [editor]
                dress()
                editor.classes("grow").style("min-height:0;flex:1")
                mistake = text("", "small bad", "div")

                def save() -> None:
                    try:
                        session.replace("edited as text", str(editor.value))
                    except ShoalError as error:
                        mistake.set_text(str(error))

                with box("div", "bar apply"):
                    button("Apply the text", save, id="apply-text")
                    text("Checked as the command line checks it; Ctrl+S.", "tiny muted")
                with box("details", "tiny muted"):
                    text("What the words in it mean", "", "summary")
                    for role, (meaning, _) in ROLES.items():
                        text(f"{role}: {meaning}", "", "p")
                    text("k, l, t …: guarantees, as Protect explains them", "", "p")
                editor.map_key("Mod-s", lambda _: save())
            with box("div", "stack changes-side"):
                text(CHANGED, "", "h3")
                with box("div", "diff", tabindex="0", role="region", aria_label=CHANGED):
                    lines = workspace.difference
                    if not lines:
                        text("No step has changed the policy yet.", "same")
                    for mark, line in lines:
                        kind = {"+": "add", "-": "del"}.get(mark, "same")
                        text(f"{mark} {line}", kind)

    def dress() -> None:
        """Light or dark; both without green, which is kept for what was verified."""
        for editor in editors:
            if not editor.is_deleted:
                editor.theme = "githubDark" if session.dark else "githubLight"

    def turn(changes: bool) -> None:
        shown["changes"] = changes
        body.refresh()

    def toggle() -> None:
        shown["open"] = not shown["open"]
        follow()
        if shown["open"]:
            ui.run_javascript(
                "document.querySelector('.drawer').scrollIntoView({block: 'nearest'})"
            )

    with box("section", "drawer", aria_label="The policy file") as drawer:
        # these stay: whoever undoes many steps clicks faster than a page is sent
        with box("div", "drawer-bar"):
            undo = icon_button("undo", "Undo", session.undo, id="undo")
            redo = icon_button("redo", "Redo", session.redo, id="redo")
            with box("span", "last"):
                text("Last step: ", "muted")
                last = text("", "strong", id="last-step")
                count = text("", "muted")
            unsaved = text("", "bad strong")
            box("span", "push")
            file = text("", "mono small muted file")
            switch = button("", toggle, "quiet", id="drawer-toggle")
        body()

    def follow() -> None:
        workspace = session.workspace
        undone = "" if workspace is None else workspace.can_undo
        redone = "" if workspace is None else workspace.can_redo
        for made, word, name in ((undo, "Undo", undone), (redo, "Redo", redone)):
            made.props["disabled"] = not name
            made.props["title"] = made.props["aria-label"] = f"{word}: {name}" if name else word
        last.set_text("none yet" if workspace is None else workspace.last_step)
        number = 0 if workspace is None else workspace.position
        count.set_text(f" · step {number}" if number else "")
        unsaved.set_text("not saved!" if workspace is not None and workspace.unsaved else "")
        file.set_text("" if workspace is None else workspace.policy_file.name)
        file.props["title"] = "" if workspace is None else str(workspace.policy_file)
        switch.set_text("Hide the policy" if shown["open"] else "The policy")
        switch.props["aria-expanded"] = str(shown["open"]).lower()
        switch.props["disabled"] = workspace is None
        drawer.classes(replace="drawer open" if shown["open"] else "drawer")
        body.refresh()

    follow()
    session.policy_changed.subscribe(follow)
    session.table_changed.subscribe(follow)
    session.look_changed.subscribe(dress)  # what is being typed stays
    return toggle
