"""Charts as SVG, in one style, which follow the light or dark colours of the page."""

import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, GRID, PAPER = "#1b1f24", "#59636e", "#d8dee4", "#fffffe"
"""Text, secondary text, grid lines and background."""
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b4c9a", "#8a8f98")
"""Colours that colour-blind readers can tell apart (Okabe and Ito, 2008, and two more); in a page
`style.css` gives each a lighter twin for dark screens."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""Shapes beside the colours: no chart depends on colour alone."""
FAINT = 0.25
"""The opacity of an area behind others."""
LEGEND_ROW = 0.25
"""Inches that a row of a legend takes."""

_VARIABLES = {INK: "ink", SOFT: "soft", GRID: "grid", PAPER: "paper"} | {
    colour: f"series-{i}" for i, colour in enumerate(SERIES, 1)
}
_FONT = "'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif"
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar sign in a column's name is a dollar sign
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and copied
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": PAPER,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
}


@contextmanager
def chart(
    width: float = 5.8, height: float = 3.4, **subplots: Any
) -> Iterator[tuple["Figure", Any]]:
    """A figure of some inches and its axes, to be drawn on inside the `with` block.

    `subplots` are passed on to `Figure.subplots`; without them there is one pair of axes. Nothing
    is drawn over the edge: the layout leaves room for every label.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes: Axes | Any = figure.subplots(**subplots)
        yield figure, axes


def legend_below(figure: "Figure") -> None:
    """All labelled lines, under the axes, where they cover nothing and a narrow screen shows them.

    The figure grows by as much as the legend takes.
    """
    labels = [label for axes in figure.axes for label in axes.get_legend_handles_labels()[1]]
    rows = sum(
        1 + max(two.count("\n") for two in labels[i : i + 2]) for i in range(0, len(labels), 2)
    )
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * rows)
    figure.legend(loc="outside lower center", ncols=2, labelspacing=0.8)


def percent_ticks(axis: Any, at_most: int) -> None:
    """Label the shares along an axis as per cent, with at most so many ticks."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis.set_major_locator(MaxNLocator(at_most, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda share, _: f"{share * 100:g} %"))


def inline(
    figure: "Figure", name: str, title: str, description: str, drawn: str | None = None
) -> str:
    """The figure as an SVG element for a page, with a title and a description for screen readers.

    name: unique on the page. drawn: the result of `svg`, where it exists already: drawing takes time.
    """
    drawn = svg(figure, name) if drawn is None else drawn
    drawn = _small(drawn[drawn.index("<svg") :])
    drawn = re.sub("<[^>]*>", lambda tag: _of_the_page(tag[0], name), drawn)
    head = re.match(r"<svg[^>]*>", drawn)
    assert head is not None
    box = re.search(r'viewBox="[^"]*"', head[0])
    assert box is not None
    width = round(figure.get_figwidth() * 110)
    labels = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    start = (
        f'<svg class="chart" role="img" aria-label="{escape(title)}" data-chart="{escape(name)}" '
        f'{box[0]} style="max-width: {width}px; font-family: {_FONT}; stroke-linejoin: round" '
        'xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">{labels}'
    )
    return start + drawn[head.end() :]


def _of_the_page(tag: str, name: str) -> str:
    """A tag in the page's colours, with ids that are unique on the page."""
    for colour, variable in _VARIABLES.items():
        tag = re.sub(colour, f"var(--{variable})", tag, flags=re.I)
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", tag)


def _small(drawn: str) -> str:
    """The same picture in about half the text, without rules for the rest of the page."""
    drawn = re.sub(r"<!--.*?-->", "", drawn, flags=re.S)
    # a rule for every element would hold for the whole page around it
    drawn = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", drawn, flags=re.S)
    drawn = re.sub(r"<[^>]*>", lambda tag: _small_tag(tag[0]), drawn)
    return re.sub(r">\s*\n\s*<", "><", drawn)


def _small_tag(tag: str) -> str:
    tag = re.sub(r'<g id="[\w.]+">', "<g>", tag)
    tag = re.sub(r" font-family: [^;\"]*;", "", tag)
    tag = re.sub(r' transform="rotate\(-?0 [^)]*\)"', "", tag)
    tag = re.sub(r"(\.\d\d)\d+", r"\1", tag)
    return re.sub(r"\s*\n\s*", " ", tag)


def svg(figure: "Figure", name: str) -> str:
    """The text of an SVG file; the same figure gives the same text. It is drawn once, where `savefig`
    would draw it twice."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text = io.StringIO()
    with matplotlib.rc_context(_STYLE | {"svg.hashsalt": name}), warnings.catch_warnings():
        # the reader's browser has the letters that the font here may lack
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        canvas = FigureCanvasSVG(figure)
        canvas.print_svg(text, metadata=nothing)  # type: ignore[no-untyped-call]
    found = re.sub(r"<metadata>.*?</metadata>\s*", "", text.getvalue(), flags=re.S)
    return re.sub(r"font-family: 'DejaVu Sans'[^;\"]*", f"font-family: {_FONT}", found)
