"""Certificates written by hand, for pages of tables that would take long to make or are hard to find."""

from dataclasses import asdict
from typing import Any

from shoal.evidence.detail import Bin, ColumnDetail, Detail
from shoal.evidence.disclosure import Determined, Disclosure, PinningSet
from shoal.evidence.levels import ChosenLevel
from shoal.risk.criteria import Criteria, Inference, Inferred, Linkability, SinglingOut
from shoal.verification.presets import CheckedRule, PresetOutcome

ALL = ("age", "sex", "nationality", "zip")


def guarantee(model: str, asked: float, reached: float, **others: Any) -> dict[str, Any]:
    words = f"Every class holds {model} = {asked:g}."
    return {
        "model": model,
        "asked": asked,
        "reached": reached,
        "columns": list(ALL),
        "of": None,
        "classes": 852,
        "failing": 0,
        "smallest_failing": None,
        "rows": 10_000,
        "options": {},
        "holds": True,
        "words": words,
        "promises_nothing": False,
    } | others


def column(kind: str, loss: float | None, labels: list[str], levels: list[str]) -> dict[str, Any]:
    """Shares that fall from the first to the last."""
    whole = sum(range(1, len(labels) + 1)) or 1
    falling = [(len(labels) - i) / whole for i in range(len(labels))]
    parts = sum(range(1, len(levels) + 1)) or 1
    return {
        "kind": kind,
        "loss": loss,
        "distribution": [
            {"label": label, "before": share, "after": share * 0.8 + 0.2 / len(labels)}
            for label, share in zip(labels, falling, strict=True)
        ],
        "generality": [
            {"label": label, "share": (len(levels) - i) / parts} for i, label in enumerate(levels)
        ],
        "lumped": 2 if len(labels) > 3 else 0,
    }


def detail(exact: dict[str, float]) -> dict[str, Any]:
    """Columns of which the other half of what is not exact is in ranges, and one of many values."""
    columns = {
        name: ColumnDetail(
            1_000,
            (
                Bin("exact", "exact", round(1_000 * share)),
                Bin("range-5", "range up to 5 % of the column", round(500 * (1 - share))),
                Bin("one-of-many", "one of 10 or more values", round(500 * (1 - share))),
            ),
            labels=852,
            median_width=8,
            median_members=40,
        )
        for name, share in exact.items()
    }
    return Detail(columns).to_dict()


def sizes(*bins: tuple[int, int, int, int]) -> list[dict[str, int]]:
    return [dict(zip(("low", "high", "classes", "rows"), one, strict=True)) for one in bins]


def risk(rows: int, classes: int, unique: int, highest: float, above: float) -> dict[str, Any]:
    one = {"highest": highest, "average": classes / rows, "above": above}
    return {
        "rows": rows,
        "classes": classes,
        "unique_rows": unique,
        "unique_share": unique / rows,
        "threshold": 0.2,
        "prosecutor": one,
        "marketer": classes / rows,
    }


def disclosure(**found: Any) -> dict[str, Any]:
    return Disclosure(published=9_900, **found).to_dict()


def preset() -> dict[str, Any]:
    checks = (
        CheckedRule("k", "Every combination has at least 5 rows.", ALL, required=5, found=5),
        CheckedRule("dates", "Dates are published by their year, or more coarsely.", ALL),
    )
    sources = ("Office of Examples, Guide to cells, section 2 (2015)",)
    judged = ("Every column by which others may recognise a person has the role quasi.",)
    return PresetOutcome("cell-size-5", "Cells of 5", sources, checks, judged).to_dict()


def criteria() -> dict[str, Any]:
    return Criteria(
        "row",
        9_900,
        SinglingOut(0, 9_801, 9_880, 5, 5),
        Linkability(0.086, 0.99, 0.012, 1 / 9_900, ("token",)),
        Inference({"disease": Inferred(9_900, 120, 0, 8_000, 0.34, 0.51)}),
    ).to_dict()


def hospital(**changes: Any) -> dict[str, Any]:
    """A release as most are: k and l, a few columns, two warnings."""
    ages = ["under 20", "20 to 29", "30 to 39", "40 to 49", "50 to 59", "60 to 69", "70 and over"]
    ranges = ["as it was", "in a range of up to 5 % of all values", "in a range of up to 20 %"]
    made = {
        "certificate": 1,
        "shoal": "0.1.0",
        "made": "2026-11-16",
        "input": {
            "name": "hospital.csv",
            "rows": 10_000,
            "columns": ["name", *ALL, "disease"],
            "schema_digest": "5e" * 32,
        },
        "policy": {
            "digest": "d1" * 32,
            "data": {},
            "words": [
                "name is never published: it names people.",
                "age, sex, nationality and zip may be known to others: published as coarsely as needed.",
                "disease is what must not be learnt about a person.",
                "At least 5 rows share every combination of age, sex, nationality and zip.",
                "Among them are at least 3 different values of disease.",
            ],
        },
        "about": {
            "title": "Hospital discharges",
            "purpose": "Research on readmission",
            "recipient": "University hospital",
            "contact": "privacy@hospital.example",
        },
        "decisions": [
            {"column": "name", "role": "identifier", "why": None},
            {"column": "age", "role": "quasi", "why": "neighbours know it"},
            *({"column": one, "role": "quasi", "why": None} for one in ALL[1:]),
            {"column": "disease", "role": "sensitive", "why": None},
        ],
        "seal": "5a" * 32,
        "release": {
            "name": "hospital-release.csv",
            "rows": 9_900,
            "columns": [*ALL, "disease"],
            "digest": "9b" * 32,
            "sensitive_digests": {},
        },
        "method": {"name": "least-loss-partition", "options": {}},
        "seed_commitment": "c" * 64,
        "guarantees": [guarantee("k", 5, 5), guarantee("l", 3, 3, of="disease")],
        "presets": [preset()],
        "criteria": criteria(),
        "verified": True,
        "checked": ["The published rows were read again as a stranger would read them."],
        "risk": {
            "before": risk(10_000, 9_120, 8_440, 1.0, 0.97),
            "after": risk(9_900, 852, 0, 0.2, 0.0),
        },
        "disclosure": disclosure(
            alone=9_801,
            alone_with_sensitive=9_900,
            plain=("insurer", "ward", "weight"),
            sets=(PinningSet(("weight",), 700, 0.07), PinningSet(("ward", "weight"), 8_000, 0.81)),
            determined=(Determined("weight", "age", "ascending", "coarsened"),),
        ),
        "class_sizes": {
            "before": sizes((1, 1, 8_440, 8_440), (2, 4, 600, 1_350), (5, 9, 30, 210)),
            "after": sizes((5, 9, 500, 3_400), (10, 19, 250, 3_500), (20, 49, 102, 3_000)),
        },
        "groups": {"formed": 858, "published_classes": 852, "mean": 11.7, "largest": 368},
        "cost": {
            "mean_ncp": 0.199,
            "metrics": {"mean-ncp": 0.199, "dm": 2_906_384.0, "cm": None},
            "columns": {
                "age": column("ordered", 0.212, ages, ranges),
                "sex": column("unordered", 0.0, ["female", "male"], ["as it was"]),
                "nationality": column(
                    "unordered", 0.076, ["United States", "Mexico", "others"], ["as it was", "*"]
                ),
                "zip": column("hierarchy", 0.316, ["021**", "016**"], ["as it was", "at level 1"]),
                "disease": column("sensitive", None, ["Flu", "Asthma", "Cancer", "others"], []),
            },
        },
        "detail": detail({"age": 0.05, "sex": 1.0, "nationality": 0.6, "zip": 0.0}),
        "levels": {
            "zip": asdict(ChosenLevel(2, 5, "2 characters hidden", "02138", "021**")),
            "age": asdict(ChosenLevel(3, 3, "anything (*)")),
        },
        "people": None,
        "suppression": {
            "rows": 100,
            "share": 0.01,
            "limit": 0.05,
            "how": "withheld",
            "components": [],
        },
        "personal": {},
        "anatomy": None,
        "warnings": ["The plain column ward is nearly unique: 93.0 % of its values occur once."],
        "notes": ["Six groups were merged, since their labels are the same."],
        "sample": {
            "columns": [*ALL, "disease"],
            "rows": [
                ["[46~49]", "female", "{France, Italy}", "0213*", "Flu"],
                ["[46~49]", "female", None, "0213*", "Asthma"],
            ],
            "hidden": 1,
        },
        "seconds": {"read": 0.11, "group": 0.39, "verify": 0.04},
        "environment": {"python": "3.12.1", "numpy": "2.1.0"},
        "reproduce": [
            "Take the same table.",
            "$ shoal run TABLE policy.yaml -o release.csv --report report.html",
        ],
    }
    return made | changes


def many_columns(n: int = 14) -> dict[str, Any]:
    """More columns than anybody wants to scroll past, each with all a column can have."""
    labels = [f"{10 * i} to {10 * i + 9}" for i in range(14)]
    levels = ["as it was", *(f"at level {i}" for i in range(1, 6)), "anything (*)", "suppressed"]
    columns = {f"column {i}": column("ordered", i / n, labels, levels) for i in range(n)}
    made = hospital()
    found = [guarantee("k", 5, 7, columns=list(columns))]
    return made | {
        "guarantees": found,
        "decisions": [{"column": name, "role": "quasi", "why": "w" * 300} for name in columns],
        "cost": made["cost"] | {"columns": columns},
        "detail": detail({name: i / n for i, name in enumerate(columns)}),
    }


AWKWARD = (
    "<script>alert(1)</script>",
    "</style></svg><b>bold</b>",
    "price in $ and $",
    "とてもながいなまえのれつがここにあります、ながいのできらなければなりません",
    "עברית מימין לשמאל",
    "\u202eright to left",
    "line\nbreak\tand \x00 nothing",
    "emoji 👩‍👩‍👧‍👦 family",
    "a" * 300,
    "{{ 7 * 7 }}",
    'id="content" url(#x) "quoted" #0072b2',
    "",
)


def awkward() -> dict[str, Any]:
    """Names and values that break a careless page."""
    made = hospital()
    columns = {
        name: column("unordered", 0.5, list(AWKWARD), list(AWKWARD))
        if name in AWKWARD[:3]
        else column("hierarchy", 0.5, [], [])
        for name in AWKWARD
    }
    return made | {
        "cost": made["cost"] | {"columns": columns},
        "detail": detail(dict.fromkeys(AWKWARD, 0.5)),
        "about": dict.fromkeys(made["about"], AWKWARD[0]),
        "decisions": [{"column": one, "role": "plain", "why": one} for one in AWKWARD],
        "guarantees": [
            guarantee("l", 3, 3, of=AWKWARD[0], columns=list(AWKWARD), words=AWKWARD[8])
        ],
        "warnings": list(AWKWARD),
        "notes": list(AWKWARD),
        "sample": {"columns": list(AWKWARD), "rows": [list(AWKWARD)] * 3, "hidden": 0},
        "policy": made["policy"] | {"words": list(AWKWARD)},
    }


def bare() -> dict[str, Any]:
    """One class of everybody, nothing lost, nothing to show, nothing to say."""
    made = hospital()
    one = {"formed": 1, "published_classes": 1, "mean": 1000.0, "largest": 1000.0}
    whole = risk(1_000, 1, 0, 0.001, 0.0)
    single = sizes((1_000, 1_999, 1, 1_000))
    return made | {
        "guarantees": [guarantee("k", 1_000, 1_000, columns=[], rows=1_000, classes=1)],
        "risk": {"before": whole, "after": whole},
        "disclosure": disclosure(),
        "class_sizes": {"before": single, "after": single},
        "groups": one,
        "cost": {"mean_ncp": 0.0, "metrics": {}, "columns": {}},
        "detail": Detail().to_dict(),
        "levels": {},
        "suppression": made["suppression"] | {"rows": 0, "share": 0.0, "limit": None},
        "about": {},
        "decisions": [],
        "warnings": [],
        "notes": [],
        "sample": {"columns": [], "rows": [], "hidden": 0},
        "reproduce": [],
        "environment": {},
        "seconds": {},
    }


def apart() -> dict[str, Any]:
    """Anatomy, with several sensitive columns and everybody starred somewhere."""
    made = hospital()
    release = made["release"] | {"sensitive_digests": {"disease": "ab" * 32, "salary": "cd" * 32}}
    components = [{"columns": [name], "rows": 3} for name in ALL]
    return made | {
        "release": release,
        "anatomy": {"largest_share": {"disease": 0.34, "salary": 0.5}},
        "cost": made["cost"] | {"mean_ncp": None},
        "sample": made["sample"] | {"rows": [], "hidden": 0},
        "suppression": made["suppression"] | {"how": "starred", "components": components},
    }


def wished() -> dict[str, Any]:
    """People's own preferences, in two columns, one of which nobody cared about."""
    raised = {
        "raised_rows": 882,
        "levels": {"2": 269, "3": 613},
        "labels": [
            {"label": name, "level": 2, "rows": 154, "leaves": 4, "effective_leaves": 1}
            for name in ("respiratory infection", "…", AWKWARD[0])
        ],
        "diversity_before": 3,
        "diversity_after": 2,
        "recognition_rate": 0.29,
        "effective_recognition_rate": 0.31,
    }
    nobody = {
        "raised_rows": 0,
        "levels": {},
        "labels": [],
        "diversity_before": None,
        "diversity_after": None,
        "recognition_rate": None,
        "effective_recognition_rate": None,
    }
    return hospital(personal={"disease": raised, "salary": nobody})


def broken() -> dict[str, Any]:
    """What no run hands over, and a page must yet tell as it is."""
    found = [
        guarantee("k", 5, 2, holds=False, failing=3, smallest_failing=2),
        guarantee("t", 0.2, None, of="disease", classes=0, options={"distance": "ordered"}),  # type: ignore[arg-type]
    ]
    return hospital(guarantees=found, verified=False)


EVERY = {
    "hospital": hospital,
    "many columns": many_columns,
    "awkward": awkward,
    "bare": bare,
    "apart": apart,
    "wished": wished,
    "broken": broken,
}
