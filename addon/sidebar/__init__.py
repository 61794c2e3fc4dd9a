"""What the user sees: cards, their words, and the routes Google calls for them."""
