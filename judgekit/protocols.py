"""Another name of `judgekit.core.protocols`, which plug-ins written for 0.1 import."""

from judgekit.core.protocols import *  # noqa: F403
