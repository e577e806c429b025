"""Translation as a service: HTTP with JSON over one system."""
