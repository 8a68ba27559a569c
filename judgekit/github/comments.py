"""The comments of a pull request: write one, or edit it if it is there."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from judgekit.core.errors import ConfigError, JudgekitError

MOST_CHARACTERS = 65_536
"""GitHub's maximum length of a comment."""
_PAGE = 100
_MOST_PAGES = 50
_MOST_BYTES = 16 * 2**20
_SECONDS = 30
_REPOSITORY = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


class CommentError(JudgekitError):
    """A comment could not be read or written."""


class ReadOnlyError(CommentError):
    """The token may not write comments, as in a pull request from a fork."""


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, which would send the token to another address."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Comments:
    """The comments of the pull requests of a repository.

    Args:
        api: address of the interface, such as `https://api.github.com`.
        repository: OWNER/NAME.
        token: a token that may read comments, and may write them.
        author: the login of the token's user. A comment of somebody else is never edited.

    Raises:
        ConfigError: the address is not https, or the repository is not OWNER/NAME.
    """

    def __init__(self, *, api: str, repository: str, token: str, author: str) -> None:
        parts = urlsplit(api)
        local = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not local:
            raise ConfigError(f"GITHUB_API_URL: {api!r} is no https address")
        if _REPOSITORY.fullmatch(repository) is None:
            raise ConfigError(f"GITHUB_REPOSITORY: {repository!r} is not OWNER/NAME")
        self.author = author
        self._issues = f"{api.rstrip('/')}/repos/{repository}/issues"
        self._token = token
        self._opener = urllib.request.build_opener(_Stay())

    def put(self, number: int, *, marker: str, text: str) -> str:
        """Write the comment that begins with a marker; return what was done to it.

        Args:
            number: number of the pull request.
            marker: an HTML comment, which readers do not see.
            text: the comment below the marker.

        Raises:
            ReadOnlyError: the token may not write.
            CommentError: GitHub does not answer, or refuses.
        """
        body = f"{marker}\n{text}"
        present = self._find(number, marker)
        if present is not None and present["body"] == body:
            return "unchanged"
        if present is not None:
            address = f"{self._issues}/comments/{present['id']}"
            if self._call("PATCH", address, {"body": body}, missing_is_none=True) is not None:
                return "edited"
        self._call("POST", f"{self._issues}/{number}/comments", {"body": body})
        return "created"

    def _find(self, number: int, marker: str) -> dict[str, Any] | None:
        """Return the first comment of this author with the marker."""
        for page in range(1, _MOST_PAGES + 1):
            query = f"per_page={_PAGE}&page={page}"
            listed = self._call("GET", f"{self._issues}/{number}/comments?{query}")
            if not isinstance(listed, list):
                raise CommentError("GitHub did not answer with a list of comments")
            for comment in listed:
                if _is_own(comment, marker, self.author):
                    return {"id": comment["id"], "body": comment["body"]}
            if len(listed) < _PAGE:
                return None
        raise CommentError(f"more than {_PAGE * _MOST_PAGES:,} comments; none was written")

    def _call(
        self, method: str, address: str, data: object = None, *, missing_is_none: bool = False
    ) -> Any:
        request = urllib.request.Request(  # noqa: S310 - https or loopback, checked at the start
            address,
            method=method,
            data=None if data is None else json.dumps(data).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "judgekit",
            },
        )
        try:
            with self._opener.open(request, timeout=_SECONDS) as response:
                read = response.read(_MOST_BYTES + 1)
        except urllib.error.HTTPError as exc:
            exc.close()
            if missing_is_none and exc.code in (404, 410):
                return None
            # GitHub answers 404 instead of 403 where the token may not even know.
            kind = ReadOnlyError if exc.code in (401, 403, 404) else CommentError
            raise kind(f"GitHub answered {exc.code} to {method} of a comment") from exc
        except OSError as exc:
            reason = getattr(exc, "reason", exc)
            raise CommentError(f"GitHub does not answer: {reason}") from exc
        if len(read) > _MOST_BYTES:
            raise CommentError(f"GitHub's answer has more than {_MOST_BYTES:,} bytes")
        try:
            return json.loads(read)
        except ValueError as exc:
            raise CommentError("GitHub's answer is not JSON") from exc


def _is_own(comment: object, marker: str, author: str) -> bool:
    if not isinstance(comment, dict) or not isinstance(comment.get("id"), int):
        return False
    user, body = comment.get("user"), comment.get("body")
    login = user.get("login") if isinstance(user, dict) else None
    return login == author and isinstance(body, str) and body.startswith(marker)


def fitted(text: str, *, most: int = MOST_CHARACTERS - 200) -> str:
    """Return a text that fits into a comment; it is cut between lines."""
    if len(text) <= most:
        return text
    note = "\n\nThe rest does not fit into a comment; the summary of the job has it.\n"
    return text[: most - len(note)].rpartition("\n")[0] + note
