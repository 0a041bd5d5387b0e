"""Settings and the layers they come from."""

from ragforge.config.layers import Loaded, load_settings
from ragforge.config.settings import Settings

__all__ = ["Loaded", "Settings", "load_settings"]
