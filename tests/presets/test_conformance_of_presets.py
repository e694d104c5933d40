"""The shipped check of presets notices what is wrong with one."""

from collections.abc import Sequence
from dataclasses import dataclass as plain_dataclass
from typing import ClassVar

import pytest
from pydantic.dataclasses import dataclass

from shoal.models.base import Model
from shoal.models.k import K
from shoal.presets.base import DeclaredPolicy, Preset, Rule, Source, ValueCheck
from shoal.testing import check_preset


@plain_dataclass(frozen=True)
class Everything(ValueCheck):
    """Finds something wrong with every text."""

    def broken(self, texts: Sequence[str]) -> list[bool]:
        return [True for _ in texts]

    @property
    def words(self) -> str:
        return "anything"


@dataclass(frozen=True)
class Sound(Preset):
    """A preset as it should be."""

    title: ClassVar[str] = "Sound"
    sources: ClassVar[tuple[Source, ...]] = (Source("A guide", "", 2020),)
    asks: ClassVar[tuple[str, ...]] = ("Four people.",)
    judged_by_people: ClassVar[tuple[str, ...]] = ("All else.",)

    def constraints(self) -> tuple[Model, ...]:
        return (K(4),)


@dataclass(frozen=True)
class Unsound(Sound):
    """A preset that asks for nothing in words, and finds faults everywhere."""

    asks: ClassVar[tuple[str, ...]] = ("four people",)
    sources: ClassVar[tuple[Source, ...]] = ()

    def rules(self, policy: DeclaredPolicy) -> tuple[Rule, ...]:
        return (Rule("all", "None.", checks=(Everything("all", policy.quasi[0]),)),)


def test_a_sound_preset_passes() -> None:
    check_preset(Sound)


def test_faults_are_reported_at_once() -> None:
    with pytest.raises(AssertionError) as found:
        check_preset(Unsound)
    for words in ("`asks` does not hold whole", "`sources` is not declared", "a suppressed cell"):
        assert words in str(found.value)
