"""What RagForge knows: frozen data, no I/O."""
