"""Public release of clinical trial data: a risk of re-identification of at most 0.09.

The highest risk of anybody is 1/k. 1/11 is 0.0909 and above the figure, so k is 12.
"""

from typing import ClassVar

from pydantic.dataclasses import dataclass

from shoal.models.base import Model
from shoal.models.k import K
from shoal.presets.base import Preset, Source

MAXIMUM_RISK = 0.09
SMALLEST_K = 12
"""The smallest k with 1/k of at most the risk."""
ASKS = (
    f"The highest risk of re-identification is at most {MAXIMUM_RISK}: at least {SMALLEST_K} people "
    f"share every published combination of quasi-identifiers (k = {SMALLEST_K}; 1/11 is 0.091).",
)
JUDGED = (
    "Every column by which others may recognise a trial participant has the role quasi, and rows of "
    "one participant have a column with the role person.",
    "The release holds no direct identifier, also none of staff of the sponsor or the sites.",
    "Texts such as narratives and comments are left out or were redacted by hand.",
    "Rare diseases, small trials and few sites call for more than the figure.",
    "The anonymisation report names the methods, the risk and what was lost of the data's use.",
)


class _PublicTrialData(Preset):
    """A risk of at most 0.09."""

    asks: ClassVar[tuple[str, ...]] = ASKS
    judged_by_people: ClassVar[tuple[str, ...]] = JUDGED

    def constraints(self) -> tuple[Model, ...]:
        """k-anonymity on all quasi-identifiers."""
        return (K(SMALLEST_K),)


@dataclass(frozen=True)
class Ema0070(_PublicTrialData):
    """A risk of at most 0.09, for the public release of clinical data in the European Union.

    Policy 0070 of the European Medicines Agency (EMA) accepts a release without singling out,
    linkability and inference, or one whose risk is measured and below a threshold, by default 0.09.
    """

    name: ClassVar[str] = "ema-0070"
    title: ClassVar[str] = "Clinical data in the European Union (EMA policy 0070)"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "European Medicines Agency, External guidance on the implementation of policy 0070",
            "chapter 3, anonymisation of clinical reports",
            2018,
        ),
    )


@dataclass(frozen=True)
class HealthCanada(_PublicTrialData):
    """A risk of at most 0.09, for the public release of clinical information in Canada."""

    name: ClassVar[str] = "health-canada"
    title: ClassVar[str] = "Clinical information in Canada (Health Canada)"
    sources: ClassVar[tuple[Source, ...]] = (
        Source(
            "Health Canada, Guidance document: Public Release of Clinical Information",
            "anonymisation",
            2019,
        ),
    )
