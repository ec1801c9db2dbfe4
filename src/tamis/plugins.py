"""Plug-ins: writers and checks that come with tamis, with any installed package, or from a file that someone is trying
out.

A package offers one by an entry point in the group `tamis.writers` or `tamis.checks`; "file.py:thing" names one
without any package. Either is a callable that takes the LoadedBrief and returns the writer or the check. Nothing is
imported before it is asked for by name.
"""

import importlib.util
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Literal, cast

from tamis.brief import LoadedBrief
from tamis.checks.base import Check
from tamis.errors import UsageError, boundary, nearest
from tamis.records import Record, digest
from tamis.writers.base import Writer

Group = Literal["writers", "checks"]
_MUST_HAVE = {"writers": ("spec", "write"), "checks": ("spec", "look")}


class Plugin(Record, frozen=True, kw_only=True):
    """One that is installed, and the distribution that it comes from."""

    group: Group
    name: str
    comes_from: str


def known_plugins() -> tuple[Plugin, ...]:
    """All that are installed, by group and name."""
    groups: tuple[Group, ...] = ("writers", "checks")
    return tuple(
        Plugin(group=group, name=point.name, comes_from=_origin(point)) for group in groups for point in _points(group)
    )


def make_writer(name: str, brief: LoadedBrief, *, relative_to: Path = Path()) -> Writer:
    """The writer of that name for this brief. Raises UsageError where there is none or it can't be made."""
    return cast(Writer, _made("writers", name, brief, relative_to))


def make_check(name: str, brief: LoadedBrief, *, relative_to: Path = Path()) -> Check:
    """The check of that name for this brief. Raises UsageError where there is none or it can't be made."""
    return cast(Check, _made("checks", name, brief, relative_to))


def _made(group: Group, name: str, brief: LoadedBrief, relative_to: Path) -> object:
    file, colon, thing = name.rpartition(":")
    make = _from_file(group, relative_to / file, thing) if colon else _from_package(group, name)
    with boundary(UsageError, f"the {group[:-1]} '{name}' could not be made for this brief"):
        made = make(brief)
    lacking = [attribute for attribute in _MUST_HAVE[group] if not hasattr(made, attribute)]
    if lacking:
        raise UsageError(
            f"'{name}' is no {group[:-1]}: what it returned ({type(made).__name__}) has no {' and no '.join(lacking)}",
            hint=f"tamis.{group}.base says what one has; docs/how-to/add-a-writer.md shows how",
        )
    return made


def _from_package(group: Group, name: str) -> Callable[[LoadedBrief], object]:
    points = _points(group)
    found = [point for point in points if point.name == name]
    if not found:
        raise _unknown(group, name, [point.name for point in points])
    if len(found) > 1:
        homes = " and ".join(sorted(_origin(point) for point in found))
        raise UsageError(f"several {group} are called '{name}': of {homes}", hint="uninstall all but one of them")
    with boundary(UsageError, f"the {group[:-1]} '{name}' of {_origin(found[0])} can't be imported"):
        return cast(Callable[[LoadedBrief], object], found[0].load())


def _from_file(group: Group, path: Path, thing: str) -> Callable[[LoadedBrief], object]:
    if not path.is_file():
        raise UsageError(f"no {group[:-1]} from {path}: there is no such file", hint="the form is file.py:thing")
    with boundary(UsageError, f"the {group[:-1]} in {path} can't be imported"):
        module = _imported(path)
    if not hasattr(module, thing):
        public = [name for name in vars(module) if not name.startswith("_")]
        near = nearest(thing, public)
        raise UsageError(f"{path} has no '{thing}'" + (f"; did you mean '{near}'?" if near else ""))
    return cast(Callable[[LoadedBrief], object], getattr(module, thing))


def _imported(path: Path) -> ModuleType:
    """The file as a module of its own name, so that two files called alike don't get in each other's way."""
    name = f"tamis_plugin_{path.stem}_{digest(str(path.resolve()))[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look a class's module up there
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _unknown(group: Group, name: str, known: list[str]) -> UsageError:
    near = nearest(name, known)
    ordered = sorted(known, key=lambda other: (other != near, other))
    return UsageError(
        f"no {group[:-1]} called '{name}'. Known {group}: {', '.join(ordered) or 'none'}",
        hint="`tamis plugins` shows where each comes from",
    )


def _points(group: Group) -> list[EntryPoint]:
    return sorted(entry_points(group=f"tamis.{group}"), key=lambda point: point.name)


def _origin(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
