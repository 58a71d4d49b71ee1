"""Where replies come from."""

from evenhand.models.catalog import EMBEDDED_MODELS, EmbeddedModelEntry, weights_path
from evenhand.models.model import (
    AccessError,
    ContextOverflowError,
    Limits,
    Model,
    ModelRole,
    Price,
    TransportError,
    Trouble,
)
from evenhand.models.names import open_model

__all__ = [
    "EMBEDDED_MODELS",
    "AccessError",
    "ContextOverflowError",
    "EmbeddedModelEntry",
    "Limits",
    "Model",
    "ModelRole",
    "Price",
    "TransportError",
    "Trouble",
    "open_model",
    "weights_path",
]
