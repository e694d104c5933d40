"""The live panel: what the release holds, how risky it is and what it costs, after every step."""

from collections.abc import Callable
from functools import partial
from math import sqrt

from nicegui import ui

from shoal.studio.figures import Figures
from shoal.studio.page import box, button, edit, notice, spaced, text
from shoal.studio.remedies import remedies
from shoal.studio.session import Live, Session
from shoal.studio.words import (
    ATTACKERS,
    THRESHOLDS,
    figure_text,
    percent,
    short_title,
    slack_text,
    step_text,
    words_for,
)


def live_panel(session: Session) -> None:
    """Create the panel; it follows the session by itself.

    What did not change is not sent again: progress changes one text, a check that begins changes the
    badge, and figures are created anew only where there are other ones.
    """
    drawn: Figures | None = None

    def draw(shown: Figures) -> None:
        body.clear()
        with body:
            _guarantees(shown)
            _attackers(shown)
            _small_classes(shown)
            _losses(session, shown)

    with box("aside", "live", id="live", aria_label="Live figures of the release"):
        text("The release so far", "visually-hidden", "h2")
        show_badge, show_step = _badge(session)
        body = box("div")

    def follow() -> None:
        nonlocal drawn
        live = session.live
        if live.shown is not None and live.shown is not drawn:
            drawn = live.shown
            draw(drawn)
        elif live.shown is None:
            drawn = None
            body.clear()
            with body:
                _nothing_yet(live)
        show_badge()  # at the same time: it speaks of these figures
        stale = live.shown is not None and live.state != "verified" and live.preview is None
        body.classes(add="stale" if stale else "", remove="" if stale else "stale")

    follow()
    session.live_changed.subscribe(follow)
    session.step_changed.subscribe(show_step)


def _nothing_yet(live: Live) -> None:
    """What will stand here."""
    if live.state not in ("empty", "waiting"):
        return
    with box("section", "stack small muted", id="nothing-yet"):
        text("Here you will see, after every step,", "", "p")
        with box("ul", "plain-list"):
            for words in (
                "what you asked for, and what the release holds",
                "how likely somebody is found in your table, and in the release",
                "how many people stand alone or in small groups",
                "what it costs: the detail that each column loses",
            ):
                text(words, "", "li")


def live_strip(session: Session) -> None:
    """Create the line that stays in sight on narrow windows."""

    with box("a", "live-strip", href="#live") as strip:
        mark = text("", "strong", aria_hidden="true")
        title = text("", "strong")
        exact = text("", "push num")

    def follow() -> None:
        live = session.live
        strip.classes(replace=f"live-strip {_badge_class(live)}")
        mark.set_text(_mark(live))
        title.set_text(_badge_words(live)[0])
        exact.set_text("" if live.shown is None else f"{percent(live.shown.exact)} exact")

    follow()
    session.live_changed.subscribe(follow)


def _badge_class(live: Live) -> str:
    if live.preview is not None:
        return ""
    known = {"verified": "verified", "failed": "failed", "waiting": "waiting"}
    return known.get(live.state, "")


def _mark(live: Live) -> str:
    if live.preview is not None:
        return "≈"
    return {"verified": "✓", "failed": "✕", "empty": "–", "waiting": "?"}.get(live.state, "…")


def _badge_words(live: Live) -> tuple[str, str]:
    if live.preview is not None:
        rows = live.preview.sampled
        where = f"a sample of {rows:,} rows" if rows else "the table, not read back yet"
        return "Trying it out", f"On {where}. Let go to check everything."
    match live.state:
        case "verified":
            return (
                "Verified",
                "Written to a trial file, read back and found to hold every guarantee.",
            )
        case "waiting":
            return "Waiting for you", "A release is made once every column has a role."
        case "failed":
            return "No release", "Nothing can be published with this policy as it is."
        case "checking":
            return "Checking", step_text(live.step)
        case "opening":
            return "Opening", step_text(live.step)
    return "No table yet", "Open one to begin."


def _badge(session: Session) -> tuple[Callable[[], None], Callable[[], None]]:
    """Create the badge; returns what shows the state in it, and what shows progress.

    Its elements stay and change at once, so that it is never behind the rest of the page.
    """
    with box("div", "badge", role="status", aria_live="polite", id="badge") as badge:
        mark = text("", "mark", "div", aria_hidden="true")
        with box("div", "stack").style("gap:0"):
            title = text("", "title", "div")
            said = text("", "sub", "div")
        stop = button("Stop", session.cancel, "quiet push")
    with box("div", "todo") as todo:
        words_to_do = text("", "small", "p")
        text("Decide", "quiet", "a", href="/columns")
    error = notice("", "bad").style("margin-top:8px")
    offered = box("div", "chips").style("margin-top:8px")
    check_again = partial(session.check, again=True)
    again = button("Check again", check_again, "quiet", id="check-again").style("margin-top:8px")

    def show() -> None:
        live = session.live
        words, sub = _badge_words(live)
        badge.classes(replace=f"badge {_badge_class(live)}")
        mark.set_text(_mark(live))
        title.set_text(words)
        title.props["data-state"] = live.state if live.preview is None else "trying"
        said.set_text(sub)
        stop.set_visibility(live.state == "checking")
        todo.set_visibility(live.state == "waiting")
        words_to_do.set_text(session.questions.get("columns", ""))
        error.set_text(live.error)
        error.set_visibility(bool(live.error))
        offered.clear()
        with offered:
            for one in remedies(live.error):
                button(one.label, partial(edit, session, one.step, one.change), "chip")
        again.set_visibility(live.state == "failed" and session.policy is not None)

    def show_step() -> None:
        if session.live.state in ("checking", "opening") and session.live.preview is None:
            said.set_text(step_text(session.live.step))

    return show, show_step


def _guarantees(figures: Figures) -> None:
    with box("section", ""):
        with box("div", "rows three"):
            text("What is guaranteed", "", "h3")
            text("asked", "r tiny muted")
            text("found", "r tiny muted")
            for one in figures.guarantees:
                words = words_for(one.model)
                name = one.model if one.of is None else f"{one.model} of {one.of}"
                with box("div", "", title=f"{words.term}: {words.why}"):
                    text(short_title(one), "", "div")
                    text(f"{name}: {slack_text(one)}", "tiny muted", "div")
                text(figure_text(one.asked), "r muted")
                text(
                    figure_text(one.found),
                    "r strong" + ("" if one.holds else " bad"),
                    data_found=f"{one.model}:{one.of or ''}",
                )
        for name, holds in figures.presets:
            said = f"Preset {name}: {'holds' if holds else 'does not hold'}"
            text(said, "small" if holds else "small bad", "div")


def _attackers(figures: Figures) -> None:
    with box("section", ""):
        text("Who could find somebody?", "", "h3")
        with box("div", "legend", aria_hidden="true"):
            box("span", "raw")
            text("your table")
            box("span", "now")
            text("the release")
            box("span", "limit")
            text("limits of authorities")
        for name, (title, meaning, _) in ATTACKERS.items():
            raw, now = getattr(figures.raw, name), getattr(figures.now, name)
            with box("div", "gauge", title=meaning):
                text(title)
                with box("span", "num"):
                    text(f"{percent(raw)} → ", "muted")
                    text(percent(now), "strong", data_risk=name)
                _track(
                    raw, now, f"{title}: {percent(raw)} in the table, {percent(now)} in the release"
                )
        with box("div", "scale", aria_hidden="true"):
            for limit, _, _ in THRESHOLDS:
                text(f"{limit:.0%}").style(f"left:{sqrt(limit) * 100:.1f}%")
        with box("details", "tiny muted"):
            text("Whose limits are these?", "", "summary")
            for limit, _, source in THRESHOLDS:
                text(f"{percent(round(limit, 3))}: {source}", "", "p")


def _track(raw: float, now: float, label: str) -> None:
    """A risk from 0 to 1, whose low end is stretched: half-way is 25 %."""
    left, right = sorted((sqrt(raw) * 100, sqrt(now) * 100))
    with box("div", "track", role="img", aria_label=label):
        for limit, name, source in THRESHOLDS:
            box("span", "limit", title=f"{name}: {source}").style(f"left:{sqrt(limit) * 100:.1f}%")
        box("span", "span").style(f"left:{left:.1f}%;width:{right - left:.1f}%")
        box("span", "raw").style(f"left:{sqrt(raw) * 100:.1f}%")
        box("span", "now").style(f"left:{sqrt(now) * 100:.1f}%")


def _small_classes(figures: Figures) -> None:
    with box("section", ""), box("div", "rows three"):
        text(f"{figures.counted.capitalize()} in small groups", "", "h3")
        text("table", "r tiny muted")
        text("release", "r tiny muted")
        for size, (raw, now) in figures.below.items():
            text("alone" if size == 2 else f"fewer than {size} alike")
            text(spaced(raw), "r muted")
            text(spaced(now), "r strong", data_below=str(size))
        text("left out")
        text("", "r")
        text(spaced(figures.suppressed_rows), "r strong")


def _losses(session: Session, figures: Figures) -> None:
    with box("section", ""):
        with box("div", "bar").style("margin-bottom:4px"):
            text("What it costs: detail lost", "", "h3")
        for name, one in sorted(figures.columns.items(), key=lambda pair: -pair[1].loss):
            label = f"{name}: {percent(one.loss)} of its detail lost, {percent(one.exact)} exact"
            row = box("button", "loss", type="button", title=label, aria_label=label)
            with row:
                text(name, "name")
                with box("span", "track"):
                    box("span", "fill").style(f"width:{max(1.0, one.loss * 100):.1f}%")
                text(percent(one.loss), "r", data_loss=name)
            row.on("click", lambda _, name=name: _visit(session, name))
        lost = (
            "" if figures.lost is None else f"{percent(figures.lost)} of the information is lost; "
        )
        summary = f"{lost}{percent(figures.exact)} of the cells keep their exact value."
        text(summary, "small", "p").style("margin-top:8px")


def _visit(session: Session, column: str) -> None:
    session.chosen_column = column
    ui.navigate.to("/columns")
