"""Decoding: latent features, the embedded decoder, analyses of sentences, decoder hosts."""
