"""The bundled models are what their scripts write, and small enough to ship."""

from __future__ import annotations

import pytest

from demo_models import DEFAULT_DEMO, DEMOS, demo_path, make_cnn, make_gpt2_small
from demo_models import make_mlp as mlp_script
from demo_models import make_transformer as transformer_script

SCRIPTS = {
    "transformer": transformer_script.make,
    "mlp": mlp_script.make,
    "cnn": make_cnn.make,
    "gpt2-small": make_gpt2_small.make,
}
MAX_BYTES = {"transformer": 3_000_000, "gpt2-small": 300_000}


@pytest.mark.parametrize("name", DEMOS)
def test_file_is_what_its_script_writes(name: str) -> None:
    written = demo_path(name).read_bytes()
    assert SCRIPTS[name]().SerializeToString(deterministic=True) == written
    assert len(written) < MAX_BYTES.get(name, 500_000)


def test_default_demo_has_numbers() -> None:
    assert not DEMOS[DEFAULT_DEMO].shape_only


def test_wrong_name_gets_the_nearest() -> None:
    with pytest.raises(KeyError, match="no demo 'transfomer'; try transformer"):
        demo_path("transfomer")
