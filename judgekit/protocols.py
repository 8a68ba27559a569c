"""Alias of `judgekit.core.protocols`, for plug-ins written for version 0.1."""

from judgekit.core.protocols import *  # noqa: F403
