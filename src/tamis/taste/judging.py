"""The judge's part of a run: it is asked pairs in both orders, each answer is recorded as it comes, and what it seems
to think of every text becomes a feature.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np

from tamis.brief import LoadedBrief
from tamis.errors import BriefError, CheckError, boundary
from tamis.ledger import Ledger
from tamis.records import Brief, Evidence, Preferred, Spec, digest
from tamis.run import Run
from tamis.taste.features import Features
from tamis.taste.judge import (
    AskingJudge,
    Doubled,
    Judge,
    JudgeHabits,
    ask_doubled,
    judge_habits,
    judged_utilities,
    pairs_to_double,
)
from tamis.taste.readers import load_prefer
from tamis.writers.base import Writer, Written


class FileJudge:
    """A file of Python that defines `prefer(texts: list[str]) -> int | None`, as for a reader."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._prefer = load_prefer(path)

    def prefer(self, texts: Sequence[str]) -> int | None:
        with boundary(CheckError, f"asking the judge {self._path}"):
            answer = self._prefer(list(texts))
        if answer is None or (isinstance(answer, int) and 0 <= answer < len(texts)):
            return answer
        raise CheckError(f"{self._path}: prefer() answered {answer!r} of {len(texts)} texts")


def judge_named(
    name: str, loaded: LoadedBrief, make_writer: Callable[[LoadedBrief], Writer], *, rubric: str | None = None
) -> Judge:
    """The judge of that name: a file of Python that defines prefer(), else any writer, which is asked in words.
    `make_writer` makes the writer for a brief; the brief that it gets is the question."""
    if name.endswith(".py"):
        return FileJudge(loaded.folder / name)
    return AskingJudge(lambda prompt: answer_of(make_writer, loaded, prompt), rubric=_rubric(loaded, rubric))


def answer_of(make_writer: Callable[[LoadedBrief], Writer], loaded: LoadedBrief, prompt: str) -> str:
    """What a writer writes when the prompt is its brief. In a thread of its own, since writers are asynchronous and a
    run may be too."""
    asked = Brief(id=digest("judge", prompt), title="judge", text=prompt, desk="prose")
    question = msgspec.structs.replace(loaded, brief=asked, interface=None)

    async def first() -> Written:
        async for written in make_writer(question).write(question):
            return written
        raise CheckError("the judging writer wrote nothing")

    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(lambda: asyncio.run(first())).result()
    return written.content.decode("utf-8", "replace")


def judge_check(name: str) -> Spec:
    """The check under which a judge's answers are recorded."""
    return Spec(kind="check", name="judge", version="1", args={"judge": name})


def with_judge(
    run: Run,
    judge: Judge,
    features: Features,
    *,
    name: str,
    drafts: Sequence[str],
    texts: Mapping[str, str],
    seed: int,
) -> Features:
    """The features with the judge's opinion as one more group. Asks only what the ledger does not hold yet."""
    known = judged(run.ledger, name)
    pairs = pairs_to_double(len(drafts), np.random.default_rng([seed, 3]))
    run.progress.start(f"judge {name}", len(pairs))
    doubled = []
    with run.spans.span("tools", f"judge {name}") as span:
        for pair in pairs:
            two = drafts[pair[0]], drafts[pair[1]]
            if two not in known:
                found = ask_doubled(judge, [texts[draft] for draft in drafts], pair)
                _record(run, name, two, found, span.id)
                known[two] = (found.straight, found.swapped)
            straight, swapped = known[two]
            doubled.append(Doubled(pair=pair, straight=straight, swapped=swapped))
            run.progress.advance()
    return features.with_group("judge", judged_utilities(features, doubled)[:, None])


def judged(ledger: Ledger, name: str) -> dict[tuple[str, str], tuple[int | None, int | None]]:
    """What a judge said of each pair that was put to it in both orders: 0 for the first of the pair, 1 for the
    second."""
    said: dict[tuple[str, str], int | None] = {}
    for evidence in ledger.all(Evidence):
        if evidence.check == judge_check(name) and isinstance(evidence.answer, Preferred):
            which = evidence.answer.which
            said[evidence.drafts[0], evidence.drafts[1]] = None if which is None else evidence.drafts.index(which)
    both = {}
    for (one, other), straight in said.items():
        if (other, one) in said:
            swapped = said[other, one]
            both[one, other] = (straight, None if swapped is None else 1 - swapped)
    return both


def habits_of_judge(ledger: Ledger, name: str, words: Mapping[str, int]) -> JudgeHabits:
    """A judge's habits from the ledger. `words` maps drafts to their lengths."""
    seen: dict[frozenset[str], Doubled] = {}
    places = {draft: place for place, draft in enumerate(words)}
    for (one, other), (straight, swapped) in judged(ledger, name).items():
        if one in places and other in places:
            pair = (places[one], places[other])
            seen.setdefault(frozenset((one, other)), Doubled(pair=pair, straight=straight, swapped=swapped))
    return judge_habits(list(seen.values()), list(words.values()))


def _record(run: Run, name: str, two: tuple[str, str], found: Doubled, span: str) -> None:
    for shown, taken in ((two, found.straight), (two[::-1], found.swapped)):
        answer = Preferred(which=None if taken is None else two[taken], shown_first=shown[0])
        run.ledger.add(
            Evidence(
                id=digest("judge", name, *shown, repr(answer)),
                drafts=shown,
                check=judge_check(name),
                answer=answer,
                span=span,
            )
        )


def _rubric(loaded: LoadedBrief, name: str | None) -> str | None:
    if name is None:
        return None
    with boundary(BriefError, f"reading the rubric {name}"):
        return (loaded.folder / name).read_text(encoding="utf-8")
