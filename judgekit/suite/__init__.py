"""The suite file: read it, build its metrics and judges, and run it.

It imports `runner` and the layers below.

Start with `file`, the format of the file; `suite` is the loaded suite, and `run` runs it.
"""
