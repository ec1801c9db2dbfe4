"""How well taste finds a reader's ten best of a thousand texts, and whether what it claims is true.

    python benchmarks/taste.py --small                            one seed, 100 comparisons, a minute
    python benchmarks/taste.py --seeds 10                         everything; hours on a small machine
    python benchmarks/taste.py --only found,claims --seeds 3 --runs "tamis;machine"
    python benchmarks/taste.py --only speed,pace                  some minutes

"found": recall of the true top ten (a tie for the tenth place counts as in) and regret (the mean of the true top ten
less the mean of the ten shown) after 100, 300 and 1,000 comparisons. "claims": what was claimed against what was
true, over all runs. "speed": the time to the next question. "pace": folding and features of a thousand texts of a
thousand tokens. Runs are kept in --keep as they end, and not run twice.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from _taste_worlds import DATA, Says, World, hanna_world, made_world, reader

from tamis.taste.answers import Heard
from tamis.taste.bank import Bank
from tamis.taste.features import Features, read_texts
from tamis.taste.folding import fold_many, fold_shingles
from tamis.taste.next_pair import next_ask
from tamis.taste.stopping import shortlist

TOP = 10
MARKS = (100, 300, 1000)


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """What was found after so many comparisons, and what was claimed. `regret` is in the world's unit, `lost` the
    same in log-odds, as `claimed` is. `inside` says of each shown text whether it is in the true top; `fair` the same
    with a tie for the last place shared out. `share_left` is of all answers so far."""

    run: str
    world: str
    seed: int
    asked: int
    recall: float
    regret: float
    lost: float
    claimed: float | None = None
    low: float | None = None
    high: float | None = None
    odds: tuple[float, ...] = ()
    inside: tuple[bool, ...] = ()
    fair: tuple[float, ...] = ()
    share_left: float | None = None
    side: float | None = None
    cpu_ms: float | None = None


def play(run: str, world: World, says: Says, seed: int, marks: Sequence[int], *, options: int = 2) -> list[Mark]:
    """One run of tamis: asks, hears, and is looked at at each mark."""
    bank, rng = Bank(world.features), np.random.default_rng(seed)
    shown: list[tuple[int, ...]] = []
    left, found = 0, []
    started = time.process_time()
    for asked in range(1, max(marks) + 1):
        ask = next_ask(bank, shown, top=TOP, rng=rng, n_options=options)
        said = says(ask.shown)
        bank.hear(Heard(shown=ask.shown, said=said))
        shown.append(ask.shown)
        left += said == 0
        if asked in marks:
            cpu_ms = 1000 * (time.process_time() - started) / asked
            best = shortlist(bank, top=TOP, rng=np.random.default_rng([seed, asked]))
            scored = _scored(run, world, seed, asked, np.array(best.texts))
            found.append(
                msgspec.structs.replace(
                    scored,
                    claimed=best.regret,
                    low=best.regret_low,
                    high=best.regret_high,
                    odds=best.odds,
                    share_left=left / asked,
                    side=bank.beliefs.side()[0],
                    cpu_ms=cpu_ms,
                )
            )
    return found


def _scored(run: str, world: World, seed: int, asked: int, texts: np.ndarray) -> Mark:
    tenth = np.sort(world.truth)[-TOP]
    over, tied = (world.truth > tenth).sum(), (world.truth == tenth).sum()
    mine = world.truth[texts]
    fair = np.where(mine > tenth, 1.0, np.where(mine == tenth, (TOP - over) / tied, 0.0))
    return Mark(
        run=run,
        world=world.name,
        seed=seed,
        asked=asked,
        recall=float((mine >= tenth).mean()),
        regret=float(np.sort(world.truth)[-TOP:].mean() - mine.mean()),
        lost=float(np.sort(world.utility)[-TOP:].mean() - world.utility[texts].mean()),
        inside=tuple(bool(one) for one in mine >= tenth),
        fair=tuple(float(one) for one in fair),
    )


def bare(world: World) -> World:
    return msgspec.structs.replace(world, features=Features(n_texts=world.features.n_texts, groups={}))


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked about what."""

    world: World
    left: float = 0.0
    blind: float = 0.0
    options: int = 2


def setting(run: str, seed: int) -> Setting:  # noqa: PLR0911 - a table
    """Every run by name."""
    plain = hanna_world("all")
    match run.split(": "):
        case ["no features"]:
            return Setting(world=bare(plain))
        case ["tamis, best of four"]:
            return Setting(world=plain, options=4)
        case ["left 65 %, blindly"]:  # 30 % of answers are left whatever stands there, and half of the others
            return Setting(world=plain, blind=0.3)
        case ["left, as a pull"]:
            return Setting(world=plain, left=0.8)
        case ["half as consistent"] | ["twice as consistent"]:
            return Setting(world=hanna_world("all", consistency=0.5 if run.startswith("half") else 2.0))
        case ["machine"]:
            return Setting(world=hanna_world("machine"))
        case ["by one criterion", criterion]:
            return Setting(world=hanna_world("all", criterion=criterion))
        case ["all" | "machine" as which, judge]:
            return Setting(world=hanna_world(which, judge=judge))
        case ["made", kind]:
            return Setting(world=made_world(kind, seed, plain.features))
        case _:
            return Setting(world=plain)


def runs_of(run: str, seed: int, marks: Sequence[int]) -> list[Mark]:
    """One run of tamis, or of a rival, to the last mark."""
    asked = setting(run, seed)
    world, says = asked.world, reader(asked.world, seed, left=asked.left, blind=asked.blind)
    if run not in RIVALS:
        return play(run, world, says, seed, marks, options=asked.options)
    from _taste_rivals import most_uncertain, random_choix  # noqa: PLC0415 - needs choix

    rival = random_choix if run == RIVALS[0] else most_uncertain
    tops = [np.argsort(-estimate, kind="stable")[:TOP] for estimate in rival(world, says, seed, marks)]
    return [_scored(run, world, seed, n, top) for n, top in zip(marks, tops, strict=True)]


RIVALS = ("random + choix", "global uncertainty")
FOUND = (
    *RIVALS,
    "no features",
    "tamis",
    "all: ChatGPT AVG 1",
    "all: Beluga-13B AVG 1",
    "machine",
    "machine: Beluga-13B AVG 1",
    "tamis, best of four",
    "half as consistent",
    "twice as consistent",
    "left 65 %, blindly",
    "left, as a pull",
    "made: linear",
    "made: unrelated",
    "made: heavy",
    "made: kinds",
    "made: mixed",
    "made: steps",
    "made: gems",
    "by one criterion: empathy",
    "by one criterion: surprise",
)
"""With a colon: which stories and which judge, which made world, or which of HANNA's criteria she goes by."""


def found(args: argparse.Namespace, marks: Sequence[int]) -> list[Mark]:
    """Plays every run that is not kept yet."""
    kept = _read(args.keep)
    have = {(mark.run, mark.seed, mark.asked) for mark in kept}
    for run in args.runs:
        for seed in range(args.seeds):
            missing = [asked for asked in marks if (run, seed, asked) not in have]
            if missing:
                new = runs_of(run, seed, [asked for asked in marks if asked <= max(missing)])
                new = [mark for mark in new if mark.asked in missing]
                _append(args.keep, new)
                kept += new
                print(f"  {run}, seed {seed}: " + _in_short(new), file=sys.stderr, flush=True)
    return kept


def table(marks: Sequence[Mark], at: Sequence[int]) -> None:
    """Recall / regret, mean over seeds with its standard error."""
    runs = list(dict.fromkeys(mark.run for mark in marks))
    print("recall of the top ten / regret" + "".join(f" | {asked:>6} " for asked in at))
    for run in [run for run in FOUND if run in runs]:
        cells = []
        for asked in at:
            here = [mark for mark in marks if mark.run == run and mark.asked == asked]
            if here:
                recall, regret = [mark.recall for mark in here], [mark.regret for mark in here]
                cells.append(f"{_mean(recall)} / {_mean(regret)} ({len(here)})")
        print(f"  {run:<24} " + "   ".join(cells))


def claims(marks: Sequence[Mark]) -> None:
    """Claimed against true: regret in log-odds, and the odds of each shown text in ten bins."""
    marks = [mark for mark in marks if mark.claimed is not None]
    print("regret in log-odds, claimed / true (share of runs within the claimed 90 %); odds claimed / came true")
    for run, asked in dict.fromkeys((mark.run, mark.asked) for mark in marks):
        here = [mark for mark in marks if (mark.run, mark.asked) == (run, asked)]
        odds, inside = _flat(mark.odds for mark in here), _flat(mark.inside for mark in here)
        fair = _flat(mark.fair for mark in here)
        within = np.mean([mark.low <= mark.lost <= mark.high for mark in here])
        claimed, lost = (np.mean([getattr(mark, name) for mark in here]) for name in ("claimed", "lost"))
        print(
            f"  {run:<24} {asked:>5}   {claimed:.2f} / {lost:.2f} ({within:.2f})"
            f"   {odds.mean():.2f} / {inside.mean():.2f}   ties shared out {fair.mean():.2f}"
        )
    for asked in (None, *dict.fromkeys(mark.asked for mark in marks)):
        here = [mark for mark in marks if asked in {None, mark.asked}]
        odds = _flat(mark.odds for mark in here)
        for name in ("inside", "fair"):
            truth = _flat(getattr(mark, name) for mark in here)
            which = "over all runs" if asked is None else f"at {asked}"
            ties = "ties count" if name == "inside" else "ties shared out"
            error = calibration_error(odds, truth)
            print(
                f"  {which}, {ties}: expected calibration error {error:.3f}, "
                f"claimed {odds.mean():.3f}, true {truth.mean():.3f}"
            )
    odds, truth = _flat(mark.odds for mark in marks), _flat(mark.inside for mark in marks)
    for low in np.arange(0, 1, 0.1):
        here = (odds >= low) & ((odds < low + 0.1) | (low > 0.85))
        if here.any():
            claimed, true = odds[here].mean(), truth[here].mean()
            print(f"    {low:.1f}–{low + 0.1:.1f}: claimed {claimed:.2f}, true {true:.2f}, n = {here.sum()}")


def calibration_error(odds: np.ndarray, truth: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error in bins of equal width."""
    place = np.minimum((odds * bins).astype(int), bins - 1)
    gaps = (abs(odds[place == b].mean() - truth[place == b].mean()) * (place == b).mean() for b in set(place.tolist()))
    return float(sum(gaps))


def speed(sizes: Sequence[int], asked: Sequence[int]) -> None:
    """Wall and CPU milliseconds from one answer to the next question, with features of the same width as for real
    texts, medians of ten."""
    for n in sizes:
        rng = np.random.default_rng(0)
        groups = {"style": rng.standard_normal((n, 34)) / 34**0.5, "meaning": rng.standard_normal((n, 32)) / 32**0.5}
        bank = Bank(Features(n_texts=n, groups=groups))
        utility = 2 * groups["style"][:, 0] * 34**0.5 + rng.standard_normal(n)
        shown: list[tuple[int, ...]] = []
        wall: list[float] = []
        cpu: list[float] = []
        ask = next_ask(bank, shown, top=TOP, rng=rng)
        while len(shown) < max(asked):
            said = int(utility[ask.shown[1]] + rng.logistic() > utility[ask.shown[0]])
            shown.append(ask.shown)
            t0, c0 = time.perf_counter(), time.process_time()
            bank.hear(Heard(shown=ask.shown, said=said))
            ask = next_ask(bank, shown, top=TOP, rng=rng)
            wall.append(1000 * (time.perf_counter() - t0))
            cpu.append(1000 * (time.process_time() - c0))
            if len(shown) in asked:
                print(
                    f"  {n:>7,} texts, after {len(shown):>4} answers: next question in "
                    f"{statistics.median(wall[-10:]):.0f} ms wall, {statistics.median(cpu[-10:]):.0f} ms CPU "
                    f"(worst so far {max(wall):.0f} wall, {max(cpu):.0f} CPU)",
                    flush=True,
                )


def pace(n_texts: int, tokens_each: int, *, times: int = 5) -> None:
    """Seconds from texts in memory to folds and features, the word table loaded before; the best and the median."""
    texts = made_texts(n_texts, tokens_each)
    read_texts(texts[:2]).features()
    wall, cpu = [], []
    for _ in range(times):
        t0, c0 = time.perf_counter(), time.process_time()
        found = read_texts(texts)
        keepers = fold_shingles(found.shingles).keepers() if found.shingles else fold_many(texts).keepers()
        found.features(keepers)
        wall.append(time.perf_counter() - t0)
        cpu.append(time.process_time() - c0)
    print(
        f"  {n_texts:,} texts of about {tokens_each:,} tokens: folding and features in {min(wall):.2f} s wall at best, "
        f"{statistics.median(wall):.2f} s in the median; {min(cpu):.2f} and {statistics.median(cpu):.2f} s CPU",
        flush=True,
    )


def made_texts(n: int, tokens_each: int) -> list[str]:
    """Texts of words that are as common as words are (Zipf), every eighth nearly the same as an earlier one."""
    rng = np.random.default_rng(0)
    vocabulary = ["".join(rng.choice(list("etaoinshrdlu"), size)) for size in rng.integers(2, 9, 20_000)]
    chance = 1 / (10 + np.arange(len(vocabulary)))
    n_words = max(1, int(tokens_each * 0.42))  # such words are about two tokens each, and some are followed by a mark
    texts: list[str] = []
    for place in range(n):
        if place % 8 == 7:
            texts.append(texts[int(rng.integers(len(texts)))].replace(" et", " ot", 1))
            continue
        words = [vocabulary[k] for k in rng.choice(len(vocabulary), n_words, p=chance / chance.sum())]
        texts.append(" ".join(word + "." * (k % 14 == 13) for k, word in enumerate(words)))
    return texts


def _mean(values: Sequence[float]) -> str:
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f}±{error:.2f}"


def _in_short(marks: Iterable[Mark]) -> str:
    return ", ".join(f"{mark.asked}: {mark.recall:.1f} / {mark.regret:.2f}" for mark in marks)


def _flat(rows: Iterable[Sequence[float]]) -> np.ndarray:
    return np.concatenate([np.asarray(row, float) for row in rows])


def _read(keep: Path | None) -> list[Mark]:
    if keep is None or not keep.exists():
        return []
    return [msgspec.json.decode(line, type=Mark) for line in keep.read_bytes().splitlines()]


def _append(keep: Path | None, marks: Sequence[Mark]) -> None:
    if keep is not None:
        with keep.open("ab") as file:
            file.writelines(msgspec.json.encode(mark) + b"\n" for mark in marks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="one seed, 100 comparisons, few runs")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--marks", default=",".join(map(str, MARKS)))
    parser.add_argument("--only", default="found,claims,speed,pace")
    parser.add_argument("--runs", default=None, help="some of: " + "; ".join(FOUND))
    parser.add_argument("--keep", type=Path, default=None, help="a file (JSON lines) to keep runs in")
    args = parser.parse_args()
    only = args.only.split(",")
    marks = [100] if args.small else [int(mark) for mark in args.marks.split(",")]
    small_runs = ("no features", "tamis", "all: ChatGPT AVG 1", "made: unrelated")
    args.runs = args.runs.split(";") if args.runs else (small_runs if args.small else FOUND)
    args.seeds = 1 if args.small else args.seeds
    if not DATA.is_dir():
        print(f"skipped: {DATA} is not there, so there is no truth to compare with")
    elif {"found", "claims"} & set(only):
        kept = found(args, marks)
        table(kept, marks)
        if "claims" in only:
            claims(kept)
    if "speed" in only:
        speed((1_000,) if args.small else (1_000, 100_000), (1, 50) if args.small else (1, 50, 100, 300, 1000))
    if "pace" in only:
        pace(100 if args.small else 1_000, 1_000)


if __name__ == "__main__":
    main()
