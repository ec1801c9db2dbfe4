"""A measurement of a server as one HTML page with nothing to fetch: the figures, their doubts, two pictures."""

import jinja2
from markupsafe import Markup

from tamis import __version__
from tamis.speed.meter import Speeds
from tamis.speed.pictures import first_token_picture, loads_picture
from tamis.speed.told import NAMES, beside, figures, interval_of, value_of


def speed_page(speeds: Speeds) -> str:
    """The page's text."""
    points = speeds.together.points if speeds.together else []
    reads = speeds.reads if speeds.reads and speeds.reads.points else None
    return (
        _environment()
        .get_template("speed.html.j2")
        .render(
            speeds=speeds,
            figures=[(NAMES[key], f, value_of(f), interval_of(f)) for key, f in figures(speeds).items()],
            loads=Markup(loads_picture(points)) if points else None,
            first_token=Markup(first_token_picture(reads)) if reads else None,
            beside=list(beside(speeds)),
            version=__version__,
        )
    )


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("tamis.report"), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip
