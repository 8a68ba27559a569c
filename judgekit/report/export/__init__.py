"""Reports as files for machines and for other people's tools: one module a format."""
