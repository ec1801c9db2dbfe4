"""What `[taste]` and `[judge]` in tamis.toml may say."""

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
    sentences: Annotated[
        str | None,
        Meta(
            description="A sentence-transformers model on this machine, by its folder or name, whose vectors are one "
            "more group of features. Nothing is downloaded."
        ),
    ] = None
    judge: Annotated[
        str | None,
        Meta(
            description="A judge whose opinion becomes a feature and never votes: a file of Python that defines "
            "`prefer(texts)`, a file of scores (CSV or JSON lines with `name` and numbers), both from the brief's "
            "folder on, or the name of a writer, such as `server`. But for scores, 200 pairs are asked in both orders."
        ),
    ] = None
    rubric: Annotated[
        str | None,
        Meta(description="A file that says what a judging writer should judge by, from the brief's folder on."),
    ] = None


class JudgeSection(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model that judges, where `[taste] judge` names a writer. Without a `url`, the server and the model are those
    of `[writer]`."""

    url: Annotated[str | None, Meta(description="The address of the server that judges.")] = None
    api: Annotated[
        Literal["auto", "chat", "completions", "messages"], Meta(description="What the server speaks, as for a writer.")
    ] = "auto"
    model: Annotated[str | None, Meta(description="The model. Without it, the only one that the server lists.")] = None
    max_tokens: Annotated[
        int, Meta(ge=1, le=1_000_000, description="The most tokens of one verdict, with any reasoning before it.")
    ] = 1_024
    temperature: Annotated[Annotated[float, Meta(ge=0, le=2)] | None, Meta(description="How freely it draws.")] = 0.0
    system: Annotated[str | None, Meta(description="What the model is told before the texts.")] = None
    extra: Annotated[dict[str, object] | None, Meta(description="What else goes into each request as it is.")] = None
    key_from: Annotated[
        str | None, Meta(description="The name of the environment variable that holds the key; never the key.")
    ] = None
