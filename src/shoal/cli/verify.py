"""`shoal verify`: believe the release, not who made it."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.console import error_of, guarded
from shoal.cli.options import (
    Encoding,
    Engine,
    Json,
    Memory,
    PolicyFile,
    Quote,
    Separator,
    Telling,
    csv_options,
)


@guarded
def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The published file.")],
    policy: PolicyFile,
    engine: Engine = "local",
    memory: Memory = None,
    separator: Separator = None,
    quote: Quote = None,
    encoding: Encoding = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Check this certificate too: the .json file of a report.",
            show_default=False,
        ),
    ] = None,
    telling: Telling = "bar",
    json: Json = False,
) -> None:
    """Check that a release holds what its policy promises, and what else it holds.

    The file is read as anyone would read it, with the files that belong to it where the policy says
    `publish: anatomy`. Ends with exit code 4 where it falls short.
    """
    from shoal.cli.console import out, print_json
    from shoal.cli.progress import progress_of
    from shoal.progress import displayed

    with displayed(progress_of(telling)) as progress:
        from shoal.engines.anatomy_release import sensitive_files
        from shoal.pipeline.verify import examine, open_release
        from shoal.policy import Policy
        from shoal.progress import Clock
        from shoal.verification.check import require

        clock, asked = Clock(progress), Policy.load(policy)
        options = csv_options(separator, quote, encoding)
        told, unlike = None, list[str]()
        if certificate is not None:
            from shoal.report.certificate_check import read_certificate

            told = read_certificate(certificate)
        others = sensitive_files(release, asked)
        with open_release(
            release,
            asked,
            clock,
            options=options,
            engine=engine,
            memory=memory,
            every_column=told is not None,  # a digest is of all columns
        ) as table:
            verdict = examine(table, asked, clock)
            findings, found, shares = verdict.findings, verdict.strengths, verdict.largest_share
            if told is not None:
                from shoal.report.certificate_check import differences_of

                with clock.step("certificate"):
                    unlike = differences_of(told, asked, table, findings, table.sensitive_tables)

    def hold() -> None:
        require(findings, asked.preferences)
        if told is not None:
            from shoal.report.certificate_check import require_fits

            require_fits(unlike)

    if not json:
        from shoal.cli.render.release import show_findings, show_strengths

        show_findings(out(), findings, asked.quasi, release, others, shares)
        show_strengths(out(), found, asked.quasi)
        if told is not None and certificate is not None:
            from shoal.cli.render.release import show_certificate

            show_certificate(out(), certificate, told, unlike)
        hold()
        return
    failure = error_of(hold)
    shown = {
        "release": str(release),
        "sensitive_files": {name: str(path) for name, path in others.items()},
        "verified": not failure,
        "guarantees": [finding.to_dict() for finding in findings],
        "found": [strength.to_dict() for strength in found],
        "largest_share": shares,
        "certificate": None
        if told is None
        else {"file": str(certificate), "fits": not unlike, "differences": unlike},
    }
    print_json(shown | failure)
    if failure:
        raise typer.Exit(failure["exit_code"])
