"""Whether a release holds what its policy promises, judged on the published text alone."""
