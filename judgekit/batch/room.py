"""How much a job may have: the limits of a provider, for runs and for plans."""

from __future__ import annotations

from judgekit.batch.provider import BatchProvider


class JobRoom:
    """The room that is left in one new job.

    Args:
        provider: the provider, with its limits.
    """

    def __init__(self, provider: BatchProvider) -> None:
        self._lines, self._bytes = provider.lines, provider.bytes
        self._empty = True

    def takes(self, size: int) -> bool:
        """Take a line of `size` bytes; return false, and take nothing, if it needs another job.

        The first line is always taken: the provider refuses a line that is too long for any job.
        """
        if not self._empty and (self._lines < 1 or self._bytes < size):
            return False
        self._empty = False
        self._lines -= 1
        self._bytes -= size
        return True
