"""An adapter extension for Model Explorer, which imports the module `main` of this package."""
