"""The simulated writer: a server that writes at any speed, so that any tool can be tried in that future today.

It speaks OpenAI's and Anthropic's streaming protocols, writes a text that means nothing at a rate that is exact, and
refuses, queues and fails as real servers do. It promises speeds and protocol; what it writes is worth nothing.
"""

from tamis.simulate.settings import Batching, Failures, Simulated, Speculation, read_settings

__all__ = ["Batching", "Failures", "Simulated", "Speculation", "read_settings"]
