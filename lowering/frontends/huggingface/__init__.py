"""Hugging Face models: a config.json alone, or a folder with its weights."""

from lowering.frontends.huggingface.config import MODEL_TYPES, ReadConfig, read_config
from lowering.frontends.huggingface.loading import load_config, load_folder

__all__ = ["MODEL_TYPES", "ReadConfig", "load_config", "load_folder", "read_config"]
