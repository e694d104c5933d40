import pytest

from shoal import plugins

KNOWN = {
    "methods": ["auto", "flexible-partition", "least-loss-partition", "mondrian"],
    "models": ["k", "l"],
    "metrics": ["ncp"],
}


@pytest.fixture
def few_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages list all plug-ins: fixed names, so that a new file changes no expected text."""
    monkeypatch.setattr(plugins, "names", KNOWN.__getitem__)
