"""The reader of messages: one algorithm for the formats of all tools.

`shapes.json` says what the words of each format mean: roles, keys of a message, types of its
blocks. Start reading in `reader.py`; `conversation.py` divides the messages among the fields of a
case.
"""
