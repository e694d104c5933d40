"""How many random tables a property is tried on.

Few enough that all tests end in minutes; `SHOAL_EXAMPLES=20` tries twenty times as many.
"""

import os

from hypothesis import settings

TIMES = int(os.environ.get("SHOAL_EXAMPLES", "1"))


def examples(n: int) -> settings:
    """Settings for a test of so many examples."""
    return settings(max_examples=n * TIMES)
