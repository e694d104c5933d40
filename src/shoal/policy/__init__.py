"""Policies: what to publish of a table and which guarantees must hold, from YAML or Python."""

from shoal.policy.column import Column
from shoal.policy.keywords import policy_from_keywords, resolve_policy
from shoal.policy.policy import Policy

__all__ = ["Column", "Policy", "policy_from_keywords", "resolve_policy"]
