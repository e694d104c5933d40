"""A made-up result, in which everything occurs that a page has to show."""

from pathlib import Path

from shoal.reproduction.base import Claim, Figure, Findings, Line, Reproduction

X = (1024.0, 2048.0, 10240.0)
FOUND = Reproduction(
    name="classfly-plus",
    title="A method: <what> it is about",
    source="Somebody, 2005",
    data="A made-up table like Adult, 45,222 rows, seed 0",
    quick=True,
    seconds=41.2,
    made="2026-02-03",
    machine="A processor, 2 cores, Linux x86_64",
    versions={"shoal": "0.1.0", "python": "3.13.1"},
    result=Findings(
        claims=(
            Claim("The first loses least.", "holds", "0.1 beside 0.2", "12.5 % less."),
            Claim(
                "The second is far faster than all the others wherever the table is large.",
                "does not hold",
                "at 2 of 10 sizes; it takes 3.1 times as long as the first on most of the tables",
                "It is slower.",
            ),
            Claim("The third uses <no> memory.", "cannot tell", "nothing", "Nothing measures it."),
            Claim("The fourth is best.", "depends", "0.1 to 0.3", "It holds with ranges alone."),
        ),
        figures=(
            Figure(
                "loss",
                "Loss against rows",
                "Fig. 3 (a) of the paper",
                "rows",
                "loss",
                (
                    Line("first", X, (0.1, 0.25, 0.5)),
                    Line("second", X, (0.2, None, 0.00001)),
                    Line("twin", X, (0.1, 0.25, 0.5)),
                    Line("short", (2048.0,), (0.3,)),
                ),
            ),
            Figure(
                "time",
                "Time against rows",
                "Fig. 4",
                "rows",
                "milliseconds",
                (Line("first", X, (1.0, 20.5, 12345.6)), Line("second", X, (2.0, None, 4.0))),
                kind="bars",
            ),
            Figure(
                "groups",
                "Groups against k",
                "Not in the paper",
                "k",
                "groups",
                (Line("only", (2.0, 5.0), (5000.0, 20.0)),),
                log=True,
            ),
        ),
        notes=("The table is ours.",),
    ),
)
FOLDER = Path("out")
