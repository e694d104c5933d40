"""`shoal methods`: list the methods that form groups."""

from shoal import api
from shoal.cli.console import guarded
from shoal.cli.options import Json, PluginName
from shoal.cli.render.listing import print_listing


@guarded
def methods(name: PluginName = None, json: Json = False) -> None:
    """List the methods that form groups, or describe one."""
    print_listing(api.list_methods(name), one=name is not None, json=json)
