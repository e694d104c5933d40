"""Every model at several figures: what the tests that apply all of them go through."""

from shoal import plugins
from shoal.models.base import Model

EVERY: list[Model] = [model for cls in plugins.models().values() for model in cls.examples("ill")]
