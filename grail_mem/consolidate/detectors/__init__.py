"""The detectors, a module each: a function from a `Reading` to findings, with its method, thresholds and their source."""
