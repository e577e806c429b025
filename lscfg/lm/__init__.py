"""Language models: estimation from text, ARPA files, and their use while decoding."""
