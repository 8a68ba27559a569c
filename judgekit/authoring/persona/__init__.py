"""Calibrate personas with labels, validate the calibration, and compare it with a judge.

Start with `calibrate`; `steps` has the individual steps, and `diagnose` compares with a judge.
"""
