"""The experiments of the paper on personalised (α,l)-diversity: loss, recognition rate and time."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.reproduction.base import Figure, Line, Progress, Result

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.reproduction._personalised_runs import Found, Sizes


class Personalised:
    """Three models, one search: k-anonymity, (α,l)-diversity, and people's own wishes on top."""

    title = "Personalised (α,l)-diversity k-anonymity"
    source = (
        "Cao, Zhang, Bi and Zhao, “Personalized (α,l)-diversity k-anonymity model for privacy "
        "preservation”, Computer Science 45(11), 2018"
    )
    uses_adult = True
    minutes = 10.0

    def __init__(self, sizes: "Sizes | None" = None) -> None:
        self.sizes = sizes

    def run(self, adult: "pa.Table | None", quick: bool, progress: Progress) -> Result:
        """Run the paper's experiments; `quick` on less, for about a minute."""
        from shoal.reproduction._adult import TRAINING_ROWS
        from shoal.reproduction._personalised_claims import claims
        from shoal.reproduction._personalised_runs import QUICK, Sizes, measure

        assert adult is not None
        table = adult.slice(0, TRAINING_ROWS)  # where both parts are there, the first, as the paper
        asked = self.sizes or (QUICK if quick else Sizes())
        there = min(table.num_rows, asked.rows)
        growing = tuple(n for n in asked.growing if n <= table.num_rows) or (there,)
        found = measure(table, replace(asked, rows=there, growing=growing), progress)
        return Result(claims(found), _figures(found), _notes(found))


def _figures(found: "Found") -> tuple[Figure, ...]:
    from shoal.reproduction._personalised_runs import NAMES

    sizes = found.sizes

    def lines(x: Sequence[float], which: str, what: str) -> tuple[Line, ...]:
        return tuple(
            Line(
                label,
                tuple(x),
                tuple(float(getattr(point, what)) for point in getattr(found, which)(model)),
            )
            for model, label in NAMES.items()
        )

    result = []
    for number, (what, name, label) in enumerate(
        (
            ("loss", "Loss", "NCP of the table"),
            ("rate", "Recognition rate", "average recognition rate"),
            ("seconds", "Time", "seconds"),
        )
    ):
        slug = name.lower().replace(" ", "-")
        result += [
            Figure(
                f"{slug}-by-k",
                f"{name} against k",
                f"Fig. {2 * number + 2}: {sizes.rows:,} rows",
                "k",
                label,
                lines(sizes.k, "along_k", what),
            ),
            Figure(
                f"{slug}-by-rows",
                f"{name} against rows",
                f"Fig. {2 * number + 3}: k = {sizes.growing_k}",
                "rows",
                label,
                lines(sizes.growing, "along_rows", what),
            ),
        ]
    return tuple(result)


def _notes(found: "Found") -> tuple[str, ...]:
    most = max(point.suppressed for point in (found.by_k | found.by_rows).values())
    return (
        f"Every figure is the mean of {found.sizes.repeats} runs, each with its own rows, diseases, "
        "wishes and seed; l = 4 and α = 0.8. The paper had 30,169 rows.",
        "All three models group with “top-down”; ages become ranges, all else climbs trees of our own "
        "with the heights of the paper's Table 8.",
        f"Rows that fit nowhere are withheld: at most {most:.3g} on average. NCP counts them in full.",
        "Time is that of the processor, over all threads, for grouping and publishing (where the "
        "personal rule is applied), after compiling.",
    )
