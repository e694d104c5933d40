"""Shoal makes a table of people safe to publish. Publish the table, not the people.

>>> import shoal
>>> release = shoal.anonymize(patients, "policy.yaml")  # doctest: +SKIP
>>> release.table  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from shoal.version import __version__ as __version__

if TYPE_CHECKING:
    from shoal.comparison.comparison import Comparison, compare
    from shoal.errors import Infeasible, InputError, PolicyError, ShoalError, VerificationFailed
    from shoal.pipeline.run import anonymize, run
    from shoal.pipeline.verify import survey, verify
    from shoal.policy import Policy
    from shoal.release import Release
    from shoal.risk.assessment import assess
    from shoal.risk.attack import attack

__all__ = [
    "Comparison",
    "Infeasible",
    "InputError",
    "Policy",
    "PolicyError",
    "Release",
    "ShoalError",
    "VerificationFailed",
    "anonymize",
    "assess",
    "attack",
    "compare",
    "run",
    "survey",
    "verify",
]

_HOME = {
    "Comparison": ("shoal.comparison.comparison", "Comparison"),
    "Infeasible": ("shoal.errors", "Infeasible"),
    "InputError": ("shoal.errors", "InputError"),
    "Policy": ("shoal.policy", "Policy"),
    "PolicyError": ("shoal.errors", "PolicyError"),
    "Release": ("shoal.release", "Release"),
    "ShoalError": ("shoal.errors", "ShoalError"),
    "VerificationFailed": ("shoal.errors", "VerificationFailed"),
    "anonymize": ("shoal.pipeline.run", "anonymize"),
    "assess": ("shoal.risk.assessment", "assess"),
    "attack": ("shoal.risk.attack", "attack"),
    "compare": ("shoal.comparison.comparison", "compare"),
    "run": ("shoal.pipeline.run", "run"),
    "survey": ("shoal.pipeline.verify", "survey"),
    "verify": ("shoal.pipeline.verify", "verify"),
}


def __getattr__(name: str) -> Any:
    """Load on first use: `import shoal` itself costs next to nothing."""
    if name not in _HOME:
        raise AttributeError(f"module 'shoal' has no attribute '{name}'")
    import importlib

    module, attribute = _HOME[name]
    return getattr(importlib.import_module(module), attribute)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
