"""Translation systems: what a decoder needs beside its text, read from where it lies or packed into one folder."""
