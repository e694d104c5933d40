"""How a table is written, as a policy says it (`read:`)."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from shoal.policy.missing import MissingCodes, read_codes


class Reading(BaseModel):
    """How the table is written; what is left out is detected, or asked where it is ambiguous."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    missing: Annotated[MissingCodes, BeforeValidator(read_codes)] = None
    """The codes that stand for a missing value in every column without a `missing` of its own."""

    def given(self) -> dict[str, Any]:
        """The keys that are not left out, as plain data."""
        data = self.model_dump(exclude_none=True)
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in data.items()
        }
