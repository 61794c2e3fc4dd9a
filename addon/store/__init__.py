"""Where the truth lives: a small port for documents, and its two adapters."""
