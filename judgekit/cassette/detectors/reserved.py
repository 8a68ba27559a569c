"""Values that look private but are reserved for examples."""

import ipaddress
import re
from functools import cache

from judgekit.cassette.detectors.form import form_data


@cache
def _pattern(kind: str) -> re.Pattern[str] | None:
    source = form_data()["reserved"].get(kind)
    return re.compile("".join(source)) if source else None


def reserved(kind: str, value: str) -> bool:
    """Return whether a value is reserved for examples.

    >>> reserved("email", "ann@example.com"), reserved("ip", "198.51.100.7")
    (True, True)
    """
    if kind == "ip":
        # Documentation (RFC 5737, RFC 3849), and addresses of local networks.
        return not ipaddress.ip_address(value).is_global
    pattern = _pattern(kind)
    return pattern is not None and pattern.search(value) is not None
