"""cdec as a decoder for lscfg: finding it, running it and reading its lists."""
