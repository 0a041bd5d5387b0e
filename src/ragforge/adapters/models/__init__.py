"""Chat models: one adapter over the library that knows the providers."""
