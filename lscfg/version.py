"""Version of the package, for files, messages and the build."""

__version__ = "0.3.0"
