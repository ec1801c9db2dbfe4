"""The endings that ship with tamis, and the reader that stands in for the one whose story it is."""

import importlib.util
from pathlib import Path

import msgspec

EXAMPLE = Path(__file__).parents[3] / "examples" / "endings"


def stand_in():
    spec = importlib.util.spec_from_file_location("stand_in", EXAMPLE / "reader.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_three_hundred_whole_endings_or_more() -> None:
    lines = [msgspec.json.decode(line) for line in (EXAMPLE / "endings.jsonl").read_bytes().splitlines()]
    assert sum(line["finish_reason"] == "stop" and bool(line["text"]) for line in lines) >= 300
    assert len({line["name"] for line in lines}) == len(lines)
    assert all(line["usage"]["completion_tokens"] for line in lines)


def test_the_stand_in_prefers_what_comes_back_to_the_pier() -> None:
    vague = (
        "She thought about everything that had ever happened to her and to all the others, and it was a lot to take in."
    )
    definite = (
        "She folded the letter and put out the lamp. The dog stood up, and together they went to the house. "
        "It was warm."
    )
    prefer = stand_in().prefer
    assert prefer([vague, definite]) == 1
    assert prefer([definite, vague, vague]) == 0
    assert prefer([definite, definite]) is None
