"""The studio: a local web app from a table to a verified release.

| module | contents |
|---|---|
| `server.py`, `security.py` | the process on 127.0.0.1, and who may talk to it |
| `session.py` | the one user's table, policy and live figures, with events that pages follow |
| `workspace.py`, `policy_text.py` | the policy file as the only state: named steps, comments kept |
| `columns_text.py`, `constraints.py` | columns and guarantees in the text of a policy |
| `worker.py`, `workers.py`, `tasks.py` | the processes that keep the table, and all that they do |
| `hierarchy_tree.py`, `hierarchy_editor.py`, `prices.py` | groups of values; the price list |
| `local_files.py` | files that can be chosen, and copies of those that are dropped |
| `figures.py`, `words.py`, `remedies.py` | figures of the live panel, words, steps that mend a policy |
| `shell.py`, `live_panel.py`, `policy_drawer.py`, `page.py`, `style.css` | the frame and its parts |
| `screens/` | one file per screen |

To add a screen, write `screens/NOUN.py` with a class that derives from `Screen` (`screens/base.py`) and
name it in `SCREENS` of `screens/__init__.py`. Its controls change the policy by
`page.edit(session, "age: quasi → plain", change)`, where `change` edits the keys of the policy as texts
(`policy_text.scalar` makes one of a value), and show what a moving control would do by
`session.preview(change)`. Long work is a task, a function of a module that workers can import:
`await session.background.call(task, arguments)`. A screen imports `shoal.api` and nothing deeper.

The module can be called: `shoal.studio(frame)` starts the studio from a notebook.
"""

import sys
from types import ModuleType
from typing import Any


class _Studio(ModuleType):
    """The function `shoal.studio`, also once this package was imported under its name."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        from shoal.api import studio

        return studio(*args, **keywords)


sys.modules[__name__].__class__ = _Studio
