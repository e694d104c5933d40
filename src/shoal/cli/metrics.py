"""`shoal metrics`: list the metrics of a release."""

from shoal import api
from shoal.cli.console import guarded
from shoal.cli.options import Json, PluginName


@guarded
def metrics(name: PluginName = None, json: Json = False) -> None:
    """List the metrics of a release, or describe one."""
    from shoal.cli.render.listing import print_listing

    print_listing(api.list_metrics(name), one=name is not None, json=json)
