"""How well tamis chooses, where the truth is known.

Each draft that passes the given tests is the owner once: with itself in the pool, where it should be found, and with
itself and its like taken out, where nothing should be. Owners that err in one answer of twenty come on top, and the
owner of the lending desk as she was written. From all of it: how often the choice was right, how many questions and
lines it took, and what the odds that were stated are worth.

    python benchmarks/choosing.py [--small] [--briefs lending,slugs] [--every 1] [--fit] [--svg odds.svg]

`--small` takes the three briefs with functions and every third owner. `--fit` looks for the numbers of the model anew,
leaving one brief out at a time, and prints what would go into `tamis.behaviour.odds.FITTED`.
"""

import argparse
import contextlib
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from _fitting import cross_fitted, fitted, log_loss
from _rivals import curves, still
from _runs import Result, ask_all, one_run
from _worlds import BRIEFS, LENDING, World, world

from tamis.behaviour.inquiry import Choosing, Inquiry
from tamis.behaviour.odds import FITTED

CALLS = {"lending": 12_000, "slugs": 4_000, "payments": 4_000, "ranks": 4_000}
CHOOSING = Choosing()


def main() -> None:
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # a mutant may write files where it runs
        _measure(asked)


def _measure(asked: argparse.Namespace) -> None:
    names = asked.briefs.split(",") if asked.briefs else list(CALLS)[1 if asked.small else 0 :]
    every = asked.every or (3 if asked.small else 1)
    results: list[Result] = []
    for name in names:
        made = world(_folder(name), calls=CALLS.get(name, 10_000) // (3 if asked.small else 1))
        _introduce(made)
        mine = _many(made, every)
        results += mine
        _table(mine)
        _side_by_side(made, [r for r in mine if not r.removed and not r.erring], every)
        if name == "lending":
            _written(made)
            _growth(made)
    _odds(results, asked.svg)
    if asked.fit:
        _fit(results)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--briefs", default="")
    parser.add_argument("--every", type=int, default=0, help="take every so many drafts as an owner")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--svg", type=lambda path: Path(path).resolve(), default=None, help="draw the picture there")
    return parser.parse_args()


def _folder(name: str) -> Path:
    return LENDING if name == "lending" else BRIEFS / name


def _introduce(made: World) -> None:
    camps = len({tuple(made.alike(d)) for d in made.drafts})
    open_ = sum(d.state == "open" for d in made.decisions)
    print(
        f"\n== {made.name}: {len(made.drafts)} of {len(made.sources)} drafts pass, {camps} camps, {open_} decisions, "
        f"{len(made.ground.programs)} programs, made ready in {made.seconds:.1f} s"
    )


def _many(made: World, every: int) -> list[Result]:
    found: list[Result] = []
    for draft in made.drafts[::every]:
        for removed in (False, True):
            for erring in (0.0, 0.05):
                found.append(one_run(made, draft, removed=removed, erring=erring, choosing=CHOOSING, fit=FITTED))
    return found


def _share(some: Sequence[bool]) -> str:
    return f"{sum(some) / len(some):6.1%}" if some else "     –"


def _table(results: Sequence[Result]) -> None:
    for erring in (False, True):
        mine = [r for r in results if r.erring == erring]
        here, gone = [r for r in mine if not r.removed], [r for r in mine if r.removed]
        words = "owners who err in 5 % of answers" if erring else "owners who do not err"
        print(f"   {words}: {len(here)}")
        print(
            f"     in the pool   right {_share([r.right and r.chosen is not None for r in here])}   questions median "
            f"{statistics.median(r.questions for r in here):g}, most {max(r.questions for r in here)}   lines median "
            f"{statistics.median(r.lines for r in here):g}, most {max(r.lines for r in here)}"
        )
        print(
            f"     taken out     none or odds ≤ 0.3 {_share([r.chosen is None or r.p <= 0.3 for r in gone])}   ≥ 0.9 "
            f"{_share([r.chosen is not None and r.p >= 0.9 for r in gone])}   questions median "
            f"{statistics.median(r.questions for r in gone):g}   lines most {max(r.lines for r in gone)}"
        )
        missed = [f"{r.owner}→{r.chosen} ({r.p:.2f})" for r in gone if r.chosen is not None and r.p > 0.3]
        wrong = [f"{r.owner}→{r.chosen} ({r.p:.2f})" for r in here if not r.right or r.chosen is None]
        if missed or wrong:
            print(f"     not told apart: {', '.join(missed) or '–'}; wrong: {', '.join(wrong) or '–'}")


def _side_by_side(made: World, mine: Sequence[Result], every: int) -> None:
    """Questions 0 to 10 against the share of owners whose draft leads; then the rules that ask nothing."""
    rng = random.Random(0)
    rows = {"tamis": [_share([r.leaders[min(k, len(r.leaders) - 1)] for r in mine]) for k in range(11)]}
    for name, shares in curves(made, made.drafts[::every], rng).items():
        rows[name] = [f"{s:6.1%}" for s in shares]
    print("   questions    " + " ".join(f"{k:6d}" for k in range(11)))
    for name, shares in rows.items():
        print(f"   {name:12} " + " ".join(shares))
    print("   without questions: " + ", ".join(f"{n} {s:.1%}" for n, s in still(made, made.drafts[::every]).items()))


def _written(made: World) -> None:
    """The owner of the lending desk as she was written."""
    inquiry = Inquiry(made.ground, made.decisions, run=made.run, lab=made.lab, choosing=CHOOSING)
    before = time.perf_counter()
    ask_all(inquiry, made.written_owner())
    seconds = time.perf_counter() - before
    verdict, strength = inquiry.verdict(), inquiry.strength()
    print(f"   the written owner: {verdict.draft} ({', '.join(verdict.alike) or 'none'} alike), odds {verdict.odds.p}")
    print(f"     {inquiry.questions} questions, {inquiry.lines_read} lines, {seconds:.1f} s; {inquiry.stopped}")
    print(
        f"     test strength: mutants {strength.mutants_by_tests} → {strength.mutants_with_answers} of "
        f"{strength.mutants}, drafts {strength.drafts_by_tests} → {strength.drafts_with_answers} of {strength.drafts}"
    )


def _growth(made: World) -> None:
    """Half of the drafts and all of them, from the start to the last question."""
    spent: list[float] = []
    for n in (len(made.sources) // 2, len(made.sources)):
        before = time.process_time()
        part = world(_folder(made.name), calls=CALLS[made.name], only=n)
        inquiry = Inquiry(part.ground, part.decisions, run=part.run, lab=part.lab, choosing=CHOOSING)
        ask_all(inquiry, part.owner_like(part.drafts[0]))
        spent.append(time.process_time() - before)
    print(f"   twice the drafts take {spent[1] / spent[0]:.2f} × the CPU time ({spent[0]:.1f} s → {spent[1]:.1f} s)")


def _odds(results: Sequence[Result], svg: Path | None) -> None:
    """Stated odds against what came true. What is stated when none is chosen is that none is right."""
    pairs = [stated(r) for r in results]
    print(f"\n== odds over {len(pairs)} runs: log-loss {log_loss(pairs):.3f}")
    print("   stated       runs   mean   came true")
    error = 0.0
    bins: list[tuple[float, float, int]] = []
    for k in range(10):
        inside = [(p, true) for p, true in pairs if k / 10 <= p < (k + 1) / 10 or (k == 9 and p == 1.0)]
        if not inside:
            continue
        mean, true = statistics.fmean(p for p, _ in inside), statistics.fmean(t for _, t in inside)
        error += abs(mean - true) * len(inside) / len(pairs)
        bins.append((mean, true, len(inside)))
        bar = "█" * round(true * 30)
        print(f"   {k / 10:.1f} to {(k + 1) / 10:.1f}  {len(inside):5}   {mean:.3f}   {true:.3f}  {bar}")
    print(f"   expected calibration error {error:.3f}")
    if svg is not None:
        svg.write_text(_picture(bins))
        print(f"   drawn in {svg}")


def stated(result: Result) -> tuple[float, bool]:
    return result.p, result.right


def _picture(bins: Sequence[tuple[float, float, int]]) -> str:
    """Stated odds to the right, what came true upwards; the diagonal is perfect, areas are numbers of runs."""
    most = max(n for *_, n in bins)
    dots = "".join(
        f'<circle cx="{40 + 320 * p:.0f}" cy="{360 - 320 * t:.0f}" r="{3 + 17 * (n / most) ** 0.5:.1f}" '
        f'fill="#2a6" fill-opacity=".55"><title>stated {p:.2f}, came true {t:.2f}, {n} runs</title></circle>'
        for p, t, n in bins
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" font-family="sans-serif" font-size="12">'
        '<rect width="400" height="400" fill="white"/><path d="M40 360L360 40" stroke="#999" stroke-dasharray="4"/>'
        '<path d="M40 40V360H360" fill="none" stroke="black"/><text x="150" y="390">stated odds</text>'
        f'<text x="14" y="250" transform="rotate(-90 14 250)">share that came true</text>{dots}</svg>\n'
    )


def _fit(results: Sequence[Result]) -> None:
    pairs, each = cross_fitted(results, FITTED)
    print(f"\n== fitted anew, one brief left out at a time: log-loss {log_loss(pairs):.3f} on the briefs left out")
    for brief, loss in each.items():
        print(f"   without {brief}: {loss:.3f} on it")
    print(f"   on all: {fitted(results, FITTED)}")


if __name__ == "__main__":
    main()
