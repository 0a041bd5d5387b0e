"""Settings and the layers they come from."""

from ragforge.config.layers import Loaded, load_settings
from ragforge.config.settings import Settings
from ragforge.config.trust import ProjectFile

__all__ = ["Loaded", "ProjectFile", "Settings", "load_settings"]
