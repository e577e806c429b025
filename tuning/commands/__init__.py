"""Commands of tuning and evaluation for ``lscfg``'s command line."""
