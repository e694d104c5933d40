"""The figures of the paper on the rounded partition."""

from shoal.reproduction._flexible_claims import bound
from shoal.reproduction._flexible_found import METHODS, OURS, RELAXED, Found
from shoal.reproduction.base import Figure, Line

PARTS = (
    ("dm", "a", "DM against k", "DM"),
    ("cm", "b", "CM against k", "CM"),
    ("groups", "c", "Groups against k", "groups"),
    ("seconds", "d", "Time against k", "seconds"),
)
LOGARITHMIC = {"groups", "seconds"}
"""What would hide most lines on an even axis."""


def figures(found: Found) -> tuple[Figure, ...]:
    """The four of the paper, and one of its bound."""
    ks = tuple(float(k) for k in found.ks)
    return (
        *(
            Figure(
                "time" if what == "seconds" else what,
                title,
                f"Fig. 5 ({letter})",
                "k",
                label,
                tuple(Line(name, ks, tuple(found.line(name, what))) for name in METHODS),
                log=what in LOGARITHMIC,
            )
            for what, letter, title, label in PARTS
        ),
        Figure(
            "largest-group",
            "The largest group against k, beside the bound",
            "Not in the paper, which proves the bound (Theorem 2)",
            "k",
            "rows",
            (
                *(Line(name, ks, tuple(found.line(name, "largest"))) for name in (OURS, RELAXED)),
                Line("Theorem 2's bound", ks, tuple(float(bound(found.rows, k)) for k in found.ks)),
                Line("2k − 1", ks, tuple(2 * k - 1 for k in ks)),
            ),
        ),
    )
