"""A stand-in lab with a made-up truth: noise of 3 mV, one run in twelve fails, one in eight comes days late.

It is there so that a campaign can be played through in seconds; nothing in it is chemistry.
"""

import math
import random
import re

ELEMENTS = ("Ni", "Fe", "Co", "Mn", "Ce", "La")
NOISE_V = 0.003
times: dict[str, int] = {}


def measure(ideas: list[dict]) -> list[dict | None]:
    """Millivolts, for once: the sheet says volts, and tamis converts."""
    return [one_run(idea) for idea in ideas]


def one_run(idea: dict) -> dict | None:
    formula, fired = str(idea["formula"]), str(idea["fired"])
    key = formula + fired
    times[key] = times.get(key, 0) + 1
    rng = random.Random(f"{key} run {times[key]}")
    if rng.random() < 1 / 12:
        return None
    volts = overpotential_v(formula, fired) + rng.gauss(0.0, NOISE_V)
    late = rng.choice((1, 2, 3)) if rng.random() < 1 / 8 else 0
    return {"value": 1000 * volts, "unit": "mV", "late": late, "synthesis": f"S{rng.randrange(1, 4)}"}


def overpotential_v(formula: str, fired: str) -> float:
    """The truth: a valley near Ni 0.6 Fe 0.25 Ce 0.15 at 350 degC, a shallower one among cobalt and manganese."""
    counts = {element: float(count) for element, count in re.findall(r"([A-Z][a-z]?)([\d.]+)", formula)}
    share = {element: counts.get(element, 0.0) / sum(counts.values()) for element in ELEMENTS}
    heat, unit = re.fullmatch(r"(\d+) ?(degC|K)", fired).groups()
    celsius = float(heat) - (273 if unit == "K" else 0)
    deep = (share["Ni"] - 0.6) ** 2 + (share["Fe"] - 0.25) ** 2 + (share["Ce"] - 0.15) ** 2
    shallow = (share["Co"] - 0.5) ** 2 + (share["Mn"] - 0.3) ** 2 + (share["Fe"] - 0.2) ** 2
    lanthanum = 0.06 * share["La"] ** 0.5
    heat_cost = 0.03 * ((celsius - 350 - 200 * share["Co"]) / 150) ** 2
    return 0.47 - 0.18 * math.exp(-deep / 0.06) - 0.12 * math.exp(-shallow / 0.04) + lanthanum + heat_cost
