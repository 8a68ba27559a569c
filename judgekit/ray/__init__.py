"""Run a suite on several machines with Ray.

It imports `suite` and the layers below, and the library `ray` only when it is used.

Start with `run`, which runs the shards of a suite, and `worker`, which runs one shard; `dataset`
scores a `ray.data.Dataset`.
"""

from judgekit.ray.dataset import evaluate

__all__ = ["evaluate"]
