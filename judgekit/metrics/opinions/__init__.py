"""Several opinions on one case, of samples, judges and orders: asked, combined into one verdict.

It imports `rubric` and `core`. Start with `opinion`, then `vote`.
"""
