"""The ``lscfg`` commands of this package."""
