"""Parameters of latent grammars and of context models, and their files."""
