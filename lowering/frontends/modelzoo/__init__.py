"""Cerebras Model Zoo configs: `trainer: {init, fit}` and the older `model, train_input`."""

from lowering.frontends.modelzoo.config import ReadZoo, read_zoo
from lowering.frontends.modelzoo.loading import load_zoo

__all__ = ["ReadZoo", "load_zoo", "read_zoo"]
