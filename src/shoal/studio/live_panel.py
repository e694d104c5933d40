"""The live panel: what the release holds, how risky it is and what it costs, after every step."""

from collections.abc import Callable
from functools import partial
from math import sqrt

from nicegui import ui

from shoal.studio.figures import Figures, Guarantee, PresetFigures
from shoal.studio.page import box, button, edit, icon_button, notice, show_column, spaced, text
from shoal.studio.remedies import explained, remedies
from shoal.studio.session import Live, Session
from shoal.studio.uncovered import short_words, uncovered_notice
from shoal.studio.unprotected import unprotected_notice, unprotected_words
from shoal.studio.words import (
    ATTACKERS,
    INFORMATION,
    THRESHOLDS,
    figure_text,
    listed_words,
    percent,
    screen_words,
    short_title,
    slack_text,
    step_text,
    unit_of,
    with_unit,
    words_for,
)

ALARMING = 0.05
"""From this share of the rows on, those who stand alone are warned of."""


def live_panel(session: Session) -> None:
    """Create the panel; it follows the session by itself.

    What did not change is not sent again: progress changes one text, a check that begins changes the
    badge, and figures are created anew only where there are other ones.
    """
    drawn: object = None

    def draw(live: Live) -> None:
        body.clear()
        with body:
            if live.state == "failed" and live.preview is None:
                _asked(session)
            if live.shown is not None:
                _figures(session, live, live.shown)
            else:
                _nothing_yet(live)

    with box("aside", "live", id="live", tabindex="-1", aria_label="Live figures of the release"):
        with box("div", "sheet-head"):
            text("The release so far", "", "h2")
            text("Close", "quiet push", "button", type="button", id="close-sheet")
        show_badge, show_step = _badge(session)
        body = box("div")

    def follow() -> None:
        nonlocal drawn
        live = session.live
        failed = live.state == "failed" and live.preview is None
        wanted = (live.shown, live.shown is None and live.state, failed and live.error)
        if wanted != drawn:
            drawn = wanted
            draw(live)
        show_badge()  # at the same time: it speaks of these figures
        body.classes(replace="checking" if live.state == "checking" else "")

    follow()
    session.live_changed.subscribe(follow)
    session.step_changed.subscribe(show_step)


def _figures(session: Session, live: Live, shown: Figures) -> None:
    """All figures of a release; those of one that is not the policy's any more are faded."""
    old = live.state == "failed" and live.preview is None
    with box("div", "figures old" if old else "figures"):
        if old:
            text("The last release that was verified", "strong small", "p", id="older")
        else:
            text("Figures of the step before", "before tiny muted", "p")
        if live.figures is not None and not old:
            unprotected_notice(session, "unprotected")
            uncovered_notice(session, live.figures.disclosure)
        _guarantees(shown)
        _attackers(shown)
        _small_classes(shown)
        _losses(session, shown)


def _asked(session: Session) -> None:
    """What the policy asks for, where there is no release that could be counted."""
    policy = session.policy
    if policy is None or not policy.constraints:
        return
    failure = explained(session.live.error)
    with box("section", "", id="asked"), box("div", "rows three"):
        text("What you ask for", "", "h3")
        text("asked", "r tiny muted")
        text("found", "r tiny muted")
        for model in policy.constraints:
            of = model.column or None
            fails = (model.name, of) == (failure.model, failure.of)
            one = Guarantee(model.name, of, model.figure, None, not fails, 0)
            with box("div"):
                text(short_title(one), "bad" if fails else "", "div")
                if fails:
                    text("cannot be met", "tiny bad", "div")
            text(figure_text(one.asked), "r strong bad" if fails else "r strong")
            text("–", "r muted")


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
                "what it costs: the information that each column loses",
            ):
                text(words, "", "li")


def live_strip(session: Session, show_policy: Callable[[], None]) -> None:
    """Create the line that stays in sight on narrow windows; `page.js` opens the panel from it."""
    opener = {"aria_haspopup": "dialog", "aria_expanded": "false", "aria_controls": "live"}
    with box("div", "live-strip") as strip:
        with box("button", "opener", type="button", id="open-sheet", **opener):
            text("Show the live figures. ", "visually-hidden")
            with box("span", "bar"):
                mark = text("", "strong", aria_hidden="true")
                title = text("", "strong")
                ui.icon("expand_less").props("aria-hidden=true")
            said = text("", "num small figures-line", id="strip-figures")
            warned = text("", "small warn", id="strip-warning")
        heard = text("", "visually-hidden", role="status")
        icon_button("description", "The policy", show_policy, id="strip-policy").classes("push")
        undo = icon_button("undo", "Undo the last step", session.undo)

    def follow() -> None:
        live = session.live
        strip.classes(replace=f"live-strip {_badge_class(session)}")
        mark.set_text(_mark(session))
        words, short = _badge_words(session)[0], in_short(live)
        title.set_text(words)
        said.set_text(short)
        heard.set_text(f"{words}. {short}")
        known = live.figures if live.state in ("verified", "checking") else None
        words = "" if known is None else short_words(known.disclosure)
        if known is not None and session.unprotected:
            words = unprotected_words(session.unprotected)
        warned.set_text(f"! {words}" if words else "")
        warned.set_visibility(bool(words))
        undo.props["disabled"] = session.workspace is None or not session.workspace.can_undo
        undo.update()

    follow()
    session.live_changed.subscribe(follow)
    session.policy_changed.subscribe(follow)


def in_short(live: Live) -> str:
    """The release in a few figures, or why there is none."""
    if live.state == "failed" and live.preview is None:
        return explained(live.error).short
    if live.shown is None:
        return ""
    alike = next((one.found for one in live.shown.guarantees if one.model == "k"), None)
    words = [f"found at most {percent(live.shown.now.prosecutor)}"]
    if alike is not None:
        words = [f"at least {figure_text(alike)} alike"]
    if live.shown.lost is not None:
        words.append(f"{percent(live.shown.lost)} lost")
    return " · ".join(words)


def _badge_class(session: Session) -> str:
    if session.live.trying:
        return ""
    if _asks(session):
        return "waiting"
    known = {
        "verified": "verified",
        "failed": "failed",
        "waiting": "waiting",
        "unanswered": "waiting",
    }
    return known.get(session.state, "")


def _mark(session: Session) -> str:
    if session.live.trying:
        return "≈"
    if _asks(session):
        return "?"
    known = {"verified": "✓", "failed": "✕", "empty": "–", "waiting": "?", "unanswered": "?"}
    return known.get(session.state, "…")


def _asks(session: Session) -> bool:
    """Whether there is no release because of a question to the user."""
    return session.live.state == "failed" and explained(session.live.error).asks


def _badge_words(session: Session) -> tuple[str, str]:
    live = session.live
    if live.trying:
        if live.preview is None:
            return "Trying it out", "Figures follow. Let go to check everything."
        rows = live.preview.sampled
        where = f"a sample of {rows:,} rows" if rows else "the table, not read back yet"
        return "Trying it out", f"On {where}. Let go to check everything."
    if _asks(session):
        return "One question first", "Only you can answer it. Then the release is checked."
    match session.state:
        case "verified" if live.file:
            return "Verified", f"{live.file}: read back and found to hold every guarantee."
        case "verified":
            return (
                "Verified",
                "Written to a trial file, read back and found to hold every guarantee.",
            )
        case "unanswered":
            counted = "rows" if live.figures is None else live.figures.counted
            return "Not yet", f"Counted by {counted} as now, every guarantee would hold."
        case "waiting":
            return "Waiting for you", _waiting_words(session)
        case "failed" if session.workspace is None:
            return "Not opened", "This could not be read as a table."
        case "failed":
            return "No release", "Nothing can be published with this policy as it is."
        case "checking":
            return "Checking", step_text(live.step)
        case "opening":
            return "Opening", step_text(live.step)
    return "No table yet", "Open one to begin."


def _waiting_words(session: Session) -> str:
    """What is asked for first."""
    if {"open", "columns"} <= session.questions.keys():
        return "A release is made once it is known what one person is and every column has a role."
    return "A release is made once every column has a role."


def limits_words(now: float) -> str:
    """A risk against the limits of authorities."""
    exceeded = sum(now > limit + 1e-9 for limit, _, _ in THRESHOLDS)
    kept = len(THRESHOLDS) - exceeded
    return f"keeps {kept} of {len(THRESHOLDS)} limits, exceeds {exceeded}"


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
    todo = {}
    for screen, words in (("open", "Answer"), ("columns", "Decide")):
        with box("div", "todo") as line:
            question = text("", "small", "p")
            text(words, "quiet", "a", href=f"/{screen}")
        todo[screen] = (line, question)
    error = notice("", "bad").style("margin-top:8px")
    offered = box("div", "chips").style("margin-top:8px")
    check_again = partial(session.check, again=True)
    again = button("Check again", check_again, "quiet", id="check-again").style("margin-top:8px")

    def show() -> None:
        live, state = session.live, session.state
        words, sub = _badge_words(session)
        badge.classes(replace=f"badge {_badge_class(session)}")
        mark.set_text(_mark(session))
        title.set_text(words)
        title.props["data-state"] = "trying" if live.trying else state
        said.set_text(sub)
        stop.set_visibility(state == "checking")
        questions = session.questions if state in ("waiting", "unanswered") else {}
        for screen, (line, question) in todo.items():
            question.set_text(questions.get(screen, ""))
            line.set_visibility(screen in questions)
        failure = explained(live.error)
        error.set_text(failure.words)
        kind, other = ("is-warn", "is-bad") if failure.asks else ("is-bad", "is-warn")
        error.classes(add=kind, remove=other)  # what hides it is a class too
        error.set_visibility(bool(live.error))
        offered.clear()
        policy = "" if session.workspace is None else session.workspace.text
        steps = remedies(live.error, policy)
        with offered:
            for one in steps:
                button(one.label, partial(edit, session, one.step, one.change), "chip")
        again.set_visibility(
            state == "failed"
            and session.policy is not None
            and failure.most is None
            and not failure.asks
        )

    def show_step() -> None:
        if session.live.state in ("checking", "opening") and not session.live.trying:
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
                with box("div", "", title=f"{words.term}: {words.why}"):
                    text(short_title(one), "", "div")
                    text(slack_text(one), "tiny muted", "div")
                text(with_unit(one, one.asked, figures.counted), "r muted")
                with box("span", "r strong" + ("" if one.holds else " bad")):
                    text(figure_text(one.found), "", data_found=f"{one.model}:{one.of or ''}")
                    text(unit_of(one, figures.counted), "")
        for preset in figures.presets:
            with box("div", "stack", data_preset_found=preset.title).style(
                "gap:2px;margin-top:8px"
            ):
                said = preset_words(preset)
                text(said, "small" if preset.holds else "small bad", "p")
                if preset.to_judge:
                    with box("details", "tiny muted"):
                        text("What is yours to judge?", "", "summary")
                        with box("ul", "plain-list"):
                            for point in preset.to_judge:
                                text(screen_words(point), "", "li")


def preset_words(found: PresetFigures) -> str:
    """What was found of a preset: `holds` speaks of what a program can check, and no more."""
    if not found.holds:
        return f"{found.title}: does not hold"
    left = len(found.to_judge)
    points = "one point is" if left == 1 else f"{left} points are"
    if not found.checked:
        return f"{found.title}: nothing of it could be checked; {points} yours to judge"
    if not left:
        return f"{found.title}: holds"
    return f"{found.title}: what can be checked holds; {points} yours to judge"


def _attackers(figures: Figures) -> None:
    with box("section", ""):
        with box("div", "bar"):
            text("Chance to find somebody", "", "h3")
            text("further left is safer", "tiny muted push")
        with box("div", "legend", aria_hidden="true"):
            box("span", "raw")
            text("your table")
            box("span", "now")
            text("the release")
            with box("span", "pair-key"):
                text("limit:")
                box("span", "limit")
                text("exceeded")
            with box("span", "pair-key"):
                box("span", "limit kept")
                text("kept")
        for name, (title, meaning, _) in ATTACKERS.items():
            raw, now = getattr(figures.raw, name), getattr(figures.now, name)
            with box("div", "gauge", title=meaning):
                text(title)
                with box("span", "num"):
                    text(f"{percent(raw)} → ", "muted")
                    text(percent(now), "strong", data_risk=name)
                _track(
                    raw,
                    now,
                    f"{title}: {percent(raw)} in the table, {percent(now)} in the release, "
                    f"{limits_words(now)}",
                )
        with box("div", "scale", aria_hidden="true"):
            for limit, _, _ in THRESHOLDS:
                text(f"{limit:.0%}".replace("%", " %")).style(f"left:{sqrt(limit) * 100:.1f}%")
        with box("details", "tiny muted"):
            text("Whose limits are these?", "", "summary")
            for limit, _, source in THRESHOLDS:
                text(f"{percent(round(limit, 3))}: {source}", "", "p")


def _track(raw: float, now: float, label: str) -> None:
    """A risk from 0 to 1, whose low end is stretched: half-way is 25 %."""
    left, right = sorted((sqrt(raw) * 100, sqrt(now) * 100))
    with box("div", "track", role="img", aria_label=label):
        for limit, name, source in THRESHOLDS:
            kind = "limit" if now > limit + 1e-9 else "limit kept"
            box("span", kind, title=f"{name}: {source}").style(f"left:{sqrt(limit) * 100:.1f}%")
        box("span", "span").style(f"left:{left:.1f}%;width:{right - left:.1f}%")
        box("span", "raw").style(f"left:{sqrt(raw) * 100:.1f}%")
        box("span", "now").style(f"left:{sqrt(now) * 100:.1f}%")


def _small_classes(figures: Figures) -> None:
    with box("section", ""):
        with box("div", "rows three"):
            text(f"{figures.counted.capitalize()} in small groups", "", "h3")
            text("table", "r tiny muted")
            text("release", "r tiny muted")
            for size, (raw, now) in figures.below.items():
                text("alone" if size == 2 else f"fewer than {size} alike")
                text(spaced(raw), "r muted")
                text(spaced(now), "r strong", data_below=str(size))
            found = figures.disclosure
            if figures.sampled is None and found.plain and not found.exact:
                text("alone, if harmless columns are known")
                text("", "r")
                kind = "r strong warn" if found.alone else "r strong"
                text(spaced(found.alone), kind, data_uncovered="plain")
            if figures.sampled is None and found.alone_with_sensitive > found.alone:
                with box("div"):
                    text("alone, if everything published is known", "", "div")
                    text(*of_whoever_knows(figures), "div")
                text("", "r")
                text(spaced(found.alone_with_sensitive), "r", data_uncovered="all")
            text("left out")
            text("", "r")
            text(spaced(figures.suppressed_rows), "r strong")
        if figures.sampled is not None:
            text(f"Of the {figures.sampled:,} rows of the sample.", "tiny muted", "p")
        else:
            text(
                "How many must be alike is yours to ask for; authorities name 3, 5, 11 or 20.",
                "tiny muted",
                "p",
            ).style("margin-top:4px")


def of_whoever_knows(figures: Figures) -> tuple[str, str]:
    """What those learn who know a column that must not be learnt, and how loud it is said."""
    found = figures.disclosure
    if found.telling is None:
        words = "who knows all of a row already finds it, and learns nothing new from it"
        return words, "tiny muted"
    known, alone, learnt = found.telling
    unit = found.units if alone > 1 else found.unit
    loud = "warn" if alone >= ALARMING * found.published else "muted"
    words = (
        f"whoever knows {known} too finds {spaced(alone)} {unit} and learns {listed_words(learnt)}"
    )
    return words, f"tiny {loud}"


def _losses(session: Session, figures: Figures) -> None:
    with box("section", ""):
        with box("div", "bar").style("margin-bottom:4px"):
            text("What it costs: information lost", "", "h3")
        for name, one in sorted(figures.columns.items(), key=lambda pair: -pair[1].loss):
            label = f"{name}: {percent(one.loss)} lost, {percent(one.exact)} of its values exact"
            row = box("button", "loss", type="button", title=label, aria_label=label)
            with row:
                text(name, "name")
                with box("span", "track"):
                    box("span", "fill").style(f"width:{max(1.0, one.loss * 100):.1f}%")
                text(percent(one.loss), "r", data_loss=name)
            row.on("click", lambda _, name=name: show_column(session, name))
        if figures.lost is not None:
            with box("div", "loss total"):
                text("all columns together", "name strong")
                with box("span", "track"):
                    box("span", "fill").style(f"width:{max(1.0, figures.lost * 100):.1f}%")
                text(percent(figures.lost), "r strong", data_lost="all")
        if figures.lost_with_rules is not None:
            words = f"With what rules of the policy take away first: {percent(figures.lost_with_rules)}."
            text(words, "tiny muted", "p")
        text(f"{percent(figures.exact)} of the values are still exact.", "small", "p")
        with box("details", "tiny muted"):
            text("How is that counted?", "", "summary")
            text(INFORMATION, "", "p")
