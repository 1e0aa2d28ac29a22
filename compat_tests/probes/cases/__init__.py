"""The cases, by area. A case is a list of (label, step): all steps of one case meet the same topics and groups."""
