"""`shoal models`: list the privacy models."""

from shoal import api
from shoal.cli.console import guarded
from shoal.cli.options import Json, PluginName


@guarded
def models(name: PluginName = None, json: Json = False) -> None:
    """List the privacy models, or describe one."""
    from shoal.cli.render.listing import print_listing

    print_listing(api.list_models(name), one=name is not None, json=json)
