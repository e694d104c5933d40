"""`shoal presets`: list what authorities ask for."""

from shoal import api
from shoal.cli.console import guarded
from shoal.cli.options import Json, PluginName


@guarded
def presets(name: PluginName = None, json: Json = False) -> None:
    """List the presets, which hold what authorities ask of a release, or explain one.

    `preset: NAME` in a policy, or `shoal init --preset NAME`, applies one.
    """
    from shoal.cli.render.listing import print_listing

    print_listing(api.list_presets(name), one=name is not None, json=json)
