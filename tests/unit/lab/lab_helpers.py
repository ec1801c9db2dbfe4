"""A small campaign to test with: a ledger in a folder, ideas on a triangle, and a lab that knows their true values."""

import csv
from pathlib import Path

import msgspec

from tamis.brief import LoadedBrief, load_brief
from tamis.lab.desk import LabDesk
from tamis.lab.settings import LabSection
from tamis.ledger import Ledger
from tamis.run import Run

LAB = LabSection(
    goal="minimize overpotential_V", unit="V", range=(0.0, 2.0), batch=4, composition=("Ni", "Fe", "Co"), seed=1
)


def ideas(step: int = 10) -> list[tuple[str, str, bytes]]:
    """Every composition of three elements in tenths."""
    shares = [(a, b, step - a - b) for a in range(step + 1) for b in range(step + 1 - a)]
    rows = [dict(zip(("Ni", "Fe", "Co"), (part / step for part in share), strict=True)) for share in shares]
    return [(f"draft{k}", f"idea_{k}", msgspec.json.encode(row)) for k, row in enumerate(rows)]


def truth(idea: dict) -> float:
    """Volts, least near Ni 0.6 Fe 0.3."""
    return 0.3 + (float(idea["Ni"]) - 0.6) ** 2 + (float(idea["Fe"]) - 0.3) ** 2


def brief_in(folder: Path) -> LoadedBrief:
    (folder / "BRIEF.md").write_text("# The anode\n\nThe least overpotential.\n", encoding="utf-8")
    return load_brief(folder, desk="lab")


def desk_on(ledger: Ledger, folder: Path, lab: LabSection = LAB, drafts: list | None = None) -> LabDesk:
    return LabDesk(Run(brief_in(folder), ledger), lab, ideas() if drafts is None else drafts)


def filled(sheet: Path, changes: dict[int, dict[str, str]] | None = None, *, every: str = "V") -> Path:
    """The sheet with a true result in every row; `changes` overwrites cells of rows, by their place from 0."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row["overpotential_V"] = f"{truth(row):.5f}"
        row["unit"] = every
        row.update((changes or {}).get(place, {}))
    out = sheet.with_name(f"filled-{sheet.name}")
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return out
