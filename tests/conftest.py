"""Settings shared by all tests."""

import os

from hypothesis import HealthCheck, settings

from tests.browser import close_browser

# kernels compile on first use, which no deadline could tell from a slow example
settings.register_profile(
    "shoal", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("shoal"), max_examples=1000)
settings.load_profile(os.environ.get("SHOAL_HYPOTHESIS", "shoal"))


def pytest_sessionfinish() -> None:
    close_browser()
