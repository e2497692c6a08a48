"""Ratios measured in one run on one machine; goals and figures stand in docs/performance.md."""
