"""The files of a report: a page for people, the certificate for machines."""

import json
from collections.abc import Sequence
from pathlib import Path

from shoal.io.beside import is_page, report_files
from shoal.io.together import replacing_all
from shoal.large.held import Held
from shoal.pipeline.reporting import check_report
from shoal.release import Release
from shoal.report.certificate import certificate


def texts(release: Release, targets: Sequence[Path], held: Held | None = None) -> list[str]:
    """What each of a report's files holds; all tell the same.

    held: the release's rows, where they are in a session.
    """
    told = certificate(release, held)
    found = []
    for target in targets:
        if is_page(target):
            from shoal.report.page import page

            found.append(page(told))
        else:
            found.append(json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return found


def write_report(release: Release, path: Path, force: bool = False) -> Path:
    """Write the files of a report; all of them appear, or none."""
    targets = check_report(path, release.policy)
    with replacing_all(targets, force) as places:
        for place, text in zip(places.paths, texts(release, targets), strict=True):
            place.write_text(text, encoding="utf-8")
        places.commit()
    return report_files(path)[0]
