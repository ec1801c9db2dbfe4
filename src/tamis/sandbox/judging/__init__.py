"""The judge: a clean process that collects the given tests once, and is forked for each draft.

It holds the tests and what they expect; the draft is in the box. Between them go calls and values only.
"""
