"""What RagForge needs from the outside world: promises that adapters keep."""
