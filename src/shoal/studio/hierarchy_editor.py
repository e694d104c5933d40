"""The editor of a column's groups: a tree with counts, changed by dragging or by buttons."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import UploadEventArguments
from ruamel.yaml.comments import CommentedMap

from shoal.errors import InputError
from shoal.studio.columns_text import settings_in
from shoal.studio.hierarchy_tree import Node, Tree
from shoal.studio.page import box, button, edit, notice, spaced, tell, text
from shoal.studio.policy_text import Change, flow_map, scalar
from shoal.studio.session import Session

COMMON = 10
"""Values that fewer rows share are not named until that is asked for."""
LARGEST_IMPORT = 2_000_000
"""Bytes of a file of groups."""
DRAGGED = """(e) => {const line = e.target.closest?.('[data-key]');
  if (!line) return; e.dataTransfer.setData('text/plain', ''); e.dataTransfer.effectAllowed = 'move';
  window.shoalDragged = line.dataset.key}"""
"""Firefox drags only what carries data; no value of the table does here."""
OVER = """(e) => {const line = e.target.closest?.('[data-key]');
  if (!line || !window.shoalDragged) return; e.preventDefault();
  for (const other of document.querySelectorAll('.node.over')) other.classList.remove('over');
  line.classList.add('over')}"""
DROPPED = """(e) => {const line = e.target.closest?.('[data-key]'), dragged = window.shoalDragged;
  window.shoalDragged = null;
  for (const other of document.querySelectorAll('.node.over')) other.classList.remove('over');
  if (!line || !dragged) return; e.preventDefault(); emit([dragged, line.dataset.key])}"""


def on_drop(container: ui.element, handler: Callable[[str, str], object]) -> None:
    """Call a function with the keys of a line that was dragged and of the one it was dropped on.

    The container is what listens and the browser keeps what is dragged, so nothing is lost where lines
    are drawn again meanwhile.
    """
    container.on("dragstart", js_handler=DRAGGED)
    container.on("dragover", js_handler=OVER)
    container.on("drop", lambda event: handler(*map(str, event.args)), js_handler=DROPPED)


class HierarchyEditor:
    """The groups of one column."""

    def __init__(self, session: Session, column: str) -> None:
        self._session = session
        self._column = column
        self._values: Mapping[str, int] = {}
        self._raw = False
        self._chosen: dict[str, list[Node]] = {}
        """The chosen lines, by their keys."""
        self._lines: dict[str, list[Node]] = {}
        """What each line stands for, by its key."""
        self._tree = Tree()
        self._part = ui.refreshable(self._show)

    def build(self, values: Mapping[str, int]) -> None:
        """Create the editor, as the policy has the groups; `values`: the rows of each value."""
        self._values = values
        self._part()

    # -- what there is

    def _current(self) -> Tree:
        """The groups that the policy has, and every value of the table."""
        workspace = self._session.workspace
        assert workspace is not None
        hierarchy = settings_in(workspace.text, self._column).get("hierarchy")
        found = Tree()
        if isinstance(hierarchy, CommentedMap) and "tree" in hierarchy:
            found = Tree(hierarchy["tree"])
        else:
            file = hierarchy.get("csv") if isinstance(hierarchy, CommentedMap) else hierarchy
            if file is not None:
                place = workspace.policy_file.parent / str(file)
                try:
                    found = Tree.of_lines(place.read_text(encoding="utf-8-sig"))
                except (OSError, UnicodeDecodeError):
                    raise InputError("The file with the groups cannot be read.") from None
        found.cover(self._values)
        return found

    def _show(self) -> None:
        try:
            self._tree = self._current()
        except InputError as error:
            notice(str(error), "warn")
            return
        self._chosen, self._lines = {}, {}
        with box("section", "stack-3", id="groups", aria_label=f"Groups of {self._column}"):
            text("Groups", "", "h3")
            text(
                "Drag a value or a group onto another group. Or choose lines (click, or Space) and use "
                "the buttons. A release names a group where it cannot name the value.",
                "why",
                "p",
            )
            self._tools()
            with box("div", "tree", role="tree", aria_multiselectable="true", aria_label="Groups"):
                self._row("top:", [self._tree.top], "Everything (published as *)", 0)
                self._rows(self._tree.top, 1)
            self._exchange()

    def _rows(self, above: Node, depth: int) -> None:
        rare = []
        for node in sorted(above.parts or (), key=lambda one: not one.is_group):
            if node.is_group:
                self._row(f"group:{node.name}", [node], node.name, depth)
                self._rows(node, depth + 1)
            elif self._raw or not 0 < self._count(node) < COMMON:
                self._row(f"value:{node.name}", [node], node.name, depth)
            else:
                rare.append(node)
        if rare:
            many = f"{len(rare)} value{'s' * (len(rare) > 1)} of fewer than ten rows"
            self._row(f"rare:{above.name}", rare, many, depth)

    def _count(self, node: Node) -> int:
        return sum(self._values.get(value, 0) for value in node.values())

    def _row(self, key: str, nodes: list[Node], label: str, depth: int) -> None:
        is_group, is_top = nodes[0].is_group, nodes[0] is self._tree.top
        rows = sum(map(self._count, nodes))
        line = box(
            "div",
            "node group" if is_group else "node",
            role="treeitem",
            tabindex="0",
            aria_level=str(depth + 1),
            aria_selected="false",
            aria_label=f"{label}, {'group, ' if is_group else ''}{spaced(rows)} rows",
            data_node=label,
            data_key=key,
        )
        self._lines[key] = nodes
        line.style(f"margin-left:{depth * 22}px")
        with line:
            text("⋮⋮" if not is_top else "", "grip", aria_hidden="true")
            text(label, "name" + (" strong" if is_group else ""))
            text(spaced(rows), "r num muted")
        if not is_top:
            line.props["draggable"] = "true"
            choose = partial(self._choose, key, nodes, line)
            line.on("click", choose)
            line.on("keydown.space.prevent", choose)
            line.on("keydown.enter.prevent", choose)

    def _choose(self, key: str, nodes: list[Node], line: ui.element) -> None:
        if on := key not in self._chosen:
            self._chosen[key] = nodes
        else:
            del self._chosen[key]
        line.props["aria-selected"] = str(on).lower()
        line.classes(add="on" if on else "", remove="" if on else "on")
        count = len(self._picked())
        self._said.set_text(f"{count} chosen" if count else "Nothing chosen")
        self._enable()

    def _enable(self) -> None:
        """Only what can be done with what is chosen can be pressed."""
        nodes = self._picked()
        one_group = len(nodes) == 1 and nodes[0].is_group
        for made, needs_group in self._buttons:
            made.props["disabled"] = not (one_group if needs_group else nodes)
            made.update()

    def _picked(self) -> list[Node]:
        return [node for nodes in self._chosen.values() for node in nodes]

    # -- changing

    def _tools(self) -> None:
        with box("div", "bar tools"):
            self._name = ui.input("Name of a group").props("outlined dense")
            self._buttons = [
                (button("Group", self._group), False),
                (button("Rename", self._rename), True),
            ]
        with box("div", "bar tools"):
            targets = {"*": "Everything"} | {
                node.name: node.name for node in self._tree.groups() if node.name != "*"
            }
            self._target = ui.select(targets, value="*", label="Into")
            self._target.props("outlined dense options-dense")
            self._buttons.append((button("Move", self._move), False))
        with box("div", "bar"):
            self._buttons += [
                (button("One level up", self._up), False),
                (button("Dissolve", self._dissolve), True),
            ]
            self._said = text("Nothing chosen", "small muted", role="status")
        self._enable()

    def dropped(self, dragged: str, onto: str) -> None:
        """Move what a line stands for, or all that is chosen with it, into the group of another."""
        nodes, target = self._lines.get(dragged, []), self._lines.get(onto, [])
        if dragged in self._chosen:
            nodes = self._picked()
        if not nodes or not target:
            return  # drawn again meanwhile, and no line is called so any more
        group = target[0] if target[0].is_group else target[0].above
        if group is not None and not all(node.above is group for node in nodes):
            self._change(
                f"{_called(nodes)} into {group.name}", lambda: self._tree.move(nodes, group)
            )

    def _move(self) -> None:
        group = next(
            (one for one in self._tree.groups() if one.name == self._target.value), self._tree.top
        )
        if nodes := self._some():
            self._change(
                f"{_called(nodes)} into {group.name}", lambda: self._tree.move(nodes, group)
            )

    def _group(self) -> None:
        name = str(self._name.value or "")
        if nodes := self._some():
            self._change(f"group {name}", lambda: self._tree.group(nodes, name))

    def _rename(self) -> None:
        name = str(self._name.value or "")
        if node := self._one_group():
            self._change(f"{node.name} renamed {name}", lambda: self._tree.rename(node, name))

    def _up(self) -> None:
        if nodes := self._some():
            self._change(f"{_called(nodes)} one level up", lambda: self._tree.raise_up(nodes))

    def _dissolve(self) -> None:
        if node := self._one_group():
            self._change(f"without group {node.name}", lambda: self._tree.dissolve(node))

    def _some(self) -> list[Node]:
        if not (nodes := self._picked()):
            ui.notify("Choose one or more lines first.")
        return nodes

    def _one_group(self) -> Node | None:
        nodes = self._picked()
        if len(nodes) == 1 and nodes[0].is_group:
            return nodes[0]
        ui.notify("Choose one group first.")
        return None

    def _change(self, words: str, work: Callable[[], None]) -> None:
        try:
            work()
        except InputError as error:
            tell(str(error))
            return
        self._write(words, self._tree)

    def _write(self, words: str, tree: Tree) -> None:
        step = f"{self._column}: {words}"
        if not edit(self._session, step, with_tree(self._column, tree)):
            self._part.refresh()  # as the policy has it

    # -- files

    def _exchange(self) -> None:
        with box("div", "bar"):
            if not self._raw and any(0 < n < COMMON for n in self._values.values()):
                button("Show rare values", self._show_raw)
            button("Export CSV", self._export)
            upload = ui.upload(
                label="Import CSV",
                auto_upload=True,
                max_files=1,
                max_file_size=LARGEST_IMPORT,
                on_upload=self._import,
            )
            upload.props("accept=.csv,.txt flat bordered").classes("drop small-drop")

    def _show_raw(self) -> None:
        self._raw = True
        self._part.refresh()

    def _export(self) -> None:
        ui.download.content(self._tree.lines(), f"{_file_name(self._column)}.csv", "text/csv")

    async def _import(self, event: UploadEventArguments) -> None:
        try:
            words = (await event.file.read()).decode("utf-8-sig")
            tree = Tree.of_lines(words)
        except UnicodeDecodeError:
            tell("The file is not UTF-8. Save it as UTF-8.")
            return
        except InputError as error:
            tell(str(error))
            return
        if more := tree.cover(self._values):
            ui.notify(f"{more} values of the table are not in the file; they are in no group.")
        self._write("groups of a file", tree)


def with_tree(column: str, tree: Tree) -> Change:
    """Make a tree the hierarchy of a column, one line of YAML per entry at its top."""

    def change(policy: CommentedMap) -> None:
        entry = policy["columns"].get(column)
        if not isinstance(entry, CommentedMap):
            entry = flow_map({"role": str(entry)})
            policy["columns"][column] = entry
        for key in ("kind", "order", "top", "bottom"):
            entry.pop(key, None)
        entry.fa.set_block_style()
        listed = scalar(tree.written())
        listed.fa.set_block_style()
        for one in listed:
            if isinstance(one, CommentedMap):
                one.fa.set_block_style()
        entry["hierarchy"] = CommentedMap({"tree": listed})

    return change


def can_be_grouped(settings: dict[str, Any]) -> bool:
    """Whether a column's settings are such that its values are put into groups by hand."""
    hierarchy = settings.get("hierarchy")
    if hierarchy is None:
        return settings.get("kind") == "unordered"
    return not isinstance(hierarchy, CommentedMap) or "tree" in hierarchy or "csv" in hierarchy


def _called(nodes: list[Node]) -> str:
    """Nodes in the name of a step; values are not named there, since few rows may share them."""
    if len(nodes) == 1:
        return nodes[0].name if nodes[0].is_group else "1 value"
    return f"{len(nodes)} entries"


def _file_name(column: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in column) or "groups"
