"""Parts of ``lscfg grammar`` that single extractors need."""
