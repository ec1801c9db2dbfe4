"""OpenAI's and Anthropic's own clients against the simulated writer. Skipped aloud where they are not installed."""

import importlib.util
from collections.abc import Iterator

import pytest

from tamis.simulate import Simulated
from tamis.simulate.process import started
from tamis.tokens import count_tokens


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    if not any(importlib.util.find_spec(name) for name in ("openai", "anthropic")):
        pytest.skip("neither the openai nor the anthropic SDK is installed")
    with started(Simulated(stream_speed=20_000, first_token_ms=0)) as address:
        yield address


def test_the_openai_sdk_streams_counts_and_understands_refusals(url: str) -> None:
    openai = pytest.importorskip("openai", reason="the openai SDK is not installed")
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    assert [model.id for model in client.models.list()] == ["simulated"]
    messages = [{"role": "user", "content": "hi"}]
    stream = client.chat.completions.create(
        model="m", messages=messages, max_tokens=50, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
    assert count_tokens(text) == chunks[-1].usage.completion_tokens == 50
    whole = client.completions.create(model="m", prompt="x", max_tokens=7, n=2)
    assert [choice.finish_reason for choice in whole.choices] == ["length", "length"]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=messages, max_tokens=10**6)
    assert caught.value.code == "invalid_value"


def test_the_anthropic_sdk_streams_counts_and_understands_refusals(url: str) -> None:
    anthropic = pytest.importorskip("anthropic", reason="the anthropic SDK is not installed")
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
    messages = [{"role": "user", "content": "hi"}]
    with client.messages.stream(model="m", max_tokens=50, messages=messages) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert count_tokens(text) == final.usage.output_tokens == 50
    assert final.stop_reason == "max_tokens"
    assert client.messages.create(model="m", max_tokens=5, messages=messages).content[0].text
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        client.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": "hi " * 140_000}])
