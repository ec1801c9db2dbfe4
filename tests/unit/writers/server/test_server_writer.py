"""The writer against the simulated server: what is asked for, what is paid, and what a kill leaves."""

import asyncio
import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from tamis.clock import Clock, Spans
from tamis.errors import BriefError, DraftsError, LedgerError, UsageError
from tamis.ledger import Ledger
from tamis.records import Reply, Request
from tamis.simulate import Simulated, Speculation
from tamis.simulate.process import started
from tamis.testing import try_writer
from tamis.writers.requests import RequestLog
from tamis.writers.server import ServerWriter

from .conftest import MakeBrief, answering, http, no_time, sit, whole

APIS = ("chat", "completions", "messages")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "kept") as kept:
        yield kept


def served(url: str) -> dict[str, int]:
    with urllib.request.urlopen(f"{url}/simulated/account") as told:
        return dict(json.loads(told.read()))


@pytest.mark.parametrize("api", APIS)
def test_every_protocol_gives_as_many_drafts_as_were_asked_for(brief: MakeBrief, simulated: str, api: str) -> None:
    sat = sit(brief(url=simulated, api=api, n=5, max_tokens=60))
    assert [one.name for one in sorted(sat.written, key=lambda one: one.name)] == [
        f"simulated_00{i}.txt" for i in range(1, 6)
    ]
    assert len({one.content for one in sat.written}) == 5
    for one in sat.written:
        assert (one.finish, one.tokens, one.counted_by, one.problem) == ("stop", 40, "usage", None)


@pytest.mark.parametrize("api", APIS)
def test_a_draft_that_was_cut_off_says_so(brief: MakeBrief, simulated: str, api: str) -> None:
    sat = sit(brief(url=simulated, api=api, n=2, max_tokens=10))
    assert {one.finish for one in sat.written} == {"length"}


def test_several_answers_a_request_are_several_drafts(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    sat = sit(brief(url=simulated, api="chat", n=7, per_request=3, max_tokens=60), ledger)
    assert len({one.content for one in sat.written}) == 7
    assert sorted(request.drafts for request in ledger.all(Request)) == [(1, 2, 3), (4, 5, 6), (7,)]
    assert sum(reply.usage.tokens_out for reply in ledger.all(Reply) if reply.usage) == 7 * 40
    assert [one.tokens for one in sat.written if one.name == "simulated_001.txt"] == [None]  # usage was for three


def test_every_protocol_passes_the_trial_of_writers(brief: MakeBrief, simulated: str) -> None:
    for api in APIS:
        loaded = brief(url=simulated, api=api, n=3, max_tokens=60, text=f"# Ending {api}\n")
        assert len(try_writer(ServerWriter, loaded)) == 3


def test_what_was_written_is_not_asked_for_again(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    loaded = brief(url=simulated, api="chat", n=4, max_tokens=60)
    first = sit(loaded, ledger)
    requests = served(simulated)["requests"]
    second = sit(loaded, ledger)
    assert served(simulated)["requests"] == requests
    assert sorted(second.written, key=lambda one: one.name) == sorted(first.written, key=lambda one: one.name)
    more = sit(brief(url=simulated, api="chat", n=6, max_tokens=60), ledger)
    assert len(more.written) == 6
    assert served(simulated)["requests"] == requests + 2


def test_a_higher_cap_asks_again_for_what_the_lower_one_cut(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    sit(brief(url=simulated, api="chat", n=3, max_tokens=10), ledger)
    again = sit(brief(url=simulated, api="chat", n=3, max_tokens=60), ledger)
    assert sorted(one.finish for one in again.written) == ["length"] * 3 + ["stop"] * 3
    assert len({one.name for one in again.written}) == 6


def test_what_next_md_says_is_asked_and_is_another_round(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    loaded = brief(url=simulated, api="chat", n=2, max_tokens=60)
    sit(loaded, ledger)
    (loaded.folder / "NEXT.md").write_text(loaded.brief.text + "\n## Settled since\n\n- It ends well.\n")
    sat = sit(loaded, ledger)
    assert len(sat.written) == 4
    asked = [request.asked for request in ledger.all(Request)]
    assert len(set(asked)) == 2


def test_the_server_gets_the_brief_with_what_is_settled(brief: MakeBrief) -> None:
    asked: list[dict[str, object]] = []

    def answer(number: int, body: bytes) -> bytes:
        asked.append(msgspec.json.decode(body))
        return http(whole("x = 1"))

    async def run() -> None:
        async with answering(answer) as url:
            loaded = brief(
                desk="software", text="# A shop\n\nWrite `shop.py`.\n", url=url, model="m", api="chat", n=1,
                temperature=0.5, seed=7, extra={"top_p": 0.9, "chat_template_kwargs": {"enable_thinking": False}},
            )  # fmt: skip
            (loaded.folder / "NEXT.md").write_text("## Settled since\n\n- No refunds.\n")
            async for _ in ServerWriter(loaded, sleep=no_time).write(loaded):
                pass

    asyncio.run(run())
    (sent,) = asked
    system, user = sent["messages"]  # type: ignore[misc]  # decoded JSON
    assert "shop.py" in system["content"]
    assert user["content"] == "# A shop\n\nWrite `shop.py`.\n\n## Settled since\n\n- No refunds.\n"
    assert (sent["temperature"], sent["seed"], sent["top_p"], sent["max_tokens"]) == (0.5, 8, 0.9, 8192)
    assert sent["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize("api", APIS)
def test_trouble_on_the_way_costs_time_and_no_draft(brief: MakeBrief, rough: str, api: str) -> None:
    sat = sit(brief(url=rough, api=api, n=24, max_tokens=60, silence_seconds=0.3, tries=20))
    replies = sat.replies
    assert len({one.name for one in sat.written}) == 24
    assert {one.tokens for one in sat.written} == {40}
    kinds = {ended: [reply for reply in replies if reply.ended == ended] for ended in ("answered", "free", "perhaps")}
    assert len(kinds["answered"]) == 24
    assert kinds["free"] or kinds["perhaps"]
    assert sat.writer.now().failures == len(kinds["free"]) + len(kinds["perhaps"])


def test_a_full_queue_is_borne_by_asking_less(brief: MakeBrief) -> None:
    with started(Simulated(stream_speed=4000, first_token_ms=1, length=20, streams=2, queue=1)) as url:
        sat = sit(brief(url=url, api="chat", n=25, max_tokens=60, streams=64, tries=20))
    assert len(sat.written) == 25
    assert sat.writer.now().streams_limit < 64  # how far down, the machine's other work has a say in


@pytest.mark.parametrize("limit", [900, 2500])
def test_a_budget_of_tokens_is_kept_whatever_goes_wrong(
    brief: MakeBrief, ledger: Ledger, rough: str, limit: int
) -> None:
    before = served(rough)["tokens"]
    loaded = brief(url=rough, api="chat", n=99, max_tokens=50, budget_tokens=limit, tries=50, silence_seconds=0.3)
    try:
        now = sit(loaded, ledger).writer.now()
    except DraftsError as error:  # all that it allows was spent on requests that broke off
        assert "the budget of tokens is spent" in error.what
        return
    assert now.stopped == "the budget of tokens is spent"
    assert 0 < now.paid.tokens_in + now.paid.tokens_out <= limit
    assert served(rough)["tokens"] - before <= now.paid.tokens_out
    again = sit(loaded, ledger).writer.now()
    assert again.requests == 0
    assert (again.paid.tokens_in, again.paid.tokens_out) == (now.paid.tokens_in, now.paid.tokens_out)


def test_a_budget_that_one_draft_might_overrun_sends_nothing(brief: MakeBrief, simulated: str) -> None:
    before = served(simulated)["requests"]
    with pytest.raises(DraftsError, match="the budget of tokens is spent") as raised:
        sit(brief(url=simulated, model="m", api="chat", n=2, max_tokens=50, budget_tokens=100))
    assert "and 50 for a draft" in (raised.value.hint or "")
    assert served(simulated)["requests"] == before


def test_a_budget_of_money_is_kept(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    loaded = brief(url=simulated, api="chat", n=50, max_tokens=40, budget_money=0.01, price_in=1.0, price_out=10.0)
    now = sit(loaded, ledger).writer.now()
    assert now.money is not None
    assert 0.005 < now.money <= 0.01
    assert sum(reply.money or 0.0 for reply in ledger.all(Reply)) <= 0.01
    with pytest.raises(UsageError, match="needs prices"):
        ServerWriter(brief(url=simulated, budget_money=1.0))


def test_a_budget_of_seconds_gives_up_what_is_out(brief: MakeBrief, ledger: Ledger, steady: str) -> None:
    loaded = brief(url=steady, api="chat", n=9, max_tokens=9000, budget_seconds=0.5)
    with pytest.raises(DraftsError, match="the budget of seconds is spent"):
        sit(loaded, ledger, sleep=asyncio.sleep)
    replies = list(ledger.all(Reply))
    assert replies
    assert all(reply.ended == "perhaps" for reply in replies)
    with pytest.raises(DraftsError, match="the budget of seconds is spent"):
        sit(loaded, ledger, sleep=asyncio.sleep)
    assert len(list(ledger.all(Request))) == len(replies)


def test_leaving_early_gives_up_what_is_out_and_counts_it(brief: MakeBrief, ledger: Ledger) -> None:
    heads = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"

    async def silence(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async def leave() -> int:
        first = http(whole("The end."))
        async with answering(lambda number, body: heads if number else first, then=silence) as url:
            loaded = brief(url=url, model="m", api="chat", n=3, max_tokens=100)
            writer = ServerWriter(loaded, sleep=no_time)
            writer.keep_in(ledger, Spans(Clock(), lambda _: None))
            before = len(asyncio.all_tasks())
            drafts = writer.write(loaded)
            await anext(drafts)
            while writer.now().requests < 3:
                await asyncio.sleep(0.01)
            await drafts.aclose()
            ours = [task for task in asyncio.all_tasks() if "Sitting" in repr(task) or "RequestLog" in repr(task)]
            return len(ours) + before - 1

    assert asyncio.run(leave()) == 0
    replies = {reply.request: reply for reply in ledger.all(Reply)}
    assert set(replies) == {request.id for request in ledger.all(Request)}
    assert [reply.ended for reply in replies.values()].count("answered") == 1
    assert {reply.ended for reply in replies.values()} <= {"answered", "perhaps", "free"}


def test_a_slow_taker_slows_the_asking(brief: MakeBrief, simulated: str, ledger: Ledger) -> None:
    async def slow() -> int:
        loaded = brief(url=simulated, api="chat", n=100, max_tokens=60, streams=3)
        writer = ServerWriter(loaded, sleep=no_time)
        writer.keep_in(ledger, Spans(Clock(), lambda _: None))
        drafts = writer.write(loaded)
        await anext(drafts)
        await asyncio.sleep(0.3)
        sent = writer.now().requests
        await drafts.aclose()
        return sent

    assert asyncio.run(slow()) <= 1 + 3 + 3  # taken, waiting to be taken, and out


def test_each_request_has_a_span_with_its_tokens_and_first_token(brief: MakeBrief, steady: str) -> None:
    sat = sit(brief(url=steady, api="chat", n=3, max_tokens=60))
    write = next(span for span in sat.spans if span.name == "write")
    requests = [span for span in sat.spans if span.name == "request"]
    assert len(requests) == 3
    for span in requests:
        assert (span.stage, span.parent, span.resource) == ("writing", write.id, "stream")
        assert span.tokens_out == 60
        assert span.tokens_in > 0
        assert span.first_token_at is not None
        assert span.started < span.first_token_at < span.ended


def test_usage_that_nobody_tells_is_estimated_and_counts_in_full(brief: MakeBrief, tmp_path: Path) -> None:
    settings = Simulated(stream_speed=None, first_token_ms=1, length=40, usage="never")
    with started(settings) as url, Ledger(tmp_path) as ledger:
        sat = sit(brief(url=url, api="chat", n=2, max_tokens=60), ledger)
        (usage, _) = [reply.usage for reply in ledger.all(Reply)]
    now = sat.writer.now()
    assert usage is not None
    assert usage.counted_by.startswith("o200k_base")
    assert (now.estimated, now.tokens_out) == (2, 80)
    assert now.paid.tokens_out == 120
    assert sat.written[0].counted_by is None  # tamis counts it as it counts any draft


def test_speculation_and_cached_tokens_are_kept_as_told(brief: MakeBrief, tmp_path: Path) -> None:
    settings = Simulated(
        stream_speed=None,
        first_token_ms=1,
        length=40,
        speculation=Speculation(acceptance=0.7, draft_length=4),
        reasoning=10,
    )
    with started(settings) as url, Ledger(tmp_path) as ledger:
        sit(brief(url=url, api="chat", n=2, max_tokens=60, streams=1), ledger)
        first, second = [reply.usage for reply in ledger.all(Reply) if reply.usage]
    assert all((first.accepted, first.rejected, first.reasoning))
    assert (second.cached or 0) > (first.cached or 0)


@pytest.mark.parametrize("fails", ["sent", "ended"])
def test_a_ledger_that_can_not_be_written_ends_it_with_its_own_error(
    brief: MakeBrief, simulated: str, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(self: object, *_: object) -> None:
        raise LedgerError("the disk is full")

    monkeypatch.setattr(RequestLog, fails, full)
    with pytest.raises(LedgerError, match="the disk is full"):
        sit(brief(url=simulated, api="chat", n=9, max_tokens=60))


@pytest.mark.parametrize(
    ("writer", "environ", "error", "said"),
    [
        ({}, {}, UsageError, "needs an address"),
        ({"url": "ftp://x"}, {}, UsageError, "is no server's address"),
        ({"url": "http://x:99999"}, {}, UsageError, "url"),
        ({"url": "http://x", "key_from": "NOT_SET"}, {}, UsageError, "variable NOT_SET is not set"),
        ({"url": "http://x", "key_from": "ODD"}, {"ODD": "sk-ключ"}, UsageError, "ODD holds can't be a key"),
        ({"url": "http://x", "extra": {"max_tokens": 9, "n": 2}}, {}, UsageError, "extra sets max_tokens, n"),
        ({"url": "http://x", "prompt": "write"}, {}, BriefError, "has no {brief}"),
    ],
)
def test_settings_that_can_not_be_followed_are_refused_early(
    brief: MakeBrief, writer: dict[str, object], environ: dict[str, str], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as raised:
        ServerWriter(brief(**writer), environ=environ)
    assert said in str(raised.value)
    assert "sk-" not in str(raised.value)


@pytest.mark.parametrize(
    "line", ['key_from = "sk-proj-abc123"', 'url = "http://me:hunter2@host/v1"', 'url = "https://hunter2@host"']
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    from tamis.config import load_settings

    with pytest.raises(BriefError) as raised:
        load_settings(f"[writer]\n{line}\n", where="tamis.toml")
    assert "sk-" not in f"{raised.value}{raised.value.hint}"
    assert "hunter2" not in f"{raised.value}{raised.value.hint}"


def test_a_server_that_is_not_there_is_told_with_its_address(brief: MakeBrief) -> None:
    with pytest.raises(DraftsError, match="tries in a row failed, the last: no connection") as raised:
        sit(brief(url="http://127.0.0.1:9", model="m", api="chat", n=3, tries=2))
    assert raised.value.hint == "is a server running at http://127.0.0.1:9/v1?"


def test_of_several_models_one_has_to_be_named(brief: MakeBrief) -> None:
    async def run() -> None:
        async with answering(lambda number, body: http({"data": [{"id": "a"}, {"id": "b"}]})) as url:
            loaded = brief(url=url, n=1)
            async for _ in ServerWriter(loaded, sleep=no_time).write(loaded):
                pass

    with pytest.raises(UsageError, match="has 2 models: a, b"):
        asyncio.run(run())


@pytest.mark.parametrize(
    ("url", "api", "path"),
    [
        ("http://h:8000", "chat", "http://h:8000/v1/chat/completions"),
        ("h:8000/v1/", "completions", "http://h:8000/v1/completions"),
        ("https://openrouter.ai/api", "chat", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://g.example/v1beta/openai", "chat", "https://g.example/v1beta/openai/chat/completions"),
        ("https://api.anthropic.com", "messages", "https://api.anthropic.com/v1/messages"),
        ("http://h/v1/chat/completions?version=3", "chat", "http://h/v1/chat/completions?version=3"),
        ("http://[::1]:80/v1", "chat", "http://[::1]:80/v1/chat/completions"),
    ],
)
def test_addresses_are_understood_as_people_write_them(url: str, api: str, path: str) -> None:
    from tamis.writers.server.dialect import address

    assert address(url).of(api) == path  # type: ignore[arg-type]  # one of the three


def test_the_address_tells_the_protocol_where_it_can() -> None:
    from tamis.writers.server.dialect import address

    assert address("https://api.anthropic.com").protocol == "messages"
    assert address("http://h/v1/completions").protocol == "completions"
    assert address("http://h/v1").protocol is None
