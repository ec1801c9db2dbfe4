"""Speculative decoding: several tokens from one pass, at the price that each pass is a little longer.

A pass proposes γ tokens and keeps those before the first that the large model would not have written, and one more of
its own. It makes one chain faster; batching makes many chains cheaper. The formulas: Leviathan, Kalman and Matias,
"Fast Inference from Transformers via Speculative Decoding", 2023, eq. 1 and theorem 3.8.
"""

import random
from itertools import accumulate

from tamis.simulate.settings import Speculation


def tokens_per_pass(spec: Speculation) -> float:
    """The expected number of tokens of one pass, (1 − α^(γ+1)) / (1 − α)."""
    a, g = spec.acceptance, spec.draft_length
    return float(g + 1) if a == 1 else (1 - a ** (g + 1)) / (1 - a)


def pass_length(spec: Speculation) -> float:
    """How long a pass is, in passes without speculation: 1 + γ c."""
    return 1 + spec.draft_length * spec.draft_cost


def speed_up(spec: Speculation) -> float:
    """How many times faster one stream gets; below 1 where drafting costs more than it saves."""
    return tokens_per_pass(spec) / pass_length(spec)


def bursts(spec: Speculation, count: int, rng: random.Random) -> list[int]:
    """`count` passes: how many tokens each one wrote, from 1 to γ + 1."""
    sizes = range(1, spec.draft_length + 2)
    a = spec.acceptance
    shares = [a**k * (1 - a) for k in range(spec.draft_length)] + [a**spec.draft_length]
    return rng.choices(sizes, cum_weights=list(accumulate(shares)), k=count)
