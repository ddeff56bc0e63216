"""Consolidation: detectors read the store and write findings as proposals, which somebody reviews, applies and undoes."""
