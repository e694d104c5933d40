"""Columns: what each column is, why, and which combinations betray most people."""

import re
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement
from ruamel.yaml.comments import CommentedMap

from shoal import api
from shoal.errors import PolicyError, ShoalError
from shoal.studio import tasks
from shoal.studio.columns_text import (
    missing_in,
    person_column,
    reading_in,
    roles_in,
    settings_in,
    with_person,
    with_role,
    with_setting,
)
from shoal.studio.constraints import constraints_in
from shoal.studio.page import box, button, edit, notice, on_press, replace, spaced, text
from shoal.studio.policy_text import is_null
from shoal.studio.screens.base import Screen
from shoal.studio.session import Session
from shoal.studio.tasks import inspect_table, values_of_column
from shoal.studio.uncovered import with_roles
from shoal.studio.unprotected import PROTECTED, protect_button, protection, unprotected_words
from shoal.studio.words import ROLES, SHORT, figure_text, percent, role_words, words_for
from shoal.studio.workers import CallCancelledError

PAGE = 8
"""Rows of the table on one page."""
CHOICES = ("quasi", "sensitive", "plain", "identifier", "person")
MOST_REASON = 300
"""Characters of a reason."""
FEW = 3
"""With more columns left to decide, all of them can be decided at once."""
ALL_AT_ONCE = {"quasi": "Others may know them", "identifier": "Leave them out"}
"""What all columns that are left can become: nothing that is published as it is."""
RARE = ("weight", "preference")
"""Roles that can be chosen here; others are chosen in the policy."""


BY_NAME = re.compile(r"by (?:its name|'[^']+' in its name) others may know it")
TO_HIDE = re.compile(r"by (?:its name|'[^']+' in its name) people may want to hide it")
WOULD_LEAVE = re.compile(r"it would leave (\S+ %) alone in groups of 5")
"""Reasons of proposals that are told in other words here."""


class Columns(Screen):
    """Choose the role of every column."""

    path = "columns"
    title = "Columns"
    next_words = "Then: in which steps values may grow coarser."
    question = "What does each column say about a person?"
    lead = (
        "What others may know is made coarser, what nobody must learn is protected, what names a person "
        "never leaves. Choose a column by its head, check the proposal, and correct it."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._inspection: api.Inspection | None = None
        self._inspected: tuple[dict[str, Any], str | None] = ({}, None)
        """How the table was read for it, and what one person was."""
        self._rows: list[dict[str, Any]] = []
        self._start = 0
        self._rare = False
        self._values: api.ValueCounts | None = None
        self._counted: tuple[str, int, float] | None = None
        """Who is alone, as the card says it."""

    def build(self) -> None:
        """Create the table, the card of the chosen column and the combinations."""
        session = self.session
        assert session.opened is not None
        left = self._left_to_decide()
        if session.chosen_column not in session.opened.columns or (
            left and session.chosen_column not in left
        ):
            session.chosen_column = (left or list(session.opened.columns))[0]

        # parts of their own, so that nothing is replaced under the pointer when counts arrive
        self._heads: dict[str, tuple[ui.element, TextElement]] = {}
        self._rows_part = ui.refreshable(self._page)
        self._card_part = ui.refreshable(self._card)
        self._facts_part = ui.refreshable(self._facts)
        self._values_part = ui.refreshable(self._histogram)
        self._combinations_part = ui.refreshable(self._combinations)
        self._undecided_part = ui.refreshable(self._undecided)
        with box("div", "stack-5") as all_parts:
            self._undecided_part()
            self._card_part()
            self._table()
            self._combinations_part()
        on_press(all_parts, "data-role", self._set_role)
        on_press(all_parts, "data-decide", self._choose)
        self.follow(session.policy_changed, self._follow_policy)
        self.follow(session.live_changed, self._follow_live)
        self.follow(session.column_chosen, self._show_chosen)
        ui.timer(0, self._load, once=True)

    def _follow_policy(self) -> None:
        if self._inspection is not None and self._inspected != self._to_inspect():
            self._inspection = None  # of rows where people are counted now, or read in another way
            self.session.spawn(self._inspect())
        self._undecided_part.refresh()
        self._mark_heads()
        self._card_part.refresh()
        self._combinations_part.refresh()

    def _follow_live(self) -> None:
        if self._counted != self._alone():
            self._combinations_part.refresh()

    async def _load(self) -> None:
        await self._turn(0)
        await self._show_values()
        await self._inspect()

    def _to_inspect(self) -> tuple[dict[str, Any], str | None]:
        """What the counts of all columns depend on: how the table is read, and what one person is."""
        text_now = self.session.policy_text().text
        try:
            return reading_in(text_now), person_column(text_now) or None
        except ShoalError:  # broken by another program, which the notice says
            return self._inspected

    async def _inspect(self) -> None:
        self._inspected = wanted = self._to_inspect()
        try:
            found = await self.ask(self.session.background, inspect_table, *wanted)
        except CallCancelledError:
            return
        except ShoalError as error:
            ui.notify(str(error), type="warning")
            return
        if wanted == self._inspected:  # it may have changed once more meanwhile
            self._inspection = found
            self._facts_part.refresh()
            self._combinations_part.refresh()

    # -- the table

    async def _turn(self, start: int) -> None:
        try:
            self._rows = await self.ask(
                self.session.whole, tasks.page_of_rows, start, PAGE, at_once=True
            )
        except (ShoalError, CallCancelledError):
            return
        self._start = start
        self._rows_part.refresh()
        opened = self.session.opened
        assert opened is not None
        last = min(self._start + PAGE, opened.rows)
        self._where.set_text(f"Rows {self._start + 1:,} to {last:,} of {opened.rows:,}")
        self._back.props["disabled"] = self._start == 0
        self._on.props["disabled"] = last >= opened.rows

    def _roles(self) -> dict[str, str]:
        workspace = self.session.workspace
        assert workspace is not None
        try:
            return roles_in(workspace.text)
        except ShoalError:
            return {}

    def _left_to_decide(self) -> list[str]:
        return [name for name, role in self._roles().items() if role == "undecided"]

    def _undecided(self) -> None:
        workspace = self.session.workspace
        assert workspace is not None
        if left := self._left_to_decide():
            with box("div", "notice is-warn bar", id="undecided"):
                text("Only you can decide these, and no release is made before:")
                for name in left:
                    chip = text(name, "chip", "button", type="button", data_decide=name)
                    chip.props["aria-label"] = f"Decide {name}"
            if len(left) > FEW:
                with box("div", "bar small"):
                    text("Or all of them at once, and then correct what differs:", "muted")
                    for role, words in ALL_AT_ONCE.items():
                        step = f"{len(left)} columns: {words.lower()}"
                        change = with_roles(left, role)
                        all_of_them = partial(edit, self.session, step, change)
                        button(words, all_of_them, "chip", data_all=role)
        elif workspace.error:
            notice(workspace.error, "bad")

    def _table(self) -> None:
        session = self.session
        assert session.opened is not None
        with box("section", "card table-card", aria_label="The table"):
            with box("div", "wide"), box("table", "preview"):
                with box("thead"), box("tr"):
                    for name in session.opened.columns:
                        self._head(name)
                with box("tbody"):
                    self._rows_part()
            with box("div", "bar small").style("padding:8px 12px"):
                self._where = text("", "muted num")
                self._back = button("Previous rows", lambda: self._turn(max(0, self._start - PAGE)))
                self._back.classes("push")
                self._on = button("Next rows", lambda: self._turn(self._start + PAGE))
        self._mark_heads()

    def _page(self) -> None:
        opened = self.session.opened
        assert opened is not None
        for row in self._rows:
            with box("tr"):
                for name in opened.columns:
                    value = row.get(name)
                    text("" if value is None else str(value), "", "td")

    def _head(self, name: str) -> None:
        with box("th", "", scope="col") as cell:
            head = box("button", "head", type="button", data_column=name)
            with head:
                text(name, "strong")
                role = text("", "role")
            head.on("click", lambda: self._choose(name))
        self._heads[name] = (cell, role)

    def _mark_heads(self) -> None:
        roles = self._roles()
        for name, (cell, label) in self._heads.items():
            role = roles.get(name, "")
            label.set_text(SHORT.get(role, role) or "decide")
            label.props["title"] = role_words(role)
            label.style(replace=f"color:var(--role-{role or 'undecided'})")
            cell.classes(replace="chosen" if name == self.session.chosen_column else "")

    async def _choose(self, name: str) -> None:
        self.session.chosen_column = name
        await self._show_chosen()

    async def _show_chosen(self) -> None:
        self._values, self._rare = None, False
        self._mark_heads()
        self._card_part.refresh()
        ui.run_javascript(
            "document.querySelector('[data-card]')?.scrollIntoView({block: 'nearest'});"
            "document.querySelector('th.chosen')?.scrollIntoView({block: 'nearest', inline: 'center'})"
        )
        await self._show_values()

    # -- the card of a column

    async def _show_values(self, rare: bool = False) -> None:
        name = self.session.chosen_column
        assert name is not None
        policy = self.session.policy_text().text
        hierarchy = settings_in(policy, name).get("hierarchy")
        codes = isinstance(hierarchy, dict) and "mask" in hierarchy
        missing = missing_in(policy, name)
        try:
            values = await self.ask(
                self.session.whole, values_of_column, name, rare, missing, codes, at_once=True
            )
        except (ShoalError, CallCancelledError):
            return
        if name == self.session.chosen_column:
            self._values, self._rare = values, rare
            self._values_part.refresh()
            self._facts_part.refresh()

    def _card(self) -> None:
        name = self.session.chosen_column
        assert name is not None
        role = self._roles().get(name, "")
        with box("section", "card stack-3", data_card=name):
            with box("header"), box("div"):
                text(name, "", "h2")
                meaning, happens = ROLES.get(role, ("No role", "Choose one."))
                text(f"{meaning}. {happens}", "why", "p")
            self._choices(name, role)
            if role == "sensitive":
                self._protection(name)
            self._facts_part()
            self._reason(name)
            self._values_part()

    def _reason(self, name: str) -> None:
        """Why the column is what it is, for whoever reads the report."""
        workspace = self.session.workspace
        assert workspace is not None
        if name not in self._roles():
            return
        given = settings_in(workspace.text, name).get("why")
        now = "" if is_null(given) else str(given)
        field = ui.input("Why? For the report", value=now)
        field.props(f"outlined dense maxlength={MOST_REASON}").props["data-reason"] = name

        def save() -> None:
            said = " ".join(str(field.value or "").split())
            if said != now:
                edit(self.session, f"{name}: reason", with_setting(name, "why", said or None))

        field.on("blur", save)
        field.on("keydown.enter", save)

    def _choices(self, name: str, role: str) -> None:
        with box("div", "chips", role="group", aria_label=f"What {name} is"):
            for choice in CHOICES:
                self._choice(choice, role)
        with box("details", "small") as rarer:
            if role in RARE:
                rarer.props["open"] = True
            text("Rarer cases", "muted", "summary")
            with box("div", "stack").style("margin-top:8px"):
                text(
                    f"To leave a column out, choose “{ROLES['identifier'][0]}”: it is never published.",
                    "tiny muted",
                    "p",
                )
                for choice in RARE:
                    with box("div", "bar"):
                        self._choice(choice, role)
                        text(ROLES[choice][1], "tiny muted")

    def _choice(self, choice: str, role: str) -> None:
        on = choice == role
        chip = text(
            ROLES[choice][0],
            "chip on" if on else "chip",
            "button",
            type="button",
            aria_pressed=str(on).lower(),
            data_role=choice,
        )
        chip.style(f"--accent:var(--role-{choice});--accent-soft:transparent")
        with chip:
            ui.tooltip(ROLES[choice][1]).props("delay=400")

    def _set_role(self, role: str) -> None:
        name = self.session.chosen_column
        assert name is not None
        before = self._roles().get(name, "")
        if role == before:
            return
        step = f"{name}: {role_words(before)} → {role_words(role)}"
        if role == "person":
            replace(self.session, step, with_person(self.session.policy_text().text, name))
            return
        if role == "sensitive" and self._protected(name, step):
            return
        # what does not fit the new role goes: settings first, then constraints on the column
        for kept in ({}, {"settings": False}, {"settings": False, "reading": False}):
            try:
                self.session.edit(step, with_role(name, role, **kept))
            except PolicyError:
                continue
            return
        bare = with_role(name, role, settings=False, reading=False, constraints=False)
        edit(self.session, step, bare)

    def _protected(self, name: str, step: str) -> bool:
        """Give a column the role, and the guarantee without which it would be told; False if it cannot
        have both."""

        def change(policy: CommentedMap) -> None:
            with_role(name, "sensitive", settings=False)(policy)
            protection([name])(policy)

        try:
            self.session.edit(f"{step}, {PROTECTED}", change)
        except PolicyError:
            return False
        return True

    def _protection(self, name: str) -> None:
        """What protects a column that must not be learnt."""
        if name in self.session.unprotected:
            with box("div", "notice is-warn bar", id="not-protected", role="status"):
                text(f"{unprotected_words([name])}.")
                protect_button(self.session, [name])
            return
        workspace = self.session.workspace
        assert workspace is not None
        asked = [one for one in constraints_in(workspace.text) if one.of == name]
        said = [words_for(one.model).title for one in asked]
        words = " · ".join(
            f"at least {figure_text(one.figure)} values in every group"
            if one.model == "l"
            else title[0].lower() + title[1:]
            for one, title in zip(asked, said, strict=True)
        )
        if words:
            with box("p", "small"):
                text(f"Protected by: {words}. ")
                text("Change it under Protect", "", "a", href="/protect")

    def _facts(self) -> None:
        name = self.session.chosen_column
        assert name is not None
        role = self._roles().get(name, "")
        if self._inspection is None:
            text("Counting who stands out by it …", "why", "p")
            return
        found = next((one for one in self._inspection.columns if one.name == name), None)
        if found is None:
            return
        distinct, missing = found.distinct, found.missing
        if self._values is not None and self._values.missing > missing:
            # codes such as NA were read as values; the policy says that they are none
            distinct, missing = self._values.distinct, self._values.missing
        with box("div", "facts"):
            self._fact("different values", spaced(distinct))
            self._fact("alone with their value", percent(found.unique_alone))
            if found.unique_caused is not None:
                self._fact("found only thanks to it", percent(found.unique_caused))
            self._fact("without a value", spaced(missing))
            self._fact("read as", found.type)
        proposed = ROLES.get(found.role, (found.role, ""))[0].lower()
        because = found.reason.rstrip(".")
        if distinct != found.distinct:
            because = because.replace(f"{found.distinct:,} different", f"{distinct:,} different")
        because = BY_NAME.sub(f"the column is called “{name}”", because)
        because = TO_HIDE.sub(f"people may want to hide what is called “{name}”", because)
        because = WOULD_LEAVE.sub(
            r"published as it is, it would make \1 of the people stand alone again within their groups",
            because,
        )
        words = f"Proposed: {proposed}, because {because}."
        if found.role == "undecided":
            words = f"There is no proposal: {because}."
        text(words, "small", "p")
        if found.role not in (role, "undecided") and found.role in (*CHOICES, *RARE):
            with box("div", "bar"):
                text("Take the proposal", "quiet", "button", type="button", data_role=found.role)
        if found.question:
            notice(found.question, "warn")

    def _fact(self, label: str, value: str) -> None:
        with box("div"):
            text(value, "strong num", "div")
            text(label, "tiny muted", "div")

    def _histogram(self) -> None:
        values = self._values
        if values is None:
            return
        if values.bars:
            self._bars(values)
        if values.hidden_rows:
            count = values.hidden_rows if values.ranges else values.hidden_values
            one = "value" if count == 1 else "values"
            other = f"other {one}" if values.bars else one
            are = "is" if count == 1 else "are"
            what = "rows in ranges" if values.ranges else f"{other}, in {values.hidden_rows:,} rows"
            with box("div", "bar small muted"):
                text(
                    f"{count:,} {what}{'' if values.ranges else ','} {are} not named here: fewer than "
                    "ten rows share each, or there are too many to list."
                )
                if not self._rare:
                    button("Show them too", lambda: self._show_values(rare=True))

    def _bars(self, values: "api.ValueCounts") -> None:
        most = max(bar.rows for bar in values.bars)
        said = f"The most common of {values.distinct:,} values"
        text("How many rows have each value", "tiny muted", "p")
        with box("div", "bars", role="img", aria_label=said):
            for bar in values.bars:
                text(bar.label, "name", title=bar.label)
                with box("span", "track"):
                    box("span", "fill").style(f"width:{100 * bar.rows / most:.1f}%")
                text(spaced(bar.rows), "r")

    # -- combinations

    def _alone(self) -> tuple[str, int, float] | None:
        """Who is alone by the columns as they are now: what is counted, how many and their share."""
        live = self.session.live.figures
        state = self.session.live.state
        if live is None or live.sampled is not None or state not in ("verified", "checking"):
            return None  # or they are of another policy
        return live.counted, live.raw.alone, live.raw.alone / max(1, live.people or live.rows)

    def _combinations(self) -> None:
        found = self._inspection
        with box("section", "card stack-3"):
            text("Which columns betray people?", "", "h2")
            if found is None:
                text("Counting …", "why", "p", role="status")
                return
            self._counted = self._alone()
            proposed = {one.name for one in found.columns if one.role == "quasi"}
            known = {name for name, role in self._roles().items() if role == "quasi"}
            if self._counted is None and known != proposed:
                waiting = "It is counted once every column has a role."
                if not self._left_to_decide():
                    failed = self.session.live.state == "failed"
                    waiting = (
                        "It is counted once a release can be made." if failed else "Counting …"
                    )
                text(waiting, "why", "p", role="status")
                return
            who, alone, share = self._counted or (
                "people" if found.people is not None else "rows",
                found.unique_rows,
                found.unique_share,
            )
            text(
                f"By all columns that others may know together, {spaced(alone)} {who} "
                f"({percent(share)}) are alone: whoever knows these about a person has found the "
                "person.",
                "sentence",
                "p",
            )
            gone = {n for n, role in self._roles().items() if role in ("identifier", "person")}
            shown = [one for one in found.search.found if not gone & set(one.columns)][:6]
            if not shown:
                text(
                    "No combination of up to three published columns is enough to pick out most people.",
                    "why",
                    "p",
                )
                return
            with box("div", "bars"):
                for one in shown:
                    text(" + ".join(one.columns), "name")
                    with box("span", "track"):
                        box("span", "fill").style(f"width:{one.share * 100:.1f}%")
                    text(percent(one.share), "r")
            text(f"The share of {who} who are alone by these columns.", "tiny muted", "p")
