"""Files with text to translate: their texts, and the same files with the translations, all other bytes unchanged."""
