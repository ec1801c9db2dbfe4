"""The judge's part of a run: it is asked pairs in both orders, each answer is recorded as it comes, and what it seems
to think of every text becomes a feature. Scores that were given elsewhere become one as they are.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np

from tamis.brief import LoadedBrief
from tamis.errors import BriefError, CheckError, boundary
from tamis.ledger import Ledger
from tamis.records import Brief, Evidence, NoAnswer, Preferred, Spec, digest
from tamis.run import Run
from tamis.taste.features import Features
from tamis.taste.judge import (
    AskingJudge,
    Doubled,
    Judge,
    JudgeHabits,
    Silent,
    ask_doubled,
    judge_habits,
    judged_utilities,
    pairs_to_double,
)
from tamis.taste.readers import load_prefer
from tamis.taste.scores import Scores, is_scores, read_scores
from tamis.writers.base import Writer, Written

AT_ONCE = 8
"""So many pairs are put to a writer at once; a file of Python is asked one after the other."""
SILENT_AT_FIRST = 8
"""A judge that has no answer to any of the first so many pairs is not there."""
TOLD = "You compare texts. You answer with one letter and nothing else."


class Seated(msgspec.Struct, frozen=True, kw_only=True):
    """A judge in its seat. `name` is what the owner calls it, `spec` the check under which its answers are kept, so
    that another rubric or model is asked anew; at most `at_once` pairs are put to it at a time."""

    name: str
    judge: Judge
    spec: Spec
    at_once: int = 1


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
) -> Seated | Scores:
    """The judge of that name: a file of scores, a file of Python that defines prefer(), else any writer, which is
    asked in words. `make_writer` makes the writer for a brief; the brief that it gets is the question."""
    path = loaded.folder / name
    if is_scores(path):
        return read_scores(path)
    if path.suffix == ".py":
        return Seated(name=name, judge=FileJudge(path), spec=judge_check(name))
    by = _rubric(loaded, rubric)
    model = make_writer(_question(loaded, "")).spec.args.get("model")
    spec = judge_check(name, rubric=by, model=None if model is None else str(model))
    judge = AskingJudge(lambda prompt: answer_of(make_writer, loaded, prompt), rubric=by)
    return Seated(name=name, judge=judge, spec=spec, at_once=AT_ONCE)


def answer_of(make_writer: Callable[[LoadedBrief], Writer], loaded: LoadedBrief, prompt: str) -> str:
    """What a writer writes when the prompt is its brief. In a thread of its own, since writers are asynchronous and a
    run may be too. Raises Silent where it writes nothing that can be used."""
    question = _question(loaded, prompt)

    async def first() -> Written:
        async for written in make_writer(question).write(question):
            return written
        raise Silent("it wrote nothing")

    with ThreadPoolExecutor(1) as thread:
        written = thread.submit(lambda: asyncio.run(first())).result()
    if written.problem is not None:
        raise Silent(written.problem, fault="check" if written.fault == "draft" else written.fault)
    return written.content.decode("utf-8", "replace")


def judge_check(name: str, *, rubric: str | None = None, model: str | None = None) -> Spec:
    """The check under which a judge's answers are recorded."""
    args = {"judge": name}
    args |= {"rubric": digest(rubric)} if rubric is not None else {}
    args |= {"model": model} if model is not None else {}
    return Spec(kind="check", name="judge", version="1", args=args)


def with_judge(
    run: Run, seated: Seated, features: Features, *, drafts: Sequence[str], texts: Mapping[str, str], seed: int
) -> tuple[Features, str]:
    """The features with the judge's opinion as one more group, and a sentence on how it was asked. Asks only what the
    ledger does not hold yet. Raises CheckError where the judge has no answers."""
    place = {draft: at for at, draft in enumerate(drafts)}
    known = _doubled(judged(run.ledger, seated.spec.key), place)
    pairs = pairs_to_double(len(drafts), np.random.default_rng([seed, 3]), known=[one.pair for one in known])
    run.progress.start(f"judge {seated.name}", len(known) + len(pairs))
    for _ in known:
        run.progress.advance()
    doubled = list(known)
    why = ""
    with run.spans.span("tools", f"judge {seated.name}") as span:
        for n, (pair, found) in enumerate(_asked(seated, pairs, [texts[draft] for draft in drafts])):
            two = drafts[pair[0]], drafts[pair[1]]
            _record(run, seated.spec, two, found, span.id)
            if isinstance(found, Silent):
                why = why or str(found)
                if not doubled and n + 1 >= min(SILENT_AT_FIRST, len(pairs)):
                    raise CheckError(
                        f"the judge {seated.name} has no answers: {why}",
                        hint="leave `judge` under [taste] out to go on without it; what she said is kept",
                    )
            else:
                doubled.append(found)
            run.progress.advance()
    run.ledger.flush()
    n_silent = len(known) + len(pairs) - len(doubled)
    note = f"the judge {seated.name} gave no answer on {n_silent} of {len(known) + len(pairs)} pairs ({why})"
    return features.with_group("judge", judged_utilities(features, doubled)[:, None]), note if n_silent else ""


def _asked(
    seated: Seated, pairs: Sequence[tuple[int, int]], texts: Sequence[str]
) -> Iterator[tuple[tuple[int, int], Doubled | Silent]]:
    """Each pair with what the judge said of it, in order, some of them asked at once."""

    def ask(pair: tuple[int, int]) -> Doubled | Silent:
        try:
            return ask_doubled(seated.judge, texts, pair)
        except Silent as silent:
            return silent

    with ThreadPoolExecutor(seated.at_once) as threads:
        for start in range(0, len(pairs), seated.at_once):
            here = pairs[start : start + seated.at_once]
            yield from zip(here, threads.map(ask, here), strict=True)


def judged(ledger: Ledger, check: str) -> dict[tuple[str, str], tuple[int | None, int | None]]:
    """What a judge, whose check has this key, said of each pair that was put to it in both orders: 0 for the first of
    the pair, 1 for the second."""
    said: dict[tuple[str, str], int | None] = {}
    for evidence in ledger.all(Evidence):
        if evidence.check.name == "judge" and evidence.check.key == check and isinstance(evidence.answer, Preferred):
            which = evidence.answer.which
            said[evidence.drafts[0], evidence.drafts[1]] = None if which is None else evidence.drafts.index(which)
    both: dict[tuple[str, str], tuple[int | None, int | None]] = {}
    for (one, other), straight in said.items():
        if (other, one) in said and (other, one) not in both:
            swapped = said[other, one]
            both[one, other] = (straight, None if swapped is None else 1 - swapped)
    return both


def habits_of_judge(ledger: Ledger, check: str, words: Mapping[str, int]) -> JudgeHabits:
    """A judge's habits from the ledger. `check` is its check's key, `words` maps drafts to their lengths."""
    places = {draft: place for place, draft in enumerate(words)}
    return judge_habits(_doubled(judged(ledger, check), places), list(words.values()))


def _doubled(said: Mapping[tuple[str, str], tuple[int | None, int | None]], places: Mapping[str, int]) -> list[Doubled]:
    """The pairs of texts that have a place."""
    return [
        Doubled(pair=(places[one], places[other]), straight=straight, swapped=swapped)
        for (one, other), (straight, swapped) in said.items()
        if one in places and other in places
    ]


def _record(run: Run, spec: Spec, two: tuple[str, str], found: Doubled | Silent, span: str) -> None:
    for shown in (two, two[::-1]):
        answer: Preferred | NoAnswer
        if isinstance(found, Silent):
            answer = NoAnswer(fault=found.fault, why=str(found))
        else:
            taken = found.straight if shown == two else found.swapped
            answer = Preferred(which=None if taken is None else two[taken], shown_first=shown[0])
        key = digest("judge", spec.key, *shown, repr(answer))
        run.ledger.add(Evidence(id=key, drafts=shown, check=spec, answer=answer, span=span))


def _question(loaded: LoadedBrief, prompt: str) -> LoadedBrief:
    """The prompt as a brief of which one draft is wanted, a verdict, from the model of `[judge]`, else of
    `[writer]`."""
    asked = Brief(id=digest("judge", prompt), title="judge", text=prompt, desk="prose")
    settings, own = loaded.settings, loaded.settings.judge
    by = settings.writer
    if own.url is not None:
        by = msgspec.structs.replace(by, url=own.url, api=own.api, key_from=own.key_from, extra=own.extra)
    if own.url is not None or own.model is not None:
        by = msgspec.structs.replace(by, model=own.model)
    by = msgspec.structs.replace(
        by,
        n=1,
        per_request=1,
        prompt=None,
        seed=None,
        system=own.system or TOLD,
        max_tokens=own.max_tokens,
        temperature=own.temperature,
        budget_tokens=None,
        budget_money=None,
        budget_seconds=None,
    )
    return msgspec.structs.replace(
        loaded, brief=asked, interface=None, settings=msgspec.structs.replace(settings, writer=by)
    )


def _rubric(loaded: LoadedBrief, name: str | None) -> str | None:
    if name is None:
        return None
    with boundary(BriefError, f"reading the rubric {name}"):
        return (loaded.folder / name).read_text(encoding="utf-8")
