"""Published rows that are in a session."""

from dataclasses import dataclass

import pyarrow as pa

from shoal.engines.large.session import Session


@dataclass(frozen=True)
class Held:
    """A release in a table of a session, its columns called p0, p1, ... in the release's order."""

    session: Session
    table: str
    names: tuple[str, ...]
    """What the columns are called in the release."""
    schema: pa.Schema
    """Their types in the release's files."""

    @property
    def columns(self) -> dict[str, str]:
        """By its name, where each column stands."""
        return {name: f"p{i}" for i, name in enumerate(self.names)}
