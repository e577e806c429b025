"""Context models: target sides of rules predicted from the surrounding source words."""
