"""Masks: one more character is masked on every level.

A level keeps a number of first (or last) characters that is counted from the longest text, so `02138`
and `02138-1234` share the label `02138*****`. A text shorter than what a level keeps is unchanged.
"""

from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pydantic.dataclasses import dataclass

from shoal.arrays import Bools, Codes
from shoal.errors import HierarchyError
from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.tree import TOP, HierarchyTree, check_size, from_starts, leaves_of

LONGEST = 512


@dataclass(frozen=True, repr=False)
class Mask(Hierarchy):
    """A character is masked per level: `02138`, `0213*`, `021**` up to `*`."""

    side: Literal["right", "left"]
    """The end where masking begins."""

    policy_keys: ClassVar = {"mask": "side"}
    allowed: ClassVar = "'right' or 'left'"
    choices: ClassVar = ("right", "left")
    from_values: ClassVar = True

    def build(
        self,
        values: pa.Array,
        column: str,
        folder: Path,  # noqa: ARG002 - the signature of every hierarchy
    ) -> tuple[HierarchyTree, Codes]:
        """The hierarchy over the values' texts, and the leaf of each value."""
        leaves = leaves_of(values)
        order = self._order(leaves.texts)
        texts = leaves.texts.take(pa.array(order))
        longest = pc.max(pc.utf8_length(texts)).as_py() or 0
        if longest > LONGEST:
            raise HierarchyError(
                f"Column '{column}': a mask hides one character per level, and the longest value has "
                f"{longest:,}; at most {LONGEST} are allowed. If this is free text, drop it."
            )
        check_size(len(texts), longest, column)
        levels = range(1, longest)  # the top hides every character
        starts = [_changes(self._kept(texts, longest - level)) for level in levels]

        def label(level: int, firsts: npt.NDArray[np.intp]) -> list[str]:
            return self._masked(texts.take(pa.array(firsts)), longest, level)

        return from_starts(texts.to_pylist(), starts, label), leaves.codes(order)

    def __repr__(self) -> str:
        return f"Hierarchy.mask({self.side!r})"

    def _order(self, texts: pa.Array) -> npt.NDArray[np.integer]:
        """The texts sorted so that those which keep the same characters are neighbours."""
        if self.side == "right":
            return np.arange(len(texts))
        order: npt.NDArray[np.integer] = pc.sort_indices(pc.utf8_reverse(texts)).to_numpy()
        return order

    def _kept(self, texts: pa.Array, keep: int) -> pa.Array:
        if self.side == "right":
            return pc.utf8_slice_codeunits(texts, 0, keep)
        return pc.utf8_slice_codeunits(texts, -keep)

    def _masked(self, texts: pa.Array, longest: int, level: int) -> list[str]:
        keep = longest - level
        kept, stars = _escaped(self._kept(texts, keep)), TOP * level
        whole = pc.less(pc.utf8_length(texts), keep)
        pair = (kept, stars) if self.side == "right" else (stars, kept)
        masked = pc.binary_join_element_wise(*pair, "")
        labels: list[str] = pc.if_else(whole, kept, masked).to_pylist()
        return labels


def _escaped(texts: pa.Array) -> pa.Array:
    """A raw star is written as a backslash and a star, so that a bare star is always the mask's; and
    no label begins like a range or a set."""
    escaped = pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), TOP, "\\" + TOP)
    return pc.replace_substring_regex(escaped, r"^([\[{])", r"\\\1")


def _changes(texts: pa.Array) -> Bools:
    start = np.ones(len(texts), dtype=np.bool_)
    start[1:] = pc.not_equal(texts[1:], texts[:-1]).to_numpy(zero_copy_only=False)
    return start
