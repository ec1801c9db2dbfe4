"""The meter. Context capacity, input speed, stream speed and throughput are four different things; this tells, for any
server, which is what, how sure it is, and what it could not see."""

from tamis.speed.budget import Budget
from tamis.speed.figures import Figure
from tamis.speed.meter import Speeds, find_source, measure

__all__ = ["Budget", "Figure", "Speeds", "find_source", "measure"]
