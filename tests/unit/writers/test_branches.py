"""Branches of a git repository as drafts, also of a repository that means ill."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tamis.brief import load_brief
from tamis.errors import DraftsError, UsageError
from tamis.writers.base import Written
from tamis.writers.branches import Branches, branches_of
from tamis.writers.files import FilesWriter

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(repository: Path, *words: str) -> str:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    ended = subprocess.run(
        ["git", "-C", str(repository), *words], env=settings | who, capture_output=True, text=True, check=True
    )
    return ended.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A main branch that went on, and two that left it earlier."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, "lending.py", "x = 0\n")
    for number in (1, 2):
        git(path, "checkout", "-q", "-b", f"agent/{number}", "main")
        commit(path, "lending.py", f"x = {number}\n")
    git(path, "checkout", "-q", "main")
    commit(path, "other.py", "later = True\n")
    return path


def commit(repository: Path, name: str, content: str) -> None:
    (repository / name).write_text(content)
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", name)


def drafts_of(folder: Path, source: str, toml: str = "") -> list[Written]:
    (folder / "BRIEF.md").write_text("# A brief\n")
    (folder / "tamis.toml").write_text(f'[brief]\ndesk = "software"\n[drafts]\nfrom = "{source}"\n{toml}')

    async def collect() -> list[Written]:
        brief = load_brief(folder)
        return [draft async for draft in FilesWriter(brief).write(brief)]

    return asyncio.run(collect())


def test_each_branch_is_the_patch_from_where_it_left(tmp_path: Path, repository: Path) -> None:
    one, two = drafts_of(tmp_path, "git:repo")
    assert [one.name, two.name] == ["agent/1.patch", "agent/2.patch"]
    assert b"-x = 0\n+x = 1\n" in one.content
    assert b"other.py" not in one.content  # what came to main later is none of its doing
    git(repository, "checkout", "-q", "agent/1~1")
    (tmp_path / "one.patch").write_bytes(one.content)
    git(repository, "apply", str(tmp_path / "one.patch"))
    assert (repository / "lending.py").read_text() == "x = 1\n"


def test_a_pattern_and_a_base_say_which_branches(tmp_path: Path, repository: Path) -> None:
    git(repository, "checkout", "-q", "agent/1")
    assert [draft.name for draft in drafts_of(tmp_path, "git:repo#main..agent/*")] == ["agent/1.patch", "agent/2.patch"]
    assert [draft.name for draft in drafts_of(tmp_path, "git:repo#main..*/2")] == ["agent/2.patch"]


def test_branches_of_a_remote_count_where_there_are_no_own(tmp_path: Path, repository: Path) -> None:
    subprocess.run(["git", "clone", "-q", str(repository), str(tmp_path / "clone")], check=True, capture_output=True)
    names = [draft.name for draft in drafts_of(tmp_path, "git:clone#main..origin/agent/*")]
    assert names == ["origin/agent/1.patch", "origin/agent/2.patch"]


def test_a_branch_that_is_no_draft_is_told_and_the_others_go_on(tmp_path: Path, repository: Path) -> None:
    git(repository, "branch", "agent/0", "main")
    git(repository, "checkout", "-q", "--orphan", "agent/3")
    commit(repository, "lending.py", "x = 3\n")
    git(repository, "checkout", "-q", "main")
    commit(repository, "big", "x" * 5_000)
    git(repository, "checkout", "-q", "-b", "agent/4")
    commit(repository, "bigger", "".join(f"{number}\n" for number in range(5_000)))
    git(repository, "checkout", "-q", "main")
    drafts = drafts_of(tmp_path, "git:repo#main..agent/*", "max_mb = 0.01\n")
    assert {draft.name: draft.problem for draft in drafts} == {
        "agent/0.patch": "changes nothing: it is where it left main",
        "agent/1.patch": None,
        "agent/2.patch": None,
        "agent/3.patch": "has no commit in common with main",
        "agent/4.patch": "is larger than 0.01 MB; [drafts] max_mb in tamis.toml is the limit",
    }


def test_binary_files_and_odd_names_are_in_the_patch(tmp_path: Path, repository: Path) -> None:
    git(repository, "checkout", "-q", "agent/1")
    (repository / "a\tb \u00e9.bin").write_bytes(bytes(range(256)))
    commit(repository, "empty", "")
    one, _ = drafts_of(tmp_path, "git:repo#main..agent/*")
    assert b"GIT binary patch" in one.content
    assert one.problem is None


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("git:nowhere", "there is no repository"),
        ("git:empty", "is no git repository"),
        ("git:repo#nobody..*", "has no commit 'nobody'"),
        ("git:repo#--output=x..*", "has no commit '--output=x'"),
        ("git:repo#main..zzz*", "no branch of .* matches 'zzz"),
    ],
)
def test_a_repository_that_is_not_there_is_an_error(tmp_path: Path, repository: Path, source: str, said: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DraftsError, match=said):
        drafts_of(tmp_path, source)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("source", "means"),
    [
        ("git:a/b", Branches(path="a/b")),
        ("git:a#x/*", Branches(path="a", pattern="x/*")),
        ("git:a#main..x/*", Branches(path="a", base="main", pattern="x/*")),
        ("git:a#main..", Branches(path="a", base="main")),
    ],
)
def test_a_source_says_what_it_means(source: str, means: Branches) -> None:
    assert branches_of(source) == means
    with pytest.raises(UsageError):
        branches_of("git:")


def test_a_hostile_repository_runs_nothing(tmp_path: Path, repository: Path) -> None:
    proof = tmp_path / "it-ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    script.chmod(0o755)
    git(repository, "checkout", "-q", "agent/1")
    commit(repository, ".gitattributes", "* diff=evil filter=evil merge=evil\n")
    for key in (
        *("core.pager", "core.editor", "core.fsmonitor", "core.sshCommand", "core.askPass", "core.gitProxy"),
        *("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "filter.evil.smudge"),
        *("filter.evil.process", "pager.diff-tree", "pager.rev-parse", "pager.for-each-ref", "gpg.program"),
        *("credential.helper", "remote.origin.uploadpack", "uploadpack.packObjectsHook", "core.alternateRefsCommand"),
        *("interactive.diffFilter", "sequence.editor", "trailer.x.command", "alias.diff-tree", "alias.merge-base"),
    ):
        git(repository, "config", key, str(script))
    for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        shutil.copy(script, repository / ".git" / "hooks" / hook)
    git(repository, "diff", "main", "agent/1")
    assert proof.exists()  # it is hostile indeed: a plain diff runs what it names
    proof.unlink()
    drafts = drafts_of(tmp_path, "git:repo#main..*")
    assert [draft.problem for draft in drafts] == [None, None]
    assert not proof.exists()


def test_objects_that_are_missing_are_not_fetched(tmp_path: Path, repository: Path) -> None:
    proof = tmp_path / "it-ran"
    blob = git(repository, "rev-parse", "agent/1:lending.py")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for key, value in {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::sh -c touch% {proof}",
        "protocol.ext.allow": "always",
        "protocol.allow": "always",
    }.items():
        git(repository, "config", key, value)
    one, two = drafts_of(tmp_path, "git:repo#main..agent/*")
    assert one.fault == "person" and (one.problem or "").startswith("can't be read")
    assert two.problem is None
    assert not proof.exists()


def test_settings_of_the_environment_reach_no_git(
    tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = tmp_path / "it-ran"
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {proof};")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert len(drafts_of(tmp_path, "git:repo")) == 2
    assert not proof.exists()
