"""The population behind a release, in the report: what sampling weights suggest, before and after."""

from dataclasses import dataclass
from typing import Any

from shoal.report.formatting import chance, percent


@dataclass(frozen=True)
class WeightsView:
    """What the section about the population shows."""

    column: str
    population: str
    """People that the release stands for."""
    rows: tuple[tuple[str, str, str], ...]
    """A question, and the answers before and after."""
    losses: tuple[tuple[str, str, str], ...]
    """A loss, by rows and by the people that they stand for."""
    rounded: bool
    """Whether the weights are withheld, and the figures are bounds and rounded sums."""


def weights_view(certificate: dict[str, Any]) -> WeightsView | None:
    """The section about the population; None where the policy has no weights."""
    found = certificate.get("weighted")
    if not found:
        return None
    before, after = found["before"], found["after"]
    figures = [_figures(one) for one in (before, after or before)]
    metrics, out = certificate["cost"]["metrics"], certificate["suppression"]
    losses = [
        ("Suppressed", percent(out["share"]), metrics.get("weighted-suppression")),
        ("Mean NCP", _share(metrics.get("mean-ncp")), metrics.get("weighted-mean-ncp")),
    ]
    return WeightsView(
        found["column"],
        f"{(after or before)['population']:,.0f}",
        tuple(
            (question, figures[0][question], figures[1][question] if after else "as before")
            for question in figures[0]
        ),
        tuple((name, rows, _share(people)) for name, rows, people in losses),
        before["rounded"],
    )


def _share(figure: float | None) -> str:
    return "not measured" if figure is None else percent(figure)


def _figures(risk: dict[str, Any]) -> dict[str, str]:
    """The figures of an estimated risk, by question."""
    about, least, most = ("about ", "at least ", "at most ") if risk["rounded"] else ("", "", "")
    return {
        "People of the population that the rows stand for": f"{about}{risk['population']:,.0f}",
        "The fewest of them behind one class": f"{least}{risk['smallest_class']:,.1f}",
        "The highest individual risk": f"{most}{chance(risk['highest'])}",
        "Matches to expect of somebody who tries everybody": f"{about}{risk['expected']:,.2f}",
        "The same as a share of the sample": percent(risk["share"]),
        f"People with a risk above {percent(risk['threshold'])}": percent(risk["above"]),
    }
