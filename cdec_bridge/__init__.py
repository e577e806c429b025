"""cdec as a decoder for lscfg: found on this machine, run over a file, its lists read."""
