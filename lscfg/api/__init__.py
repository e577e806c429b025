"""Interface for programs and notebooks: models that explain sentences, and a decoder. ``lscfg`` exports its names."""
