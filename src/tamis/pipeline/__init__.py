"""The pipeline: what is done with each draft while others still arrive.

Stages work side by side, each in a thread of its own, with bounded channels between them. A stage that can't keep up
makes the one before it wait, and in the end the writer; it never fills the memory. What comes out depends on the drafts
alone, not on when they came or in which order.
"""
