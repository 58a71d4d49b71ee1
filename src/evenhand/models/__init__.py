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
from evenhand.models.settings import ModelSettings, read_model_settings

__all__ = [
    "EMBEDDED_MODELS",
    "AccessError",
    "ContextOverflowError",
    "EmbeddedModelEntry",
    "Limits",
    "Model",
    "ModelRole",
    "ModelSettings",
    "Price",
    "TransportError",
    "Trouble",
    "open_model",
    "read_model_settings",
    "weights_path",
]
