"""A small world for tests of the conversation: drafts are real modules, run in this process."""

import types
from collections.abc import Mapping, Sequence

import msgspec

from tamis.behaviour.decisions import Decision, Option
from tamis.behaviour.ground import Ground, ground_of
from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.lab import Lab
from tamis.behaviour.matrix import Matrix, outcomes_of
from tamis.behaviour.owner import ActingOwner
from tamis.sandbox import Call, Program
from tamis.sandbox.box.runner import Draft, do

RIGHT = """
def fee(days):
    if days < 0:
        raise ValueError("no such day")
    return min(1000, 50 * max(0, days - 7))
"""
SOURCES = {
    "right": RIGHT,
    "twin": RIGHT.replace("min(1000, 50 * max(0, days - 7))", "max(0, min(1000, (days - 7) * 50))"),
    "eight": RIGHT.replace("- 7", "- 8"),
    "no_cap": RIGHT.replace("min(1000, 50 * max(0, days - 7))", "50 * max(0, days - 7)"),
    "low_cap": RIGHT.replace("1000", "500"),
    "lenient": RIGHT.replace('raise ValueError("no such day")', "return 0"),
}
DAYS = (-1, 0, 6, 7, 8, 9, 16, 17, 18, 26, 27, 28, 40)


def fee(days: int) -> Program:
    return (Call(name="fee", args=(days,)),)


def run_sources(sources: Mapping[str, bytes], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
    return {key: tuple(_one(source, p) for p in programs) for key, source in sources.items()}


def _one(source: bytes, program: Program) -> bytes:
    draft = Draft("fees", source)
    try:
        draft.load()
    except Exception as error:
        return msgspec.json.encode([["!", type(error).__name__, [], ""]] * len(program))
    calls = [(c.name, c.on, list(c.args), dict(c.kwargs), c.get) for c in program]
    return f"[{','.join(do(draft, i, call) for i, call in enumerate(calls))}]".encode()


def passes(sources: Mapping[str, bytes]) -> frozenset[str]:
    """The given test: a fee of eight days is positive or not, but no error; nobody pays for a day."""
    good = set()
    for key, source in sources.items():
        made = types.ModuleType("fees")
        try:
            exec(source, made.__dict__)
            if made.fee(1) == 0 and made.fee(30) > 0:
                good.add(key)
        except Exception:
            continue
    return frozenset(good)


class Toy:
    """The world of late fees, without the drafts in `gone`."""

    def __init__(self, *, gone: Sequence[str] = (), days: Sequence[int] = DAYS) -> None:
        self.sources = {k: v.encode() for k, v in SOURCES.items() if k not in gone}
        self.programs = [fee(d) for d in days]
        self.lab = Lab(self.sources, run_sources, passes)
        self.runs = 0

    def run(self, drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        self.runs += 1
        return run_sources({d: self.sources[d] for d in drafts}, programs)

    def ground(self) -> Ground:
        matrix = Matrix(tuple(self.sources))
        ran = self.run(matrix.drafts, self.programs)
        for i, program in enumerate(self.programs):
            matrix.add(program, {d: ran[d][i] for d in matrix.drafts}, inside=True)
        return ground_of(matrix)

    def decisions(self) -> list[Decision]:
        """One for each way of parting, with its first program as witness."""
        found: dict[tuple[tuple[str, ...], ...], Decision] = {}
        ran = self.run(tuple(self.sources), self.programs)
        for i, program in enumerate(self.programs):
            by: dict[bytes, list[str]] = {}
            for d in self.sources:
                by.setdefault(outcomes_of(ran[d][i])[-1], []).append(d)
            options = tuple(
                Option(outcome=o, drafts=tuple(ds)) for o, ds in sorted(by.items(), key=lambda x: -len(x[1]))
            )
            key = tuple(sorted(o.drafts for o in options))
            if len(options) > 1 and key not in found:
                found[key] = Decision(
                    id=f"d{i}", method="fee", witness=program, options=options, state="open", weight=1
                )
        return list(found.values())

    def inquiry(self, **more: object) -> Inquiry:
        choosing = more.pop("choosing", Choosing(page_lines=6))
        return Inquiry(self.ground(), self.decisions(), run=self.run, lab=self.lab, choosing=choosing, **more)  # type: ignore[arg-type]


def owner_like(name: str) -> ActingOwner:
    source = SOURCES[name].encode()
    return ActingOwner(acts=lambda program: outcomes_of(_one(source, program)), name=name)
