"""Parallel work: threads, processes and cluster workers that return results in order."""
