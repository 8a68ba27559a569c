"""Metrics for judgekit: does an answer shout?"""
