"""What `[taste]` in tamis.toml may say."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class TasteSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How prose is compared. How many texts to choose stands under `[choose] top`."""

    budget: Annotated[int, Meta(ge=0, description="At most so many comparisons in all, over all sittings.")] = 300
    options: Annotated[
        Literal[2, 3, 4], Meta(description="How many texts to show at a time: 2 side by side, or the best of 3 or 4.")
    ] = 2
    settled: Annotated[
        float,
        Meta(
            gt=0.5,
            lt=1,
            description="The shortlist is settled when she would be expected to take one of her true best over a shown "
            "text at most this often. 0.5 is never better.",
        ),
    ] = 0.55
    per_kind: Annotated[
        int, Meta(ge=0, description="At most so many texts of one kind on the shortlist; 0 sets no limit.")
    ] = 0
    seed: Annotated[int, Meta(ge=0, description="Seeds what is drawn: the same answers, the same questions.")] = 0
    judge: Annotated[
        str | None,
        Meta(
            description="A judge whose opinion becomes a feature: a file of Python that defines `prefer(texts)`, from "
            "the brief's folder on, or the name of a writer. It is asked 200 pairs in both orders, and never votes."
        ),
    ] = None
    rubric: Annotated[
        str | None, Meta(description="A file that says what a judge should judge by, from the brief's folder on.")
    ] = None
