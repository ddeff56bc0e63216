"""Models of others as extractors and reviewers: one module for each service, loaded only when it is imported."""
