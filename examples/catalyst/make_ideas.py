"""Ten thousand catalyst ideas as a fast model would write them: around its favourites, often the same one again, and
some that are no idea at all. Seeded: it always writes the same file.

    python make_ideas.py > ideas.jsonl
"""

import json
import random
import sys

COUNT = 10_000
ELEMENTS = ("Ni", "Fe", "Co", "Mn", "Ce", "La")
OPENINGS = ("Try", "I propose", "Consider", "A promising one:", "What about", "Next:")
REASONS = {
    "Ni": "nickel carries the layered hydroxide",
    "Fe": "a little iron pulls the binding energies where they should be",
    "Co": "cobalt conducts where the hydroxide does not",
    "Mn": "manganese is cheap and changes its valence readily",
    "Ce": "ceria buffers oxygen beside the active phase",
    "La": "lanthanum keeps the grains small",
}
NONSENSE = (
    "Pure unobtainium should do, gently warmed.",
    "Try Ni0.5Xx0.5 fired at 400 degC, a literature classic.",
    "Ni0.6Fe0.4 fired at 1400 degC, because more heat is more order.",
    "Use the catalyst from the previous answer, but better.",
    "Consider Fe0.5(Co0.5 fired at 300 degC.",
)


def main() -> None:
    rng = random.Random(20)
    favourites = [[rng.gammavariate(0.7, 1.0) for _ in ELEMENTS] for _ in range(40)]
    written: list[str] = []
    for number in range(1, COUNT + 1):
        chance = rng.random()
        if chance < 0.03:
            text = rng.choice(NONSENSE)
        elif chance < 0.11 and written:
            text = rng.choice(written)
        else:
            text = idea(rng, rng.choice(favourites))
        written.append(text)
        sys.stdout.write(json.dumps({"name": f"idea_{number:05d}", "text": text}) + "\n")


def idea(rng: random.Random, favourite: list[float]) -> str:
    """A composition near the favourite, of at most four elements in whole percent."""
    parts = [share * rng.gammavariate(3.0, 1.0) for share in favourite]
    least = sorted(parts)[-4]
    kept = [part if part >= least else 0.0 for part in parts]
    percent = [round(100 * part / sum(kept)) for part in kept]
    shares = {element: share / 100 for element, share in zip(ELEMENTS, percent) if share}
    formula = "".join(f"{element}{share:g}" for element, share in shares.items())
    heat = rng.randrange(200, 601, 10)
    fired = f"{heat} degC" if rng.random() < 0.9 else f"{heat + 273} K"
    return f"{rng.choice(OPENINGS)} {formula} fired at {fired}, since {REASONS[rng.choice(list(shares))]}."


if __name__ == "__main__":
    main()
