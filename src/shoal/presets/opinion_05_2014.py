"""Opinion 05/2014 on anonymisation techniques: singling out, linkability and inference.

The opinion asks three questions and sets no figures. Here stands the least that an answer takes; how
far a release goes beyond it is measured (`shoal criteria`) and left to people.
"""

from collections.abc import Iterator
from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.models.base import Model
from shoal.models.k import K
from shoal.presets.base import DeclaredPolicy, Preset, Refusal, Source


@dataclass(frozen=True)
class Opinion052014(Preset):
    """Nobody alone, no pseudonyms, no sensitive column unprotected: the least for anonymous data.

    What the European data protection authorities ask of anonymised data. Certificate and report have
    the measured figures of all three questions, each with what it does not show.
    """

    name: ClassVar[str] = "opinion-05-2014"
    title: ClassVar[str] = "Anonymisation in the European Union (opinion 05/2014)"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "Article 29 Data Protection Working Party, Opinion 05/2014 on anonymisation techniques "
            "(WP 216)",
            "sections 2.2 and 3",
            2014,
        ),
    )
    asks: ClassVar[tuple[str, ...]] = (
        "Singling out: nobody is alone by the quasi-identifiers (k = 2 at least; the opinion sets no "
        "figure).",
        "Linkability: no column is published as pseudonyms, which link the rows of a person.",
        "Inference: every sensitive column has a constraint that promises something, such as l = 2 or "
        "t = 0.3.",
    )
    judged_by_people: ClassVar[tuple[str, ...]] = (
        "The measured figures of singling out, linkability and inference are low enough for what the "
        "release is for and who may have it.",
        "All means that others are reasonably likely to use were considered, other tables and later "
        "techniques included.",
        "Every column by which others may recognise a person has the role quasi.",
        "The original table is deleted, or kept apart so that nobody who has the release can use it.",
        "The risk will be looked at again while the release is in use.",
    )

    def constraints(self) -> tuple[Model, ...]:
        """Nobody is alone."""
        return (K(2),)

    def refusals(self, policy: DeclaredPolicy) -> Iterator[Refusal]:
        """Pseudonyms, and sensitive columns that no constraint protects."""
        protected = {model.column for model in policy.constraints if not model.promises_nothing}
        vacuous = {model.column: model for model in policy.constraints if model.promises_nothing}
        for name, column in policy.columns.items():
            if column.role == "pseudonym":
                yield Refusal(
                    ("columns", name),
                    f"pseudonyms link the rows of a person, which the preset {self.name} does not "
                    "allow; write identifier, or person to count people",
                )
            if column.role == "sensitive" and name not in protected:
                found = vacuous.get(name)
                none = (
                    "" if found is None else f" ({found.name}: {found.figure:g} promises nothing)"
                )
                yield Refusal(
                    ("columns", name),
                    f"no constraint protects this sensitive column{none}, which the preset {self.name} "
                    f"asks for; add one, as in {{l: 2, of: {name}}}, or {{t: 0.3, of: {name}, distance: "
                    "ordered} if it has more than 20 different numbers",
                )
