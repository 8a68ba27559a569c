"""Metrics of agents: tool calls, trajectories and roles."""
