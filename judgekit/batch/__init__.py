"""Batch jobs: requests that a provider answers within a day, at a lower price.

A judge asks a `BatchDesk` before its server. The desk answers with what finished jobs replied, says
that a job still has a request, or collects it for a new job. Nothing else of the package knows
jobs: replies pass through the judge and the cassette as live ones do, under the same keys.

Start with `desk`; `journal` is the file with the state of the jobs, `provider` the table of the
providers, and `protocols` how they take jobs.
"""
