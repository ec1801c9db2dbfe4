"""Runs drafts in this process, as the box would. Only for drafts that stand in these tests: none of them keeps state
in its module, so each is imported once."""

from collections.abc import Mapping, Sequence

from tamis.sandbox import Program
from tamis.sandbox.box.runner import Draft, do


class InProcess:
    """A runner that counts what it is asked. `sources` are texts by draft."""

    def __init__(self, module: str, sources: Mapping[str, str]) -> None:
        self._module = module
        self._drafts = {name: Draft(module, source.encode()) for name, source in sources.items()}
        for draft in self._drafts.values():
            draft.load()
        self.batches = 0
        self.calls = 0
        self.asked: list[Program] = []

    def __call__(self, drafts: Sequence[str], programs: Sequence[Program]) -> dict[str, tuple[bytes, ...]]:
        self.batches += 1
        self.calls += len(drafts) * sum(map(len, programs))
        self.asked += programs
        return {name: tuple(self._one(self._drafts[name], program) for program in programs) for name in drafts}

    def _one(self, draft: Draft, program: Program) -> bytes:
        draft.results = {}
        calls = [(c.name, c.on, list(c.args), dict(c.kwargs), c.get) for c in program]
        return f"[{','.join(do(draft, i, call) for i, call in enumerate(calls))}]".encode()
