"""Stages that all systems share: text, rules, decoding, and charts for the report.

Each module holds the works, the dataclasses of their settings and inputs, and functions that plan the stages. A work
sees only its settings and its files, not the experiment, so its output depends on the key alone.
"""
