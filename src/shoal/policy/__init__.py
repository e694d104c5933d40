"""What the user asked: policies from YAML or Python, checked, with errors that name the fix."""

from shoal.policy.column import Column
from shoal.policy.policy import Policy, simple

__all__ = ["Column", "Policy", "simple"]
