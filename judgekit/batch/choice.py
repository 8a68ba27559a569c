"""What a run does with batch jobs, as flags say."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class BatchChoice(NamedTuple):
    """What a run does with batch jobs; by default it only takes the replies of jobs that ended."""

    sending: bool = False
    """Whether requests that no job has go into new jobs, not to the server."""
    resend: bool = False
    """Whether a job is submitted again that may exist at the provider."""
    file: Path | None = None
    """Where to write the new requests for a person to send, instead of to the provider."""
