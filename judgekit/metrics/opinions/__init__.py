"""Several opinions on one case, from samples, judges and orders, combined into one verdict.

It imports `rubric` and `core`. Start with `opinion`, then `vote`.
"""
