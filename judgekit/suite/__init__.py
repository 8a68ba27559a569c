"""The suite file: reading it, building what it names, and running it.

It imports `runner` and the layers below.

Start with `file`, the format; `suite` is the loaded suite; `run` runs it.
"""
