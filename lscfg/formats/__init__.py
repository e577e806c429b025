"""Files shared with other programs: cdec.ini, weights, k-best lists, forests."""
