"""How many random tables a property is tried on.

A third of what each test names, so that all tests end in minutes; every run tries others.
`SHOAL_EXAMPLES=20` tries twenty times as many as are named, 0.1 a tenth.
"""

import os

from hypothesis import settings

TIMES = float(os.environ.get("SHOAL_EXAMPLES", "0.33"))


def scaled(n: int) -> int:
    """So many examples, more or fewer where that is asked for."""
    return max(1, round(n * TIMES))


def examples(n: int) -> settings:
    """Settings for a test of so many examples."""
    return settings(max_examples=scaled(n))
