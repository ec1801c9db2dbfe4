"""`tamis plugins`: the writers and checks that tamis knows, and where each comes from."""

from tamis.cli import show
from tamis.plugins import known_plugins


def plugins_command() -> None:
    """List the writers and checks, and where each comes from."""
    for plugin in known_plugins():
        show.line(f"{plugin.group:<10}{plugin.name:<16}{plugin.comes_from}")
