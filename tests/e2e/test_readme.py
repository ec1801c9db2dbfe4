"""What the README says is true: its commands exist, and what it shows is what is printed."""

import re
import shutil
from pathlib import Path

from .conftest import LENDING, Tamis

README = Path(__file__).parents[2] / "README.md"


def test_every_command_that_the_readme_names_exists(tamis: Tamis) -> None:
    named = set(re.findall(r"\btamis ([a-z]+)\b", " ".join(re.findall(r"`[^`]*`|^    .*$", README.read_text(), re.M))))
    assert {"run", "demo", "new", "check", "show", "time", "plan", "doctor"} <= named
    known = tamis("--help").stdout
    for command in named:
        assert re.search(rf"^\W*{command}\b", known, re.M), command


def test_every_option_that_the_readme_names_exists(tamis: Tamis) -> None:
    for command, option in re.findall(r"`tamis ([a-z]+) [^`]*?(--[a-z-]+)", README.read_text()):
        assert option in tamis(command, "--help").stdout, (command, option)


def test_what_the_readme_shows_of_the_demo_is_what_is_printed(tamis: Tamis, tmp_path: Path) -> None:
    shown = re.search(r"^    The lending desk.*?^(?!    )", README.read_text(), re.M | re.S)
    assert shown
    lines = [line.strip() for line in shown[0].strip().splitlines()]
    folder = tmp_path / "lending"
    shutil.copytree(LENDING, folder)
    tamis("check", folder)
    printed = [line.strip() for line in tamis("show", folder).stdout.splitlines()]
    for line in lines:
        if line.startswith(("The lending desk", "distinct", "parse", "given tests")):
            assert line in printed


def test_links_in_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README.read_text()):
        assert (README.parent / target).exists(), target


def test_a_new_brief_runs_as_it_is(tamis: Tamis) -> None:
    for desk, codes in (("software", {0, 3}), ("prose", {0, 3}), ("lab", {0, 3})):
        assert tamis("new", desk, "--desk", desk).returncode == 0
        ran = tamis("run", desk, "--owner", "none")
        assert ran.returncode in codes, ran.stderr
        assert "Traceback" not in ran.stderr
