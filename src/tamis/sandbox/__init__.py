"""The sandbox: runs drafts that nobody trusts, and believes nothing of them but what they do."""

from tamis.sandbox.box.values import Value, decode, encode
from tamis.sandbox.commands import Case, Command
from tamis.sandbox.outcomes import outcome_key
from tamis.sandbox.protections import Protections, protections
from tamis.sandbox.records import Call, Judged, Limits, Program, Ran, Suite, TestResult
from tamis.sandbox.render import render
from tamis.sandbox.sandbox import Sandbox
from tamis.sandbox.symbolic import HoleKind, Pair, Skeleton, Sought

__all__ = [
    "Call",
    "Case",
    "Command",
    "HoleKind",
    "Judged",
    "Limits",
    "Pair",
    "Program",
    "Protections",
    "Ran",
    "Sandbox",
    "Skeleton",
    "Sought",
    "Suite",
    "TestResult",
    "Value",
    "decode",
    "encode",
    "outcome_key",
    "protections",
    "render",
]
