"""Changes. What growing does to a program: one call more, less, twice or elsewhere, one value moved, another's end.

Each change gives the new program and how much is still known of what its calls gave: everything before the change.
"""

import random
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from tamis.behaviour.inputs import Maker
from tamis.behaviour.programs import bound_values, picked, refs_in, refs_of, with_inserted, without
from tamis.behaviour.values import Unmakeable
from tamis.sandbox import Call, Program, Value, decode, encode

Changed = tuple[Program, Sequence[object]]


def changed(  # noqa: PLR0911 (one answer for each kind)
    rng: random.Random, maker: Maker, program: Program, returned: Sequence[object], other: Callable[[], Program]
) -> Changed:
    """One change, chosen by chance. `returned` are the values of the program's first calls; `other` gives another
    program to take an end from."""
    if not program or rng.random() < 0.33:
        return maker.extended(rng, program, returned), returned
    at = rng.randrange(len(program))
    match rng.choices(("insert", "tweak", "delete", "swap", "double", "splice"), (3, 4, 1, 0.7, 1, 1))[0]:
        case "insert":
            return _inserted(rng, maker, program, returned)
        case "tweak":
            return _tweaked(rng, maker, program, returned)
        case "delete":
            return without(program, [at]), returned[:at]
        case "swap":
            return _swapped(rng, program, returned)
        case "splice":
            return _spliced(rng, maker, program, returned, other())
    to = rng.choice((at + 1, len(program)))
    return with_inserted(program, to, [program[at]]), returned[:to]


def _inserted(rng: random.Random, maker: Maker, program: Program, returned: Sequence[object]) -> Changed:
    """One more call somewhere within."""
    at = rng.randrange(len(program)) + 1
    head = maker.extended(rng, program[:at], returned[:at])
    return with_inserted(program, at, head[at:]) if head[:at] == program[:at] else head, returned[:at]


def _swapped(rng: random.Random, program: Program, returned: Sequence[object]) -> Changed:
    """Two neighbouring calls change places."""
    if len(program) < 2:
        return program, returned
    at = rng.randrange(len(program) - 1)
    return picked(program, [*range(at), at + 1, at, *range(at + 2, len(program))]), returned[:at]


def _spliced(rng: random.Random, maker: Maker, program: Program, returned: Sequence[object], other: Program) -> Changed:
    """The beginning of this program, then the end of another, as far as its objects are there."""
    at, start = rng.randrange(len(program) + 1), rng.randrange(len(other) + 1)
    tail: list[Call] = []
    for call in other[start:]:
        if all(r < at and maker.class_at(program, r) == maker.class_at(other, r) for r in refs_of(call)):
            tail.append(call)
    return (*program[:at], *tail), returned[:at]


def _tweaked(rng: random.Random, maker: Maker, program: Program, returned: Sequence[object]) -> Changed:
    """One argument becomes a neighbour of itself, or is drawn anew."""
    places = [(i, j) for i, call in enumerate(program) for j in range(len(call.args))]
    if not places:
        return program, returned
    i, j = rng.choice(places)
    call = program[i]
    value = _new_value(rng, maker, program[: i + 1], j, returned[:i])
    if value is None or refs_in(value[0]):
        return program, returned
    new = replace(call, args=(*call.args[:j], value[0], *call.args[j + 1 :]))
    return (*program[:i], new, *program[i + 1 :]), returned[:i]


def _new_value(
    rng: random.Random, maker: Maker, head: Program, j: int, returned: Sequence[object]
) -> tuple[Value] | None:
    """Another value for argument j of the last call, in a tuple, since None is a value; None where there is none."""
    at = len(head) - 1
    signature = maker.signature_at(head, at)
    if signature is None or refs_in(head[at].args[j]):
        return None
    param = bound_values(signature, head[at])[j][0]
    near = maker.near(head[:at], returned)
    try:
        if rng.random() < 0.5 and not maker.values.is_name(param.name):
            old = decode(head[at].args[j])
            return (encode(maker.values.tweak(rng, near, old, maker.kind_of(param), param.name)),)
        return (maker.argument(rng, list(head[:at]), near, param, signature.name),)
    except (Unmakeable, OverflowError, TypeError, ValueError, ArithmeticError):
        return None
