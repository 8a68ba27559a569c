"""Calibration of personas: what labels teach, how good it is, and where judge and rule disagree.

Start with `calibrate`; `steps` has the single steps, and `diagnose` compares with a judge.
"""
