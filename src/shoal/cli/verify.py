"""`shoal verify`: believe the release, not who made it."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.guard import error_of, guarded
from shoal.cli.options import Encoding, Json, PolicyFile, Quote, Separator, csv_options


@guarded
def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")],
    policy: PolicyFile,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Check that a release holds what its policy promises.

    The file is read as anyone would read it. Ends with exit code 4 where it falls short.
    """
    from shoal.cli.console import out, print_json
    from shoal.cli.progress import watching

    with watching() as progress:
        from shoal.pipeline.verifying import verify_file
        from shoal.policy import Policy
        from shoal.verification.check import require

        progress("verify", 0.0)
        asked = Policy.load(policy)
        findings = verify_file(release, asked, csv_options(separator, quote, encoding))
    if not json:
        from shoal.cli.show_release import show_findings

        show_findings(out(), findings, asked.quasi, release)
        require(findings)
        return
    failure = error_of(lambda: require(findings))
    guarantees = [asdict(finding) | {"holds": finding.holds} for finding in findings]
    print_json(
        {"release": str(release), "verified": not failure, "guarantees": guarantees} | failure
    )
    if failure:
        raise typer.Exit(failure["exit_code"])
