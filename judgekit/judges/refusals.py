"""Tell a server that refuses one request again and again from a server with too many calls."""

from __future__ import annotations

from judgekit.judges.rate_headers import REFUSED

_SHARE = 0.1
"""Most other refused requests, as a share of the accepted ones, while a request is alone."""


class Refusals:
    """Counts the attempts of a judge that the server accepted, and the refused requests."""

    def __init__(self) -> None:
        self.accepted = 0
        self.refused = 0
        """Requests that were refused, each counted once."""
        self.doubtful: RefusedRequest | None = None
        """The request that waits outside the slots although it was refused only once."""


class RefusedRequest:
    """The refusals of one request, over its attempts.

    Args:
        counts: the counts of its judge.
    """

    def __init__(self, counts: Refusals) -> None:
        self._counts = counts
        self._seen: tuple[int, int] | None = None
        """The counts after its last refusal."""
        self.alone = False
        """Whether the server refused it again and accepted others in between."""
        self.explained = 0
        """Its refusals before it was alone, told once."""
        self._unexplained = 0

    @property
    def refused(self) -> bool:
        """Whether it was refused before."""
        return self._seen is not None

    @property
    def leaves(self) -> bool:
        """Whether it waits for its next attempt outside the slots.

        A first refusal does not tell the two cases apart. If every such request left its slot, the
        calls to a busy server would not become fewer, so only one of them does.
        """
        return self.alone or self._counts.doubtful is self

    def note(self, status: int | None) -> None:
        """Count the end of an attempt.

        Args:
            status: the HTTP status; `None` if there was no response.
        """
        counts, seen = self._counts, self._seen
        self.end()
        self.explained = 0
        if status not in REFUSED:
            counts.accepted += status is not None
            return
        if seen is not None:
            accepted, others = counts.accepted - seen[0], counts.refused - seen[1]
            self.alone = accepted > 0 and others <= _SHARE * accepted
        elif counts.doubtful is None:
            counts.doubtful = self
        if self.alone:
            self.explained, self._unexplained = self._unexplained, 0
        else:
            self._unexplained += 1
        counts.refused += seen is None
        self._seen = counts.accepted, counts.refused

    def end(self) -> None:
        """Note that the request does not wait any more."""
        self.alone = False
        if self._counts.doubtful is self:
            self._counts.doubtful = None
