"""Minimum cell sizes: every combination of quasi-identifiers has at least so many people.

A cell size of n is k-anonymity with k = n on all quasi-identifiers: whoever knows them finds n people
or more, and picks the right one with a chance of at most 1/n.
"""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.models.base import Model
from shoal.models.k import K
from shoal.presets.base import Preset, Source

GUIDE = Source(
    "El Emam and Malin, Concepts and methods for de-identifying clinical trial data, in: Institute of "
    "Medicine, Sharing Clinical Trial Data",
    "appendix B",
    2015,
)
GLOSSARY = Source(
    "UNECE and Eurostat, Glossary on Statistical Disclosure Control", "threshold rule", 2005
)
JUDGED = (
    "Every column by which others may recognise a person has the role quasi.",
    "Tables, totals and percentages that are published elsewhere do not give small cells away by "
    "subtraction.",
    "Earlier and later releases of the same people do not give small cells away by comparison.",
)


class _CellSize(Preset):
    """A minimum cell size."""

    size: ClassVar[int]
    judged_by_people: ClassVar[tuple[str, ...]] = JUDGED

    def constraints(self) -> tuple[Model, ...]:
        """k-anonymity on all quasi-identifiers."""
        return (K(self.size),)


def asks_for(size: int) -> tuple[str, ...]:
    """What a cell size requires, as sentences."""
    return (
        f"At least {size} people share every published combination of quasi-identifiers (k = {size}), "
        f"so the chance to find the right one is at most {1 / size:.2g}.",
    )


@dataclass(frozen=True)
class CellSize3(_CellSize):
    """Cells of at least 3 people: a risk of at most 0.33.

    The smallest size in use: in a cell of two, each of the two knows the other. For recipients who are
    trusted and bound by contract.
    """

    name: ClassVar[str] = "cell-size-3"
    title: ClassVar[str] = "Cells of at least 3 people"
    size: ClassVar[int] = 3
    sources: ClassVar[tuple[Source, ...]] = (GLOSSARY, GUIDE)
    asks: ClassVar[tuple[str, ...]] = asks_for(3)


@dataclass(frozen=True)
class CellSize5(_CellSize):
    """Cells of at least 5 people: a risk of at most 0.2.

    The most common size for data that are shared under an agreement.
    """

    name: ClassVar[str] = "cell-size-5"
    title: ClassVar[str] = "Cells of at least 5 people"
    size: ClassVar[int] = 5
    sources: ClassVar[tuple[Source, ...]] = (GLOSSARY, GUIDE)
    asks: ClassVar[tuple[str, ...]] = asks_for(5)


@dataclass(frozen=True)
class CellSize10(_CellSize):
    """Cells of at least 10 people: a risk of at most 0.1.

    The rule of thumb of research data centres in Europe for the output of researchers.
    """

    name: ClassVar[str] = "cell-size-10"
    title: ClassVar[str] = "Cells of at least 10 people (research data centres)"
    size: ClassVar[int] = 10
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "Brandt and others, Guidelines for the checking of output based on microdata research, "
            "ESSnet SDC",
            "rule of thumb for frequency tables",
            2010,
        ),
    )
    asks: ClassVar[tuple[str, ...]] = asks_for(10)


@dataclass(frozen=True)
class CellSize11(_CellSize):
    """Cells of at least 11 people: a risk of at most 0.091.

    What the US Centers for Medicare & Medicaid Services (CMS) ask of published figures: no cell from 1
    to 10, and none that can be derived.
    """

    name: ClassVar[str] = "cell-size-11"
    title: ClassVar[str] = "Cells of at least 11 people (CMS)"
    size: ClassVar[int] = 11
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "Centers for Medicare & Medicaid Services, CMS Cell Size Suppression Policy", "", 2020
        ),
        GUIDE,
    )
    asks: ClassVar[tuple[str, ...]] = asks_for(11)
    judged_by_people: ClassVar[tuple[str, ...]] = (
        *JUDGED,
        "No text beside the release names a count from 1 to 10, suppressed and excluded rows included.",
    )


@dataclass(frozen=True)
class CellSize20(_CellSize):
    """Cells of at least 20 people: a risk of at most 0.05.

    The largest size in common use, for public files about what is highly sensitive.
    """

    name: ClassVar[str] = "cell-size-20"
    title: ClassVar[str] = "Cells of at least 20 people"
    size: ClassVar[int] = 20
    sources: ClassVar[tuple[Source, ...]] = (GUIDE,)
    asks: ClassVar[tuple[str, ...]] = asks_for(20)


@dataclass(frozen=True)
class NhsHes(_CellSize):
    """Cells of at least 8 people, as in English hospital statistics below national level.

    Published tables of Hospital Episode Statistics show no count from 1 to 7 for areas and providers.
    """

    name: ClassVar[str] = "nhs-hes"
    title: ClassVar[str] = "Cells of at least 8 people (NHS England, hospital statistics)"
    size: ClassVar[int] = 8
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "NHS Digital, Disclosure control methodology for Hospital Episode Statistics and Emergency "
            "Care Data Set",
            "counts below national level",
            2018,
        ),
    )
    asks: ClassVar[tuple[str, ...]] = asks_for(8)
    judged_by_people: ClassVar[tuple[str, ...]] = (
        *JUDGED,
        "Counts made from the release are rounded to multiples of 5 before they are published as "
        "tables.",
    )
