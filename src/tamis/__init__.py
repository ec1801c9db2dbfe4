"""tamis: a sieve for drafts."""

__version__ = "0.1.0"
