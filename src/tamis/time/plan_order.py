"""Whether a plan's steps hang together: no circle, nothing that is never reached, and gates that send back work which
nobody else has taken up already."""

from graphlib import CycleError, TopologicalSorter

from tamis.errors import nearest
from tamis.time.plan import Plan, PlanStep
from tamis.time.plan_file import Written

MOST_STEPS = 200_000


def check_order(written: Written, plan: Plan) -> None:
    """Every step waits for steps that there are, and none for itself, however far round."""
    names = [step.name for step in plan.steps]
    for number, step in enumerate(plan.steps):
        for key, others in (("after", step.after), ("each", (step.each,) if step.each else ())):
            for other in others:
                if other not in names:
                    close = nearest(other, names)
                    meant = f"; did you mean {close!r}?" if close else f": the steps are {', '.join(names)}"
                    what = f"{step.name!r} waits for {other!r}, which is no step" + meant
                    raise written.error(what, "step", number, key)
        if step.each and plan.step(step.each).count != step.count:
            what = f"{step.name!r} follows {step.each!r} line by line, but has {step.count} lines where that has "
            raise written.error(what + str(plan.step(step.each).count), "step", number, "count")
    try:
        TopologicalSorter({step.name: step.waits_for for step in plan.steps}).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1][::-1]
        what = f"a circle, of which no step can ever begin: {' waits for '.join(circle)}"
        raise written.error(what, "step", names.index(circle[0]), "after") from None
    lines = sum(step.count * step.repeat * len(step.parts) for step in plan.steps)
    if lines > MOST_STEPS:
        raise written.error(f"{lines:,} single steps are more than the {MOST_STEPS:,} that can be played", "step", 0)


def done_again(written: Written, plan: Plan) -> dict[str, tuple[str, ...]]:
    """For each step with a gate, what is done again when it sends the work back."""
    again: dict[str, tuple[str, ...]] = {}
    for number, step in enumerate(plan.steps):
        at = ("step", number)
        if step.accept is None:
            if step.back_to != step.name or step.at_most is not None:
                raise written.error(f"{step.name!r} sends nothing back without accept", *at)
            continue
        if not 0 <= step.accept <= 1 or (step.accept < 0.001 and step.at_most is None):
            what = f"accept is {step.accept:g}: what comes after {step.name!r} is never reached, or hardly ever"
            raise written.error(what, *at, "accept", hint="a probability above 0.001, or at_most with it")
        if step.count > 1:
            raise written.error(f"{step.name!r} accepts the work as a whole, so its count is 1", *at, "accept")
        again[step.name] = _sent_back(written, plan, step, number)
    return again


def _sent_back(written: Written, plan: Plan, gate: PlanStep, number: int) -> tuple[str, ...]:
    before = _all_before(plan, gate.name)
    if gate.back_to not in before:
        what = f"{gate.name!r} can't send the work back to {gate.back_to!r}, which does not come before it"
        raise written.error(what, "step", number, "back_to")
    inside = {name for name in before if gate.back_to in _all_before(plan, name)}
    for other_number, other in enumerate(plan.steps):
        early = [name for name in other.waits_for if name in inside and name != gate.name]
        if other.name not in inside and early:
            what = f"{other.name!r} waits for {early[0]!r}, which {gate.name!r} may send back"
            hint = f"let it wait for {gate.name!r}"
            raise written.error(what, "step", other_number, "after", hint=hint)
    return tuple(step.name for step in plan.steps if step.name in inside)


def _all_before(plan: Plan, name: str) -> set[str]:
    """The step and all that come before it."""
    found: set[str] = set()
    ahead = [name]
    while ahead:
        one = ahead.pop()
        if one not in found:
            found.add(one)
            ahead += plan.step(one).waits_for
    return found
