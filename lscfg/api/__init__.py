"""What a program or a notebook uses: models that explain sentences, and a decoder. ``lscfg`` itself has its names."""
