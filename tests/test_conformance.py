"""Every method, model, metric and preset of the registry passes the shipped conformance checks."""

from typing import Any

import pytest

from shoal import plugins
from shoal.policy import parts
from shoal.testing import check_method, check_metric, check_model, check_preset
from tests.releases import variants


@pytest.mark.parametrize(
    "method", [variant for method in plugins.methods().values() for variant in variants(method)]
)
def test_methods(method: dict[str, Any]) -> None:
    check_method(parts.method(method))


@pytest.mark.parametrize("name", plugins.models())
def test_models(name: str) -> None:
    check_model(plugins.model(name))


@pytest.mark.parametrize("name", plugins.metrics())
def test_metrics(name: str) -> None:
    metric = plugins.metric(name)
    check_metric(metric, tables=3 if metric.on_request else 10)


@pytest.mark.parametrize("name", plugins.presets())
def test_presets(name: str) -> None:
    check_preset(plugins.preset(name))
