"""Inputs. Makes programs for one brief: calls of what it declares, with values that matter and the set-up they need.

Everything here is a function of the surface, the hints, the programs given and `rng`, so that a run that was killed
makes the same programs again.
"""

import datetime
import random
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from tamis.behaviour.fitting import fits, fits_with_objects
from tamis.behaviour.hints import Hints
from tamis.behaviour.kinds import Kind
from tamis.behaviour.programs import (
    bound_values,
    day_of,
    refs_in,
    refs_of,
    unique,
    with_inserted,
    without,
)
from tamis.behaviour.surface import Param, Signature, Surface
from tamis.behaviour.values import Near, Unmakeable, Values, guessed
from tamis.sandbox import Call, Program, Value, decode, encode

PROVIDES = re.compile(r"^(add|register|create|open|new|make|insert|join|enrol|enroll|define|declare)(_|$)")
ABSURD: Sequence[object] = (None, "", " ", -1, 0, 2.5, True, "1", b"x", (), [], {}, float("nan"), "é\u200b", [[]])


class Maker:
    """Makes programs for one brief."""

    def __init__(self, surface: Surface, hints: Hints) -> None:
        self.surface = surface
        self.hints = hints
        self.strangeness: dict[bytes, float] = {}
        """How unusual arguments are, as far as somebody asked."""
        self.values = Values(hints, stateful=bool(surface.classes))
        self._functions = {f.name: f for f in surface.functions}
        self._classes = {c.name: c for c in surface.classes}
        self._keyed = frozenset(c.name for c in surface.classes if c.keyed)
        self._members = {(c.name, m.name): m for c in surface.classes for m in c.members}
        self._entries = [s for s in surface.signatures() if self._makeable(s)]
        self._exchanged = {k.of_class for s in surface.signatures() for p in s.params for k in _within(p.kind)}
        self.providers = self._providers()
        self.values.provided = frozenset(self.providers)
        self.readers = [s for s in self._entries if s.name in hints.readers and s.form in {"method", "property"}]
        self.acts = [
            s for s in self._entries if s.form == "method" and s not in self.readers and not self.is_provider(s)
        ]

    def _makeable(self, signature: Signature) -> bool:
        return all(p.optional or p.spread or p.kind.name != "callable" for p in signature.params)

    def _providers(self) -> dict[str, Signature]:
        """For each parameter that names a thing, the method that makes the name known: one that the tests set up
        with, else one that reads like it."""
        shared: dict[str, int] = {}
        for s in self.surface.signatures():
            for p in s.params:
                shared[p.name] = shared.get(p.name, 0) + 1
        found: dict[str, Signature] = {}
        for s in self._entries:
            told = s.name in self.hints.setting_up
            if s.form == "method" and s.params and (told or PROVIDES.match(s.name)):
                name = s.params[0].name
                if shared[name] > 1 and self.values.is_name(name) and (told or name not in found):
                    found[name] = s
        return found

    @property
    def callable(self) -> bool:
        """Whether there is anything to call."""
        return bool(self._entries)

    def is_provider(self, signature: Signature) -> bool:
        return signature in self.providers.values()

    # reading programs

    def class_at(self, program: Sequence[Call], at: int) -> str:
        """The class of the object that call `at` made, "" where it makes none that the brief declares."""
        call = program[at]
        if call.get and call.on is not None and program[call.on].name in self.surface.enums:
            return program[call.on].name
        signature = self.signature_at(program, at)
        if signature is None:
            return ""
        return signature.of if signature.form == "constructor" else signature.returns.of_class

    def signature_at(self, program: Sequence[Call], at: int) -> Signature | None:
        """What call `at` calls, None for what the surface does not know."""
        call = program[at]
        if call.on is not None:
            holder = program[call.on]
            of = holder.name if holder.get and holder.on is None else self.class_at(program, call.on)
            return self._members.get((of, call.name))
        if call.get:
            return None
        cls = self._classes.get(call.name)
        return cls.constructor if cls is not None else self._functions.get(call.name)

    def near(self, program: Sequence[Call], returned: Sequence[object] = ()) -> Near:
        """What is around at the end of the program; `returned` are the values of its calls, where known."""
        near = Near()
        for i, call in enumerate(program):
            signature = self.signature_at(program, i)
            if signature is not None:
                for param, value in bound_values(signature, call):
                    if not refs_in(value):
                        near.add(param.name, decode(value))
        for gave in returned[: len(program)]:
            near.returned += gave if isinstance(gave, list) else [gave]
        return near

    def inside(self, program: Program) -> bool:
        """Whether the brief plausibly allows all of it: every value fits its parameter, and names are made known as
        they are in the tests."""
        for i, call in enumerate(program):
            signature = self.signature_at(program, i)
            if signature is None:
                if not call.get:
                    return False
                continue
            for param, value in bound_values(signature, call):
                if not self._fits(value, param):
                    return False
        return True

    def _fits(self, value: Value, param: Param) -> bool:
        kind = self.kind_of(param)
        if kind.mentions("class"):
            return fits_with_objects(value, kind, self._keyed)
        if refs_in(value):
            return kind.name == "any"
        plain = decode(value)
        if kind.name == "any":
            return plain is not None and fits(plain, kind)
        return fits(plain, kind, named=self.values.is_name(param.name))

    def kind_of(self, param: Param) -> Kind:
        return guessed(param.name, self.hints) if param.kind.name in {"any", "object"} else param.kind

    def shape(self, program: Program) -> str:
        """What a program does, whatever its dates and amounts: its calls, and which names are the same."""
        names: dict[str, int] = {}
        calls = []
        for i, call in enumerate(program):
            signature = self.signature_at(program, i)
            if signature is None or signature in self.providers.values():
                continue
            if signature.form == "constructor":
                calls.append(f"{call.name}{[a if isinstance(a, int) and abs(a) < 4 else '' for a in call.args]}")
                continue
            who = [
                names.setdefault(v, len(names))
                for p, v in bound_values(signature, call)
                if isinstance(v, str) and self.values.is_name(p.name)
            ]
            calls.append(f"{call.name}{who}")
        return " ".join(calls)

    def lean(self, program: Sequence[Call]) -> list[int]:
        """The calls that can matter to a later one: not those that only read, nor objects that nothing is done with."""
        keep: list[int] = []
        needed: set[int] = set()
        for i in range(len(program) - 1, -1, -1):
            signature = self.signature_at(program, i)
            reads = signature is None or signature.name in self.hints.readers or signature.form == "property"
            if i in needed or not (reads or signature is None or signature.form == "constructor"):
                keep.append(i)
                needed.update(refs_of(program[i]))
        return keep[::-1]

    def sets_up(self, program: Sequence[Call], at: int) -> bool:
        """Whether the call only makes an object, or a name known."""
        signature = self.signature_at(program, at)
        return signature is not None and (signature.form == "constructor" or signature in self.providers.values())

    def needed(self, program: Sequence[Call], wanted: set[int]) -> list[int]:
        """The places of the wanted calls and of the set-up that they need: objects, and the first call that makes
        each of their names known."""
        keep: set[int] = set()
        open_ = set(wanted)
        while open_:
            at = open_.pop()
            keep.add(at)
            open_ |= {r for r in refs_of(program[at]) if r not in keep}
            signature = self.signature_at(program, at)
            for param, value in bound_values(signature, program[at]) if signature else ():
                provider = self.providers.get(param.name)
                if provider is not None and provider is not signature:
                    known = next((i for i in range(at) if self._known(program[i : i + 1], provider, value)), None)
                    open_ |= {known} - keep if known is not None else set()
        return sorted(keep)

    # making calls

    def argument(
        self, rng: random.Random, program: list[Call], near: Near, param: Param, method: str, *, depth: int = 0
    ) -> Value:
        """A value for the parameter, as an argument. Objects that it needs are made at the end of `program`. Raises
        Unmakeable."""
        kind = self.kind_of(param)
        if kind.name == "union":
            kind = rng.choice(kind.of)
        if kind.name == "class":
            return ["ref", self.object_of(rng, program, near, kind.of_class, depth=depth + 1)]
        if kind.mentions("class"):
            if kind.name not in {"list", "run", "tuple"}:
                raise Unmakeable(kind.name)  # as a set's items or a dict's keys, objects would have to be hashable
            inner = kind.of if kind.name == "tuple" else kind.of[:1] * rng.choice((0, 1, 2, 2, 3))
            each = [replace(param, kind=k, name=f"{param.name}[]") for k in inner]
            parts = [self.argument(rng, program, near, p, method, depth=depth) for p in each]
            return ["list" if kind.name == "list" else "tuple", parts]
        drawn = self.values.draw(rng, near, kind, param.name, method=method)
        near.add(param.name, drawn)
        return encode(drawn)

    def object_of(self, rng: random.Random, program: list[Call], near: Near, name: str, *, depth: int = 0) -> int:
        """The place of an object of the class: one that is there already, mostly, else a new one. Raises
        Unmakeable."""
        if name in self.surface.enums:
            return _got(program, rng.choice(self.surface.enums[name]), _got(program, name))
        there = [i for i in range(len(program)) if self.class_at(program, i) == name]
        if there and rng.random() < (0.7 if name in self._exchanged else 0.995):
            return rng.choice(there)
        cls = self._classes.get(name)
        if cls is None or depth > 3:
            raise Unmakeable(name)
        self._append(rng, program, near, cls.constructor, None, depth=depth)
        return len(program) - 1

    def _append(
        self, rng: random.Random, program: list[Call], near: Near, s: Signature, on: int | None, *, depth: int = 0
    ) -> None:
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        skipped = False
        for param in s.params:
            if param.spread == "**" or (param.optional and rng.random() < 0.5):
                skipped = True
                continue
            if param.spread == "*":
                for _ in range(0 if skipped else rng.randrange(4)):
                    args.append(self.argument(rng, program, near, param, s.name, depth=depth))
                continue
            value = self.argument(rng, program, near, param, s.name, depth=depth)
            if param.keyword or skipped:
                kwargs[param.name] = value
            else:
                args.append(value)
        if s.form in {"static", "class"}:
            on = _got(program, s.of)
        program.append(Call(name=s.name, on=on, args=tuple(args), kwargs=kwargs, get=s.form == "property"))

    def extended(
        self,
        rng: random.Random,
        program: Program,
        returned: Sequence[object] = (),
        *,
        signature: Signature | None = None,
        introduce: bool = True,
        calm: Mapping[str, float] | None = None,
    ) -> Program:
        """The program with one more call at its end, and before it whatever that needs: an object, and mostly the
        calls that make its names known."""
        made = list(program)
        near = self.near(program, returned)
        try:
            s = signature or self._choose(rng, calm or {})
            on = self.object_of(rng, made, near, s.of) if s.form in {"method", "property"} else None
            before = len(made)
            self._append(rng, made, near, s, on)
        except Unmakeable:
            return program
        whole = tuple(made)
        return self._introduced(rng, whole, before) if introduce and on is not None and self.providers else whole

    def asked(self, program: Program, signature: Signature, values: Sequence[object]) -> Program:
        """The program, and a call of a method of one parameter for each value, on the object used last."""
        on = next((c.on for c in reversed(program) if c.on is not None), None)
        if on is None or self.class_at(program, on) != signature.of:
            return program
        return (*program, *(Call(name=signature.name, on=on, args=(encode(v),)) for v in values))

    def _choose(self, rng: random.Random, calm: Mapping[str, float]) -> Signature:
        """What to call next: any of the surface, what only sets up less often, a constructor rarely. `calm` makes
        some less likely, by name."""
        weights = [
            (
                0.01
                if s.form == "constructor" and s.of not in self._exchanged
                else 0.1
                if s.form == "constructor"
                else 0.25
                if s.name in self.hints.setting_up
                else 1.0
            )
            * calm.get(s.name, 1.0)
            for s in self._entries
        ]
        return rng.choices(self._entries, weights)[0]

    def _introduced(self, rng: random.Random, program: Program, at: int) -> Program:
        """The program with the names that the calls from `at` on use for the first time made known, mostly."""
        for place in range(at, len(program)):
            signature = self.signature_at(program, place)
            if signature is None:
                continue
            for param, value in bound_values(signature, program[place]):
                maker = self.providers.get(param.name)
                if (
                    maker is None
                    or maker is signature
                    or self._known(program[:place], maker, value)
                    or rng.random() < 0.1
                ):
                    continue
                owner = program[place].on
                if owner is None or self.class_at(program, owner) != maker.of:
                    continue
                calls = list(program[: owner + 1])
                near = self.near(program[:place])
                try:
                    self._append(rng, calls, near, maker, owner)
                except Unmakeable:
                    continue
                fresh = replace(calls[-1], args=(value, *calls[-1].args[1:]))
                program = with_inserted(program, owner + 1, [fresh])
                return self._introduced(rng, program, place + 1)
        return program

    def _known(self, calls: Sequence[Call], maker: Signature, value: Value) -> bool:
        return any(c.name == maker.name and c.args[:1] == (value,) for c in calls)

    def later_dates(self, program: Sequence[Call], probe: Call) -> list[Call]:
        """The call on several days after the last day of the program: the same day, and each of the drafts' spans
        later, give or take a day. None where it takes no date, or none came before."""
        last = max((d for c in program for d in map(day_of, [*c.args, *c.kwargs.values()]) if d), default=None)
        at = [j for j, a in enumerate(probe.args) if day_of(a)]
        if last is None or not at:
            return []
        spans = self.hints.spans[:3] or (1, 7)
        offsets = sorted({0, 1, *(s + n for s in spans for n in (-1, 0, 1))})
        days = [encode(last + datetime.timedelta(days=n)) for n in offsets]
        return [replace(probe, args=(*probe.args[: at[0]], day, *probe.args[at[0] + 1 :])) for day in days]

    def shun(self, program: Program) -> None:
        """Takes note that drafts ran out of time or memory here: from now on numbers stay well below its largest."""
        numbers = [abs(v) for c in program for v in [*c.args, *c.kwargs.values()] if type(v) is int]
        largest = max(numbers, default=0)
        if largest > 1_000:
            self.values.most = min(self.values.most, max(1_000, largest // 10))

    # first programs

    def seeds(self) -> list[Program]:
        """The lifted sequences, without set-up that they don't use."""
        return list(unique([self.trimmed(p) for p in self.hints.seeds if p]))

    def trimmed(self, program: Program) -> Program:
        """Without the calls that only make a name known which no later call uses."""
        drop = []
        for i, call in enumerate(program):
            signature = self.signature_at(program, i)
            if signature is None or signature not in self.providers.values() or len(call.args) != 1:
                continue
            later = [v for c in program[i + 1 :] for v in [*c.args, *c.kwargs.values()]]
            if call.args[0] not in later:
                drop.append(i)
        return without(program, drop)

    def fresh(self, rng: random.Random, calls: int) -> Program:
        """A new program of about so many calls."""
        program: Program = ()
        for _ in range(calls):
            program = self.extended(rng, program)
        return program

    def absurd(self, rng: random.Random, program: Program) -> Program:
        """The program with one argument that the brief does not plausibly allow."""
        places = [(i, j) for i, c in enumerate(program) for j in range(len(c.args))]
        if not places:
            return program
        i, j = rng.choice(places)
        call = program[i]
        old = None if refs_in(call.args[j]) else decode(call.args[j])
        value = rng.choice([*ABSURD, *_twisted(old)])
        return (
            *program[:i],
            replace(call, args=(*call.args[:j], encode(value), *call.args[j + 1 :])),
            *program[i + 1 :],
        )


def _twisted(value: object) -> list[object]:  # noqa: PLR0911 (one answer for each kind)
    """The same content in another type."""
    match value:
        case datetime.datetime():
            return [value.date(), value.isoformat()]
        case datetime.date():
            return [datetime.datetime.combine(value, datetime.time(12)), value.isoformat(), datetime.date.max]
        case bool() | None:
            return []
        case int():
            return [float(value), str(value), value + 0.5]
        case str():
            return [f" {value} ", value.encode(), value * 60]
        case list():
            return [tuple(value), None]
    return []


def _got(program: list[Call], name: str, on: int | None = None) -> int:
    """The place of the call that reads the name from the module, or from what call `on` gave; made where it is not
    there."""
    call = Call(name=name, on=on, get=True)
    if call not in program:
        program.append(call)
    return program.index(call)


def _within(kind: Kind) -> Iterable[Kind]:
    """A kind and all kinds in it."""
    yield kind
    for k in kind.of:
        yield from _within(k)
