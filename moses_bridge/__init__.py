"""Moses for lscfg: its files in lscfg's terms."""
