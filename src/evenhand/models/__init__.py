"""Where replies come from."""

from evenhand.models.catalog import EMBEDDED_MODELS, EmbeddedModelEntry, weights_path
from evenhand.models.model import AccessError, ContextOverflowError, Model, ModelRole, TransportError
from evenhand.models.names import open_model

__all__ = [
    "EMBEDDED_MODELS",
    "AccessError",
    "ContextOverflowError",
    "EmbeddedModelEntry",
    "Model",
    "ModelRole",
    "TransportError",
    "open_model",
    "weights_path",
]
