"""From raw parallel text to the words that all other commands take, and from translations back to text."""
