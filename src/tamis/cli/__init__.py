"""The command line: one file a verb, `show.py` the only printing."""

from tamis.cli.app import main

__all__ = ["main"]
