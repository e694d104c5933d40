"""The notebook display of a release: its guarantees, its cost and one chart.

Its colours are those of the notebook, which may be light or dark: text takes the colour of the output
area, lines a paler shade of it, and bars two colours that are visible on any background. The style
applies to this output alone.
"""

from html import escape
from typing import TYPE_CHECKING
from zlib import crc32

from shoal.errors import counted
from shoal.report.formatting import figure, percent, shown

if TYPE_CHECKING:
    from shoal.release import Release
    from shoal.verification.check import Finding

MOST = 12
"""Columns in the chart, guarantees and warnings: a cell of a notebook is small."""
STYLE = """
.shoal-release { --ink: currentColor; --soft: color-mix(in srgb, currentColor 72%, transparent);
  --grid: color-mix(in srgb, currentColor 20%, transparent); --paper: transparent;
  --series-1: #2f8fc9; --series-8: #808890; max-width: 46rem; line-height: 1.5; }
.shoal-release p, .shoal-release ul { margin: 0.3em 0; padding: 0; }
.shoal-release ul { list-style: none; }
.shoal-release li { margin: 0.1em 0; padding: 0; overflow-wrap: anywhere; }
.shoal-release .shoal-soft { color: var(--soft); }
.shoal-release .shoal-warn { border-left: 4px solid #c98a00; padding-left: 0.6em; }
.shoal-release svg { display: block; width: 100%; height: auto; margin: 0.4em 0;
  max-width: 27em !important; }
"""


def notebook(release: "Release") -> str:
    """The HTML of a notebook's output."""
    held = "Verified" if release.verified else "Not verified"
    parts = [
        f"<p><strong>{held}:</strong> {_rows(release)}</p>",
        f"<ul>{''.join(map(_finding, release.findings[:MOST]))}</ul>",
        f"<p>{escape(_cost(release))}</p>",
        _chart(release),
        *(_warning(text) for text in release.warnings[:MOST]),
        f'<p class="shoal-soft">{escape(release.method)}. '
        "<code>release.report('report.html')</code> writes the whole report.</p>",
    ]
    return f'<div class="shoal-release"><style>{STYLE}</style>{"".join(parts)}</div>'


def _rows(release: "Release") -> str:
    rows = f"{release.published_rows:,} of {counted(release.rows, 'row')}"
    if release.people is not None:
        people = counted(release.people, "person", "people")
        rows += f" ({release.published_people:,} of {people}, which were counted)"
    if release.policy.publish == "anatomy":
        return f"{rows} in {counted(release.groups, 'group')}, sensitive values apart"
    return f"{rows} in {counted(release.published_classes, 'class', 'classes')}"


def _finding(finding: "Finding") -> str:
    tick = "✔" if finding.holds else "✘"
    of = f" of {escape(shown(finding.of, 40))}" if finding.of else ""
    found = figure(finding.reached) if finding.classes else "none"
    words = f"<strong>{escape(finding.model)}</strong>{of}{escape(finding.details)}"
    return f"<li>{tick} {words}: asked {figure(finding.asked)}, found {found}</li>"


def _cost(release: "Release") -> str:
    gone = f"{counted(release.suppressed_rows, 'row')} suppressed"
    if release.largest_share:
        shares = ", ".join(
            f"{percent(share)} for {shown(name, 40)}"
            for name, share in release.largest_share.items()
        )
        return f"The best guess is right with a chance of up to {shares}; {gone}."
    return f"Of the cells in quasi columns {release.detail.words}; {gone}."


def _warning(text: str) -> str:
    return f'<p class="shoal-warn">{escape(shown(text, 400))}</p>'


def _chart(release: "Release") -> str:
    from shoal.drawing.page import can_draw

    exact = {name: one.exact for name, one in release.detail.columns.items()}
    if not exact or all(share == 1 for share in exact.values()):
        return ""
    if not can_draw():
        return "<p class=\"shoal-soft\">For charts: <code>pip install 'shoal[report]'</code></p>"
    from shoal.report.charts import shares

    least = set(sorted(exact, key=lambda name: exact[name])[:MOST])
    drawn = {name: share for name, share in exact.items() if name in least}
    title = "Cells that are still exact, per column"
    if len(drawn) < len(exact):
        title += f" (the {len(drawn)} of {len(exact)} with the fewest)"
    name = f"shoal-exact-{crc32(repr(drawn).encode()):x}"  # other releases have other ids
    caption = f'<p class="shoal-soft">{title}</p>'
    return caption + shares(name, drawn, release.detail.exact, title)
