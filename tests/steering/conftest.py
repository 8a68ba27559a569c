from tests.cli.conftest import judgekit

__all__ = ["judgekit"]
