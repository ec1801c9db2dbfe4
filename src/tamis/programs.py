"""The software desk for drafts that are programs in any language: a command compiles and runs each in its box, cases of
standard input and output are its tests, and inputs without an output are where the owner is asked.

What the desk for modules does beyond that needs Python: no inputs are made up here, no mutants are shown to the owner,
and no odds are stated, since there is no record of how such choices came out.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tamis.behaviour import answers, stdin
from tamis.behaviour.clash import counting
from tamis.behaviour.lab import Lab
from tamis.behaviour.observe import Observer
from tamis.behaviour.odds import FITTED
from tamis.behaviour.owner import Told
from tamis.behaviour.surface import Surface
from tamis.checks.cases import INPUT, OUTPUT, CasesCheck, args_of, command_of, open_inputs, suffix_of
from tamis.errors import BriefError, boundary
from tamis.reading import Pool
from tamis.records import Draft, digest
from tamis.sandbox import Program, Ran
from tamis.software import Seen, SoftwareDesk

ANSWER = "answer_"
"""How the names of the cases begin that hold what the owner answered."""


class ProgramDesk(SoftwareDesk):
    """The desk of a brief whose settings have a `[draft] command`."""

    fit = msgspec.structs.replace(FITTED, basis="uncalibrated")

    def _look(
        self,
        pool: Pool,  # noqa: ARG002 - what runs is in the box
        drafts: Sequence[Draft],
        observe: Observer,
        again: Observer,
    ) -> Seen:
        inputs = open_inputs(self._run.loaded.test_files)
        matrix = stdin.look([draft.id for draft in drafts], inputs, observe, again)
        return Seen(stdin.surface(), matrix, stdin.decisions_in(matrix))

    def _observer(self, pool: Pool, *, hash_seed: int) -> Observer:
        box, draft = self._sandbox(), self._run.loaded.settings.draft
        suffixes = {one.id: suffix_of(one.name) for one in pool.drafts}

        def runs(sources: Mapping[str, bytes], texts: Sequence[str]) -> Iterator[tuple[str, Ran]]:
            for suffix in sorted({suffixes[key] for key in sources}):
                alike = {key: source for key, source in sources.items() if suffixes[key] == suffix}
                yield from box.run_command(alike, command_of(draft, suffix), texts)

        return Observer(
            self._run, stdin.plainly(runs), pool.contents, self._limits(), hash_seed=hash_seed, args=args_of(draft)
        )

    def _lab(self, pool: Pool, drafts: Sequence[str]) -> Lab:  # noqa: ARG002 - whatever they are
        """Without mutants, which are made of Python only."""
        nothing = dict.fromkeys(drafts, b"")
        return Lab(sources=nothing, run=_never, passing=frozenset)

    def _tests(self) -> CasesCheck:
        return CasesCheck(self._run.loaded, self._given_tests(), self._sandbox())

    def _is_answer(self, name: str) -> bool:
        return name.startswith(ANSWER)

    def _given_tests(self) -> Mapping[str, bytes]:
        """The cases; a folder without any output holds none."""
        files = super()._given_tests()
        return files if any(name.endswith(OUTPUT) for name in files) else {}

    def _keep_answers(
        self,
        told: Sequence[Told],
        clash: Sequence[int],  # noqa: ARG002 - a case has no place for a word
        outcomes: answers.Outcomes,  # noqa: ARG002 - nor for what leads to it
        surface: Surface,  # noqa: ARG002
    ) -> None:
        """Each as a case. One that the owner has changed stays as it is; one that she answered otherwise since does
        not."""
        folder = self._run.loaded.tests or self._run.loaded.folder / "tests"
        before: dict[str, set[str | None]] = {}
        for one in told:
            before.setdefault(stdin.input_of(one.program), set()).add(_written(one))
        for one in (told[i] for i in counting(told)):
            written = _written(one)
            if written is None:
                continue
            text = stdin.input_of(one.program)
            name = ANSWER + digest(text)[:8]
            with boundary(BriefError, f"keeping the answers in {folder}"):
                folder.mkdir(parents=True, exist_ok=True)
                for path, content in ((folder / (name + INPUT), text), (folder / (name + OUTPUT), written)):
                    if not path.exists() or path.read_text(encoding="utf-8") in before[text]:
                        path.write_text(content, encoding="utf-8")


def _written(one: Told) -> str | None:
    """What she said that the program must write; None where it was no text."""
    if one.kind != "value" or one.outcome is None:
        return None
    match msgspec.json.decode(one.outcome):
        case ["=", str(text), *_]:
            return text + "\n"
        case _:
            return None


def _never(sources: Mapping[str, bytes], programs: Sequence[Program]) -> Mapping[str, tuple[bytes, ...]]:
    raise AssertionError(f"{len(sources)} mutants of programs, for {len(programs)} inputs")
