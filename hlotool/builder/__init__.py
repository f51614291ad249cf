"""XlaBuilder."""
