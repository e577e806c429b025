"""Translation systems: all files that a decoder needs, in their places or packed into one folder."""
