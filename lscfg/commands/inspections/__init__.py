"""The actions of ``lscfg inspect``."""
