"""Accept only requests that a browser on this machine sends from pages of the server."""

from __future__ import annotations

from collections.abc import Mapping
from email.message import Message
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

MOST_FIELDS = 40
LONGEST = 8_000
"""Characters of an address."""

HEADERS: Mapping[str, str] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    # No proxy may keep it, and browsers must revalidate it.
    "Cache-Control": "no-cache, private",
}
"""Headers of every response."""
PAGE_POLICY = "frame-ancestors 'none'; object-src 'none'; base-uri 'none'; form-action 'none'"
"""Sent in addition to the policy in each page, which names the hashes of its script and style."""
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox"


class Refused(Exception):
    """A rejected request, with the status and the message of its response."""

    def __init__(self, status: int, line: str) -> None:
        super().__init__(line)
        self.status = status
        self.line = line


class PageRequest(NamedTuple):
    """The path and query of a request."""

    path: str
    fields: tuple[tuple[str, str], ...]

    def one(self, name: str) -> str:
        """Return the value of a field.

        Raises:
            Refused: the field is missing or repeated.
        """
        values = self.all(name)
        if len(values) != 1:
            raise Refused(400, f"the address must name one {name}")
        return values[0]

    def all(self, name: str) -> list[str]:
        """Return every value of a field."""
        return [value for key, value in self.fields if key == name]


def check(target: str, headers: Message, *, port: int) -> PageRequest:
    """Return the path and the fields of a request.

    Raises:
        Refused: it came under another name, from another site, or is no plain address.
    """
    hosts = headers.get_all("Host") or []
    own = (f"127.0.0.1:{port}", f"localhost:{port}")
    # DNS rebinding: a foreign name that resolves to this machine would let its page read the runs.
    if len(hosts) != 1 or hosts[0].strip().lower() not in own:
        raise Refused(403, f"this server answers at http://{own[0]}/ only")
    origins = headers.get_all("Origin") or []
    if any(origin.strip().lower() not in (f"http://{host}" for host in own) for origin in origins):
        raise Refused(403, "requested by another site")
    sites = headers.get_all("Sec-Fetch-Site") or []
    if any(site.strip().lower() not in ("same-origin", "none") for site in sites):
        raise Refused(403, "requested by another site; open the address itself")
    if len(target) > LONGEST:
        raise Refused(414, "the address is too long")
    if not target.startswith("/") or target.startswith("//"):
        raise Refused(400, "not an address of this server")
    try:
        parts = urlsplit(target)
        fields = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as exc:
        raise Refused(400, "not an address of this server") from exc
    return PageRequest(parts.path, tuple(fields))
