"""Ends the process with success when asked."""

def answer(n):
    raise SystemExit(0)
