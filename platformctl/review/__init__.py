"""One readable comment for each stack of a proposed change: what it does, whom it reaches, what is dangerous."""
