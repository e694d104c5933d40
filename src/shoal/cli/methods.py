"""`shoal methods`: list the methods that form groups."""

from shoal import api
from shoal.cli.console import guarded
from shoal.cli.options import Json, PluginName


@guarded
def methods(name: PluginName = None, json: Json = False) -> None:
    """List the methods that form groups, or describe one."""
    from shoal.cli.render.listing import print_listing

    print_listing(api.list_methods(name), one=name is not None, json=json)
