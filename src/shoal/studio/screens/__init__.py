"""The screens, in the order of the steps."""

from shoal.studio.screens.attack import Attack
from shoal.studio.screens.base import Screen
from shoal.studio.screens.coarsen import Coarsen
from shoal.studio.screens.columns import Columns
from shoal.studio.screens.compare import Compare
from shoal.studio.screens.open_table import OpenTable
from shoal.studio.screens.protect import Protect
from shoal.studio.screens.release import Release

SCREENS: tuple[type[Screen], ...] = (OpenTable, Columns, Coarsen, Protect, Compare, Attack, Release)
"""Every screen of the studio; a new one is added here and is one file beside this one."""
