"""A plan as it is written: the keys of its TOML file, and at which line each stands.

Strict: an unknown key is refused with the nearest known one. What the values mean together is checked in `plan`.
"""

import re
import tomllib

import msgspec

from tamis.errors import TamisError, nearest


class PlanError(TamisError):
    """The plan can't be played as it is written: its author can mend it."""


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lognormal by its median and 90th percentile, as written."""

    median: float | str
    p90: float | str


class PartSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part of a step, as written in the file; see the reference for what each key means."""

    name: str
    stage: str | None = None
    takes: float | str | Spread | None = None
    tokens: float | Spread | None = None
    tokens_in: float | None = None
    needs: str | None = None
    measured: str | None = None
    estimate: str | None = None


class StepSpec(PartSpec, frozen=True, forbid_unknown_fields=True):
    count: int = 1
    repeat: int = 1
    parts: list[PartSpec] = []
    after: list[str] | None = None
    each: str | None = None
    accept: float | None = None
    back_to: str | None = None
    at_most: int | None = None


class WriterSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    stream_speed: float | None = None
    throughput: float | None = None
    input_speed: float | None = None
    first_token: float | str = 0.0
    measured: str | None = None
    estimate: str | None = None


class ResourceSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    places: int = 1
    hours: str | None = None
    runs_on: bool = False
    measured: str | None = None
    estimate: str | None = None


class HeadSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    text: str = ""
    starts: str = "Mon 09:00"
    leaves_out: list[str] = []


class FileSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    plan: HeadSpec
    step: list[StepSpec]
    writer: WriterSpec = WriterSpec()
    resources: dict[str, ResourceSpec] = {}


class Written:
    """A plan's text, which knows where its keys stand, so that what is refused is refused with its line."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where

    def spec(self) -> FileSpec:
        """The file's keys and values. Raises PlanError."""
        try:
            return msgspec.convert(tomllib.loads(self.text), FileSpec)
        except tomllib.TOMLDecodeError as error:
            raise PlanError(f"{self.where} is not TOML: {error}") from error
        except msgspec.ValidationError as error:
            raise self._refused(str(error)) from error

    def error(self, what: str, *path: str | int, hint: str | None = None) -> PlanError:
        """What is wrong with the key at `path`, for instance ("step", 2, "takes")."""
        return PlanError(f"{self.where}, line {self.line(*path)}: {what}", hint=hint)

    def line(self, *path: str | int) -> int:
        """The line, from 1, where the key at `path` stands, or what holds it where it can't be told more closely."""
        lines = self.text.splitlines()
        first, last = 0, len(lines)
        found = 0
        for at, key in enumerate(path):
            if isinstance(key, int):
                continue
            nth = path[at + 1] if at + 1 < len(path) else 0
            here = [n for n in range(first, last) if _names(lines[n], key)]
            if here:
                found = first = here[min(nth, len(here) - 1) if isinstance(nth, int) else 0]
                last = next((n for n in range(found + 1, last) if lines[n].startswith("[")), last)
        return found + 1

    def _refused(self, said: str) -> PlanError:
        what, _, place = said.partition(" - at `$")
        path = [int(n) if n else key for key, n in re.findall(r"([A-Za-z_]+)|\[(\d+)\]", place)]
        unknown = re.search(r"unknown field `(.*)`", what)
        if unknown is None:
            return self.error(what[0].lower() + what[1:].replace("`", "'"), *path)
        known = _keys_at(path)
        close = nearest(unknown[1], known)
        meant = f"; did you mean {close!r}?" if close else ""
        hint = f"the keys here are {', '.join(known)}"
        return self.error(f"unknown key {unknown[1]!r}{meant}", *path, unknown[1], hint=hint)


def _names(line: str, key: str) -> bool:
    """Whether the line is where the key stands: a header that ends with it, its own line, or within an inline table."""
    name = re.escape(key)
    return bool(re.match(rf"\[+([\w.]+\.)?{name}\]+", line) or re.search(rf"(^|[{{,])\s*{name}\s*=", line))


def _keys_at(path: list[str | int]) -> list[str]:
    names = [key for key in path if isinstance(key, str)]
    kinds: dict[tuple[str, ...], type[msgspec.Struct]] = {
        (): FileSpec,
        ("plan",): HeadSpec,
        ("writer",): WriterSpec,
        ("step",): StepSpec,
        ("step", "parts"): PartSpec,
    }
    kind = Spread if names and names[-1] in ("takes", "tokens") else kinds.get(tuple(names), ResourceSpec)
    return list(kind.__struct_fields__)
