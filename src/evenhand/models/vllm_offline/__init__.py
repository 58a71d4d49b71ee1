"""Models that vLLM's own engine runs for this process, without a server."""

from evenhand.models.vllm_offline.model import VllmModel

__all__ = ["VllmModel"]
