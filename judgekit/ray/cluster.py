"""The connection to a Ray cluster, without usage statistics."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from judgekit.core.errors import ConfigError, MissingExtra
from judgekit.datasets.shard import MOST

if TYPE_CHECKING:
    from judgekit.suite.resolved import ResolvedSuite

LOCAL = "local"
"""The address of a Ray cluster that judgekit starts and stops on this machine."""
_STATISTICS = "RAY_USAGE_STATS_ENABLED"


def load_ray() -> Any:
    """Import ray with usage statistics disabled for all processes that this one starts.

    Raises:
        MissingExtra: ray is not installed.
    """
    if "ray" not in sys.modules and find_spec("ray") is None:
        raise MissingExtra(feature="Ray", extra="ray")
    os.environ[_STATISTICS] = "0"
    return import_module("ray")


@contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Connect to a cluster and yield the module `ray`; an existing connection is used.

    Args:
        address: a running cluster, such as `auto` or `ray://HOST:10001`; `local` starts one on this
            machine for the duration of the block; `None` uses the connection of this process.

    Raises:
        MissingExtra: ray is not installed.
        ConfigError: the cluster cannot be reached.
    """
    ray = load_ray()
    if ray.is_initialized():
        warn_of_statistics()
        yield ray
        return
    local = address in (None, LOCAL)
    options: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    if local:
        options["include_dashboard"] = False
    try:
        ray.init(address=LOCAL if local else address, **options)
    except (ConnectionError, RuntimeError, ValueError) as exc:
        reason = " ".join(str(exc).split())[:200]
        message = f"no Ray cluster answers there: {reason}"
        raise ConfigError(message, where=f"--ray {address or LOCAL}") from exc
    try:
        if not local:
            warn_of_statistics()
        with _own_exit_code(ray):
            yield ray
    finally:
        ray.shutdown()


@contextmanager
def _own_exit_code(ray: Any) -> Iterator[None]:
    """Exit with 143 at SIGTERM: the handler of Ray exits with 1, which means a missed gate."""

    def leave(number: int, _: object) -> None:
        try:
            ray.shutdown()
        finally:
            os._exit(128 + number)  # Ray turns SystemExit in its calls into other errors

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def worker_count(ray: Any, suite: ResolvedSuite, workers: int | None) -> int:
    """Return the number of concurrent workers.

    Args:
        ray: the module.
        suite: the suite.
        workers: the number, if the user gives one; by default one for each CPU of the cluster.

    Raises:
        ConfigError: there are more workers than concurrent calls.
    """
    most = min(MOST, suite.file.limits.most_calls)
    if workers is None:
        return max(1, min(most, int(ray.cluster_resources().get("CPU", 1))))
    if not 1 <= workers <= most:
        raise ConfigError(
            f"{workers} workers: give 1 to {most}; limits.concurrency is the number of concurrent "
            "calls of all workers together"
        )
    return workers


def warn_of_statistics() -> None:
    """Print one line if a cluster that judgekit did not start sends usage statistics."""
    state = _sends_statistics()
    if state is False:
        return
    what = "sends" if state else "may send"
    print(
        f"judgekit: this Ray cluster {what} usage statistics to the makers of Ray; "
        f"set {_STATISTICS}=0 where its head node is started",
        file=sys.stderr,
    )


def _sends_statistics() -> bool | None:
    """Return whether the cluster sends usage statistics; `None` if it does not say.

    The head node records its operating system in the cluster metadata only if it does.
    """
    try:
        kv = import_module("ray.experimental.internal_kv")
        facts = json.loads(kv._internal_kv_get(b"CLUSTER_METADATA", namespace=b"cluster"))
        return "session_start_timestamp_ms" in facts
    except (ImportError, AttributeError, AssertionError, TypeError, ValueError, RuntimeError):
        return None
