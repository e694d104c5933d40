"""The files of reports: pages and certificates, internal and external."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.engines.release_table import ReleaseTable
from shoal.io.commit import replacing_all
from shoal.io.output_names import is_page, report_files
from shoal.pipeline.run import check_report
from shoal.release import Release
from shoal.report.certificate import certificate, digests_apart, published_rows
from shoal.report.external import Published, external_certificate, external_page
from shoal.report.page import page


def texts(
    release: Release,
    targets: Sequence[Path],
    table: ReleaseTable | None = None,
    external: bool = False,
) -> list[str]:
    """The contents of a report's files, page or certificate.

    table: the release's rows, where an engine holds them. external: the report for those who get it.
    """
    if not targets:
        return []
    content = external_of(release, table) if external else certificate(release, table)
    form = external_page if external else page
    return [form(content) if is_page(target) else as_json(content) for target in targets]


def external_of(release: Release, table: ReleaseTable | None = None) -> dict[str, Any]:
    """The certificate of a release for those who get it: all that leaves it here is of its rows."""
    with published_rows(release, table) as rows:
        return external_certificate(
            Published(
                table=rows,
                policy=release.policy,
                findings=release.findings,
                detail=release.detail.without_withheld(),
                disclosure=release.disclosure,
                levels=release.levels,
                presets=release.presets,
                largest_share=release.largest_share,
                seed_commitment=release.seed_commitment,
                policy_commitment=release.policy_commitment,
                name=release.output_name,
                people=release.published_people,
                people_sizes=release.evidence.people_after,
                sensitive_digests=digests_apart(release),
            )
        )


def as_json(content: Mapping[str, Any]) -> str:
    """A certificate as text."""
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_report(release: Release, path: Path, force: bool = False, external: bool = False) -> Path:
    """Write the files of a report, all of them or none."""
    targets = check_report(path, release.policy)
    with replacing_all(targets, force) as places:
        written = zip(places.paths, texts(release, targets, external=external), strict=True)
        for place, text in written:
            place.write_text(text, encoding="utf-8")
        places.commit()
    return report_files(path)[0]
