"""What the personal rule did: how many values were raised, and what is left to guess."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from shoal.cells.counts import Counts
from shoal.cells.domain import Domain, Kind
from shoal.cells.spans import rows_by_group
from shoal.cells.tally import COMMON
from shoal.errors import listed
from shoal.kernels.histograms import count_runs
from shoal.metrics.base import Parts
from shoal.metrics.recognition_rate import group_rates
from shoal.policy import Policy
from shoal.release import PersonalReport, RaisedLabel
from shoal.verification.personal import at_worst, effective, tree_of, under


def report_personal(
    policy: Policy, parts: Parts, shown: Mapping[str, pa.DictionaryArray]
) -> dict[str, PersonalReport]:
    """Per sensitive column in which wishes count. `shown`: (n_rows,) what is published of it."""
    return {name: _report(policy, parts, name, shown[name]) for name in parts.raised}


def warnings(reports: Mapping[str, PersonalReport]) -> Iterator[str]:
    """Raised labels that hide nothing from a reader who knows the rule."""
    for name, report in reports.items():
        bare = [label for label in report.labels if label.effective_leaves == 1]
        if bare:
            rows = sum(label.rows for label in bare)
            # such a label may read as the value does
            named = [repr(label.label) for label in bare if label.rows >= COMMON]
            others = len(bare) - len(named)
            if others:
                named.append(
                    f"{others} label{'s' if others > 1 else ''} that fewer than {COMMON} rows have"
                )
            yield (
                f"{rows:,} value{'s' if rows > 1 else ''} of {name} raised to a label that, to a "
                f"reader who knows the rule and the tree, can only mean one value: "
                f"{listed(named)}. More values of a lower level under "
                "such a label would hide them."
            )


def _report(policy: Policy, parts: Parts, name: str, shown: pa.DictionaryArray) -> PersonalReport:
    levels = np.where(parts.suppressed, 0, parts.raised[name])
    domain = tree_of(policy.how(name), name, policy.folder)
    labels, leaves = _labels(parts, name, domain, levels)
    whole = len(parts.groupings) == 1 and parts.groupings[0].n_groups > 0
    before = after = None
    if whole:
        before = int(_counts(parts, parts.cells.sensitive[name], name).distinct().min())
        counts = _shown_counts(parts, shown, name)
        after = int(at_worst(counts, policy.how(name), policy.folder).distinct().min())
    rows = np.bincount(levels, minlength=1)
    return PersonalReport(
        raised_rows=int((levels > 0).sum()),
        levels={int(level) + 1: int(rows[level]) for level in np.flatnonzero(rows) if level},
        labels=labels,
        diversity_before=before,
        diversity_after=after,
        recognition_rate=float(group_rates(parts, name).mean()) if whole else None,
        effective_recognition_rate=(
            float(group_rates(parts, name, leaves).mean()) if whole else None
        ),
    )


def _labels(
    parts: Parts, name: str, domain: Domain, levels: npt.NDArray[np.integer]
) -> tuple[tuple[RaisedLabel, ...], npt.NDArray[np.int64]]:
    """The labels values were raised to, and (n_rows,) the values that each row may have."""
    tree = domain.hierarchy
    assert tree is not None
    codes, may_be = parts.cells.sensitive[name], np.ones(parts.cells.n_rows, np.int64)
    found = []
    for level in np.unique(levels[levels > 0]).tolist():
        at = levels == level
        nodes = tree.nodes[level, codes[at]]
        may_be[at] = 0
        for node in np.unique(nodes).tolist():
            left = len(effective(domain, (level, node)))
            here = np.flatnonzero(at)[nodes == node]
            may_be[here] = left
            found.append(
                RaisedLabel(
                    label=tree.labels[level][node],
                    level=level + 1,
                    rows=len(here),
                    leaves=len(under(tree, (level, node))),
                    effective_leaves=left,
                )
            )
    return tuple(found), may_be


def _shown_counts(parts: Parts, shown: pa.DictionaryArray, name: str) -> Counts:
    codes = np.where(
        shown.indices.is_null().to_numpy(zero_copy_only=False),
        len(shown.dictionary),
        shown.indices.fill_null(0).to_numpy(zero_copy_only=False),
    ).astype(np.int32)
    texts = Domain(name, Kind.SET, shown.dictionary, missing=len(shown.dictionary))
    return _counts(parts, codes, name, texts)


def _counts(
    parts: Parts, codes: npt.NDArray[np.int32], name: str, domain: Domain | None = None
) -> Counts:
    (grouping,) = parts.groupings
    meaning = domain or parts.cells.sensitive_domains[name]
    rows, starts = rows_by_group(grouping.group, grouping.n_groups)
    found = count_runs(codes[rows], starts, meaning.size + 1, meaning.missing)
    return Counts(np.diff(starts), *found, meaning)
