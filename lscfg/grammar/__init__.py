"""Rule tables, rule counts with their features, selection of rules, grammar files."""
