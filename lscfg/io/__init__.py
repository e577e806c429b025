"""Files: text, arrays, atomic writes, and the types of command-line arguments."""
