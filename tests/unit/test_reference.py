from pathlib import Path

from tamis.config import load_settings, sections
from tamis.reference import tamis_toml_page
from tamis.strict import keys

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "tamis-toml.md"


def test_the_page_of_tamis_toml_says_what_the_settings_say() -> None:
    assert PAGE.read_text() == tamis_toml_page(), "make it again: PAGE.write_text(tamis.reference.tamis_toml_page())"


def test_every_key_is_explained() -> None:
    page = tamis_toml_page()
    for section, kind in sections().items():
        assert f"## [{section}]" in page
        rows = page.split(f"## [{section}]")[1].split("##")[0]
        for key in keys(kind):
            (row,) = [line for line in rows.splitlines() if line.startswith(f"| `{key}` |")]
            assert len(row.split("|")[4].split()) >= 4


def test_the_page_s_example_is_valid() -> None:
    example = tamis_toml_page().split("```toml\n")[1].split("```")[0]
    assert load_settings(example) != load_settings("")
