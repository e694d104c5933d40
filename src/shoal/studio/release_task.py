"""The release itself: written by the same function as the command line's."""

from dataclasses import dataclass

from shoal import api
from shoal.progress import ProgressCallback
from shoal.studio.worker import Tables


@dataclass(frozen=True)
class Order:
    """What is to be written; paths as the command line takes them."""

    policy: str
    target: str
    report: str | None
    external_report: str | None
    key: str | None
    seed_file: str | None
    force: bool


@dataclass(frozen=True)
class Written:
    """What was written."""

    files: tuple[str, ...]
    """The release first, then tables beside it, reports and the key."""
    rows: int
    verified: bool
    to_judge: tuple[str, ...]
    """What a preset leaves to a person."""
    warnings: tuple[str, ...]


def write_release(tables: Tables, report: ProgressCallback, order: Order) -> Written:
    """Make the release, read it back, verify it, and put it in place with its reports."""
    assert tables.place is not None
    release = api.run(
        api.command_line_place(tables.place),
        order.policy,
        order.target,
        report=order.report,
        external_report=order.external_report,
        key=order.key,
        seed_file=order.seed_file,
        force=order.force,
        progress=report,
    )
    files = [release.output, *release.sensitive_outputs.values(), *release.reports]
    if release.key_output is not None:
        files.append(release.key_output)
    return Written(
        tuple(str(file) for file in files),
        release.published_rows,
        release.verified,
        release.to_judge,
        release.warnings,
    )
