"""The log of what is paid for: on disk when it says so, and what it makes of a kill."""

import asyncio
import pickle
import time
from pathlib import Path

from tamis.ledger import Ledger
from tamis.records import Answered, Beat, Reply, Request, Spec, Usage, digest
from tamis.writers.requests import BEAT_SECONDS, Paid, RequestLog, Sums

BRIEF = "b" * 32


def request(name: str, *, asked: str = "p", at: float = 100.0, sitting: str = "s") -> Request:
    spec = Spec(kind="writer", name="server", version="1")
    return Request(
        id=name, brief=BRIEF, writer=spec, asked=asked, drafts=(1,), most_in=400, most_out=50, most_money=None,
        sitting=sitting, at=at,
    )  # fmt: skip


def reply(to: str, ended: str = "answered", *, usage: Usage | None = None, at: float = 103.0) -> Reply:
    answers = (Answered(draft=1, blob=digest(b"text"), finish="stop", said="stop"),) if ended == "answered" else ()
    return Reply(id=f"re {to}", request=to, brief=BRIEF, ended=ended, answers=answers, usage=usage, at=at)  # type: ignore[arg-type]  # one of the three


def used(tokens_in: int, tokens_out: int, by: str = "usage") -> Usage:
    return Usage(tokens_in=tokens_in, tokens_out=tokens_out, counted_by=by)


def paid(*requests: Request, replies: tuple[Reply, ...] = (), beats: tuple[Beat, ...] = ()) -> Paid:
    sums = Sums()
    for sent in requests:
        sums.sent(sent)
    for ended in replies:
        sums.ended(ended)
    for sign in beats:
        sums.beat(sign)
    return sums.paid()


def beat(at: float, *, last: bool = False) -> Beat:
    return Beat(id=f"{at}", brief=BRIEF, sitting="s", at=at, last=last)


def test_what_was_sent_and_what_came_back_is_on_disk_when_it_says_so(tmp_path: Path) -> None:
    async def write(ledger: Ledger) -> None:
        log = RequestLog(BRIEF, ledger)
        await log.sent(request("r"))
        with Ledger(tmp_path, read_only=True) as other:
            assert list(other.all(Request)) == [request("r")]
        await log.ended(reply("r", usage=used(20, 30)), {digest(b"text"): b"text"})
        with Ledger(tmp_path, read_only=True) as other:
            again = RequestLog(BRIEF, other)
            assert [one.usage for one in again.replies.values()] == [used(20, 30)]
            assert again.content(digest(b"text")) == b"text"

    with Ledger(tmp_path) as ledger:
        asyncio.run(write(ledger))


def test_many_at_once_wait_for_few_commits(tmp_path: Path) -> None:
    async def write(ledger: Ledger) -> None:
        log = RequestLog(BRIEF, ledger)
        await asyncio.gather(*(log.sent(request(f"r{i}")) for i in range(500)))

    with Ledger(tmp_path) as ledger:
        flushes = 0
        flush = ledger.flush

        def counted() -> None:
            nonlocal flushes
            flushes += 1
            flush()

        ledger.flush = counted  # type: ignore[method-assign]  # to count them
        asyncio.run(write(ledger))
        assert flushes <= 5


def test_what_was_out_at_a_kill_counts_in_full() -> None:
    told = paid(request("a"), request("b"), replies=(reply("a", usage=used(20, 30)),))
    # the prompt has 20 tokens, as the server counted it in the other request
    assert (told.tokens_in, told.tokens_out, told.perhaps_in, told.perhaps_out) == (40, 80, 20, 50)


def test_a_prompt_that_no_server_counted_yet_counts_at_its_bound() -> None:
    assert paid(request("a")).tokens_in == 400
    other = (request("a"), request("b", asked="another prompt"))
    assert paid(*other, replies=(reply("b", usage=used(20, 30)),)).perhaps_in == 400


def test_what_was_turned_away_costs_nothing_and_what_broke_off_may_have_cost_all() -> None:
    told = paid(request("a"), request("b"), replies=(reply("a", "free"), reply("b", "perhaps")))
    assert (told.tokens_out, told.perhaps_out) == (50, 50)


def test_an_estimate_counts_in_full() -> None:
    told = paid(request("a"), replies=(reply("a", usage=used(20, 30, by="o200k_base")),))
    assert (told.tokens_out, told.perhaps_out) == (50, 50)


def test_a_sitting_lasts_to_its_last_sign_and_a_killed_one_a_beat_longer() -> None:
    requests, replies = (request("a", at=100.0),), (reply("a", at=103.0),)
    ended = paid(*requests, replies=replies, beats=(beat(99.5), beat(104.0, last=True)))
    killed = paid(*requests, replies=replies, beats=(beat(99.5), beat(104.0)))
    assert ended.seconds == 4.5
    assert killed.seconds == 4.5 + BEAT_SECONDS


def test_beats_come_while_the_loop_is_held_up(tmp_path: Path) -> None:
    with Ledger(tmp_path) as ledger:
        log = RequestLog(BRIEF, ledger)
        with log.beating("s", time.time):
            deadline = time.monotonic() + 30
            while len(list(ledger.all(Beat))) < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
        beats = list(ledger.all(Beat))
    assert len(beats) >= 3
    assert [one.last for one in beats] == [False] * (len(beats) - 1) + [True]


def test_what_is_held_does_not_grow_with_the_requests(tmp_path: Path) -> None:
    async def write(log: RequestLog, numbers: range) -> None:
        for number in numbers:
            await log.sent(request(f"r{number}"))
            log.note(reply(f"r{number}", usage=used(20, 30)), {})

    with Ledger(tmp_path) as ledger:
        log = RequestLog(BRIEF, ledger)
        asyncio.run(write(log, range(5)))
        held = len(pickle.dumps(log._sums))
        asyncio.run(write(log, range(5, 50)))
        assert len(pickle.dumps(log._sums)) < held + 20  # a number may have a digit more
        assert len(list(log.requests.values())) == len(list(log.replies.values())) == 50
        assert log.requests["r7"] == request("r7")
        told = log.paid()
        assert (told.tokens_in, told.tokens_out) == (50 * 20, 50 * 30)
        assert RequestLog(BRIEF, ledger).paid() == told
