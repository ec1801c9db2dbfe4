"""One sitting: the texts that stand for themselves, what was said of them so far, and what is believed because of
it."""

import random
from collections.abc import Mapping

import numpy as np

from tamis.taste.bank import Bank
from tamis.taste.features import Features
from tamis.taste.memory import Answered, heards
from tamis.taste.next_pair import Ask, next_ask
from tamis.taste.readers import Screen
from tamis.taste.stopping import Shortlist, is_open, kinds_of, shortlist, unknown


class Sitting:
    """The texts that stand for themselves, what she has said of them, and what is believed."""

    def __init__(
        self,
        drafts: list[str],
        *,
        names: Mapping[str, str],
        texts: Mapping[str, str],
        behind: Mapping[str, str],
        features: Features,
        seed: int,
    ) -> None:
        self.drafts = drafts
        self._names = names
        self.reader: str | None = None
        self.past: list[Answered] = []
        self.n_informed = 0
        """Comparisons that said something, without those skipped."""
        self._texts = texts
        self._behind = behind
        self._variants: dict[str, list[str]] = {}
        for draft, keeper in behind.items():
            self._variants.setdefault(keeper, []).append(draft)
        self._features = features
        self._seed = seed
        self._place = {draft: place for place, draft in enumerate(drafts)}
        self._shown: list[tuple[int, ...]] = []
        self._bank = self._new_bank()

    def learn(self, one: Answered) -> None:
        """Takes in one answer. Texts folded since then count as the one that stands for them; texts that are gone make
        the answer say nothing."""
        self.past.append(one)
        standing = [self._behind.get(draft, draft) for draft in one.evidence.drafts]
        places = tuple(self._place[draft] for draft in standing if draft in self._place)
        if len(set(places)) < len(one.evidence.drafts):
            return
        self._shown.append(places)
        said = heards(one, places, has_bar=self._has_bar())
        for heard in said:
            self._bank.hear(heard)
        self.n_informed += bool(said)

    def forget_last(self) -> None:
        past = self.past[:-1]
        self.past, self._shown, self.n_informed, self._bank = [], [], 0, self._new_bank()
        for one in past:
            self.learn(one)

    def next_ask(self, top: int, n_options: int) -> Ask:
        return next_ask(self._bank, self._shown, top=top, rng=self._rng("ask"), n_options=n_options)

    def shortlist(self, top: int, per_kind: int = 0) -> Shortlist:
        """The best as believed. Before she said anything, in the judge's order where there is one."""
        judge = self._features.groups.get("judge")
        if not self.n_informed and judge is not None:
            order = np.argsort(-judge.mean(axis=1), kind="stable")[:top]
            return unknown(tuple(int(place) for place in order))
        kinds = kinds_of(self._features) if per_kind else None
        return shortlist(self._bank, top=top, rng=self._rng("shortlist"), kinds=kinds, per_kind=per_kind)

    def is_open(self, top: int, settled_share: float) -> bool:
        """Whether the shortlist is surely not settled; False says nothing."""
        top = min(top, len(self.drafts))
        return is_open(self._bank, top=top, settled_share=settled_share, rng=self._rng("open"))

    def screen(self, ask: Ask, budget: int) -> Screen:
        drafts = [self.drafts[place] for place in ask.shown]
        return Screen(
            texts=tuple(self._texts[draft] for draft in drafts),
            names=tuple(self._names[draft] for draft in drafts),
            answered=len(self.past),
            budget=budget,
            variants=tuple(len(self.variants(draft)) for draft in drafts),
        )

    def variants(self, draft: str) -> tuple[str, ...]:
        """The drafts folded behind this one."""
        return tuple(self._variants.get(draft, ()))

    @property
    def has_judge(self) -> bool:
        return "judge" in self._features.groups

    def _has_bar(self) -> bool:
        return any(one.said == "none good" for one in self.past)

    def _new_bank(self) -> Bank:
        return Bank(self._features)

    def _rng(self, what: str) -> np.random.Generator:
        """The same answers so far, the same draws."""
        return np.random.default_rng([self._seed, len(self.past), random.Random(what).getrandbits(32)])
