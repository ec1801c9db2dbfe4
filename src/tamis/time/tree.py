"""Spans as the tree they are. A ledger or a trace is a flat list; here each span finds its children, and what a killed
run or a careless exporter left out is made good openly: every repair is a line in `notes`.

Promises that every span is below exactly one root, that roots are stages "whole", and that nothing is dropped.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from tamis.records import Record, Span
from tamis.time.intervals import Interval, length, union, without


class Tree(Record, frozen=True, kw_only=True):
    """`roots` by their start; `children` of a span id by their start; `notes` say what was missing or odd."""

    roots: tuple[Span, ...]
    children: Mapping[str, tuple[Span, ...]]
    notes: tuple[str, ...] = ()

    def below(self, span: Span) -> tuple[Span, ...]:
        return self.children.get(span.id, ())

    def extent(self, span: Span) -> Interval:
        """From the first beginning to the last end of the span and all that is below it: a child may outlive its
        parent."""
        within = [span, *self.walk(span)]
        return min(s.started for s in within), max(s.ended for s in within)

    def extents(self) -> dict[str, Interval]:
        """The extent of every span, by its id."""
        extents: dict[str, Interval] = {}
        for span in reversed(list(self.everything())):  # children come before their parents
            below = [extents[child.id] for child in self.below(span)]
            extents[span.id] = (
                min([span.started, *(start for start, _ in below)]),
                max([span.ended, *(end for _, end in below)]),
            )
        return extents

    def walk(self, span: Span) -> Iterator[Span]:
        """All that is below the span, not the span itself: parents before children, siblings in the order of time."""
        waiting = list(reversed(self.below(span)))
        while waiting:
            one = waiting.pop()
            yield one
            waiting.extend(reversed(self.below(one)))

    def everything(self) -> Iterator[Span]:
        for root in self.roots:
            yield root
            yield from self.walk(root)

    def own(self, span: Span) -> list[Interval]:
        """The stretches of a span in which none of its children ran: its own work, or its own waiting."""
        return without((span.started, span.ended), union((c.started, c.ended) for c in self.below(span)))

    def own_cpu_seconds(self, span: Span) -> float | None:
        """CPU seconds of the span without its children's. A process's spans count all that it used meanwhile, and so
        the children's too; None where it was not measured."""
        if span.cpu_seconds is None:
            return None
        return max(0.0, span.cpu_seconds - sum(c.cpu_seconds or 0.0 for c in self.below(span)))


def tree(spans: Sequence[Span]) -> Tree:
    """The spans as a tree. The same id twice counts once. Spans whose parent was never recorded, as a killed run leaves
    them, go below their run's whole, which is made up where there is none; so do those at the top that are no whole."""
    by_id = {span.id: span for span in spans}
    notes = _counted(len(spans) - len(by_id), "was", "were", "recorded twice: counted once")
    backward = [span for span in by_id.values() if span.ended < span.started]
    notes += _counted(len(backward), "ends", "end", "before beginning (clock skew): counted as no time")
    by_id |= {s.id: msgspec.structs.replace(s, ended=s.started) for s in backward}
    by_id, cut = _without_circles(by_id)
    notes += _counted(cut, "is", "are", "below itself: taken as the top")
    lost = {s.parent for s in by_id.values() if s.parent is not None and s.parent not in by_id}
    notes += _counted(len(lost), "was", "were", "never recorded (a run that did not end?)", what="parent span")
    return _gathered(_with_wholes(by_id), notes)


def _with_wholes(by_id: Mapping[str, Span]) -> dict[str, Span]:
    """With every span that has nothing above it put below its run's whole, if it is not that itself."""
    wholes: dict[str, str] = {}
    for span in by_id.values():
        if span.parent is None and span.stage == "whole":
            wholes.setdefault(span.run, span.id)
    loose: dict[str, list[Span]] = defaultdict(list)
    for span in by_id.values():
        lost = span.parent is not None and span.parent not in by_id
        if lost or (span.parent is None and span.stage != "whole"):
            loose[span.run].append(span)
    placed = dict(by_id)
    for run, members in loose.items():
        if run not in wholes:
            wholes[run] = f"whole {run}"
            placed[wholes[run]] = _whole_around(wholes[run], members)
        placed |= {s.id: msgspec.structs.replace(s, parent=wholes[run]) for s in members}
    return placed


def _gathered(by_id: Mapping[str, Span], notes: list[str]) -> Tree:
    children: dict[str, list[Span]] = defaultdict(list)
    roots: list[Span] = []
    for span in sorted(by_id.values(), key=lambda s: (s.started, s.ended)):
        (roots if span.parent is None else children[span.parent]).append(span)
    outliving = sum(c.ended > by_id[p].ended or c.started < by_id[p].started for p in children for c in children[p])
    notes = notes + _counted(outliving, "reaches", "reach", "outside its parent (clock skew, or work left running)")
    return Tree(roots=tuple(roots), children={p: tuple(c) for p, c in children.items()}, notes=tuple(notes))


def _whole_around(span_id: str, below: Sequence[Span]) -> Span:
    started, ended = min(s.started for s in below), max(s.ended for s in below)
    run, name = below[0].run, "a run that did not end"
    return Span(id=span_id, parent=None, stage="whole", name=name, started=started, ended=ended, run=run)


def _without_circles(by_id: Mapping[str, Span]) -> tuple[dict[str, Span], int]:
    """Parents that lead back to themselves are cut where first met."""
    clean, cut, safe = dict(by_id), 0, set[str]()
    for span_id in by_id:
        path: set[str] = set()
        at: str | None = span_id
        while at in clean and at not in safe:
            if at in path:
                clean[at] = msgspec.structs.replace(clean[at], parent=None)
                cut += 1
                break
            path.add(at)
            at = clean[at].parent
        safe.update(path)
    return clean, cut


def _counted(n: int, one: str, many: str, rest: str, *, what: str = "span") -> list[str]:
    return [f"{n} {what}{'' if n == 1 else 's'} {one if n == 1 else many} {rest}"] if n else []


def between(roots: Sequence[Interval]) -> float:
    """Seconds between the runs, in which nothing was under way: the laptop was closed, or nobody had come back."""
    busy = union(roots)
    return (busy[-1][1] - busy[0][0] - length(busy)) if busy else 0.0
