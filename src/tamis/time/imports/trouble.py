"""The error of every trace that can't be read."""

from tamis.errors import TamisError


class TraceError(TamisError):
    """The file is no trace that tamis knows, or a damaged one."""
