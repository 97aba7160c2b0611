"""The command line: verbs, exit codes, sentences."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.main import _VERBS, main
from lowering import larger

MESH = ("--machine", "mesh-64x64")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cli") / "mlp.wscope"
    assert main(["run", "mlp", *MESH, "-o", str(path)]) == 0
    return path


def test_run_prints_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "MLP", *MESH]) == 0
    out, err = capsys.readouterr()
    assert "makespan" in out
    assert "ledger        ok" in out
    assert " s\n" in err
    assert " s\n" not in out


def test_json_has_the_fields_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    fields = {
        "format", "model", "parameters", "macs", "machine", "mode", "makespan_cycles", "steps",
        "samples", "throughput_samples_per_mcycle", "pes_used", "utilization", "efficiency",
        "kernels", "sram", "links", "causes", "ledger", "bottleneck", "standing",
    }  # fmt: skip
    assert main(["run", "mlp", *MESH, "--json"]) == 0
    ran = json.loads(capsys.readouterr().out)
    assert fields <= ran.keys()
    assert sum(ran["causes"].values()) == 64 * 64 * ran["makespan_cycles"]
    assert {"name", "ops", "source_nodes", "region", "cycles", "utilization", "sram_bytes"} <= set(
        ran["kernels"][0]
    )
    assert main(["check", "mlp", *MESH, "--json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert fields <= checked.keys()
    assert checked["kernels"] == ran["kernels"]
    assert checked["makespan_cycles"] is None


@pytest.mark.parametrize("mode", ["pipeline", "streaming"])
def test_json_names_the_mode_compiled(capsys: pytest.CaptureFixture[str], mode: str) -> None:
    assert main(["check", "mlp", *MESH, "--set", f"mode={mode}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == mode


def test_settings_turn_knobs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("samples: 3\nmax_chunks: 2\n", encoding="utf-8")
    words = ["run", "mlp", *MESH, "--config", str(config), "--set", "pe_cap@fc1=64", "--json"]
    assert main(words) == 0
    ran = json.loads(capsys.readouterr().out)
    assert ran["samples"] == 3
    rows, cols = next(k["region"][2:] for k in ran["kernels"] if k["name"] == "fc1")
    assert rows * cols <= 64


@pytest.mark.parametrize("tried", [0, 1500])
def test_json_says_what_would_hold_a_streamed_model(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tried: int
) -> None:
    monkeypatch.setattr(larger, "TRIED_KERNELS", tried)
    words = ["check", "gpt2-small", "--machine", "mesh-32x32", "--set", "mode=streaming", "--json"]
    assert main(words) == 1
    sram = json.loads(capsys.readouterr().out)["sram"]
    assert sram["overflows"]
    if tried:
        words[3] = sram["smallest_machine"]
        assert sram["wafers"] is None
        assert main(words) == 0
    else:
        assert sram["smallest_machine"] is None
        assert sram["wafers"]["standing"] == "bound"
        assert "wafers" in sram["wafers"]["sentence"]


def test_what_does_not_fit_exits_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "big.wscope"
    code = main(
        ["run", "transformer", "--machine", "mesh-6x6", "--set", "mode=pipeline", "-o", str(path)]
    )
    out = capsys.readouterr().out
    assert code == 1
    assert "DOES NOT FIT" in out
    assert "what-if" in out
    assert main(["show", str(path), "--step", "0"]) == 0
    assert capsys.readouterr().out.startswith("would not run")


def test_no_room_at_all_exits_1_with_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "transformer", "--machine", "mesh-4x4", "--set", "mode=pipeline"]) == 1
    assert "16 PEs there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rum", "mlp"], "did you mean 'run'"),
        (["run", "mpl"], "did you mean the demo 'mlp'"),
        (["run", "mlp", "--machine", "wse22"], "did you mean 'wse2'"),
        (["run", "mlp", "--set", "sampels=3"], "did you mean 'samples'"),
        (["run", "mlp", "--set", "samples"], "must be KNOB=VALUE"),
        (["run", "mlp", "--samples", "0"], r"1..4,096"),
        (["run", "mlp", "--dim", "N=0"], "must be NAME=NUMBER"),
        (["run", "mlp", "-o", "x.zip"], "must end in .wscope"),
        (["run", "mlp", "--compile-only", "-o", "x.wscope"], "nothing to write"),
        (["run", "config.json"], "there is no file or demo"),
        (["run", "model.pt"], "there is no file or demo"),
        (["show", "none.wscope"], "there is no file"),
        (["verify", "pyproject.toml"], "damaged or not a recording"),
        (["demo", "mnist"], "there is no demo 'mnist'"),
        (["demo", "--port", "99999"], "must be 0..65535"),
        (["run"], "required"),
        (["run", "mlp", "--config", "none.yaml"], "cannot read none.yaml"),
    ],
)
def test_usage_errors_are_sentences_with_exit_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert message in err
    assert "Traceback" not in err


def test_unsupported_operators_exit_3_all_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from onnx import TensorProto, helper, save

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    nodes = [
        helper.make_node("Det", ["x2"], ["d"], name="det"),
        helper.make_node("NonZero", ["x"], ["y"], name="find"),
    ]
    x2 = helper.make_tensor_value_info("x2", TensorProto.FLOAT, [3, 3])
    d = helper.make_tensor_value_info("d", TensorProto.FLOAT, [])
    graph = helper.make_graph(nodes, "odd", [x, x2], [y, d])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(model, tmp_path / "odd.onnx")
    assert main(["check", str(tmp_path / "odd.onnx"), *MESH]) == 3
    err = capsys.readouterr().err
    assert "2 nodes that no mesh operation covers" in err
    assert "Det: 1 node (det)" in err
    assert "NonZero: 1 node (find), the shape of its result depends on data" in err
    assert "use a mask of fixed shape with Where" in err


def test_opening_a_recording_with_knobs_is_refused(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", str(recording), "--samples", "3"]) == 2
    assert "carries its own knobs" in capsys.readouterr().err


def test_show_prints_run_step_pe_and_kernel(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(recording)
    for words, expected in (
        ([], "makespan"),
        (["--step", "3"], "step 3 of"),
        (["--pe", "0,0", "--step", "9"], "PE (0, 0) runs fc0"),
        (["--kernel", "sco"], "scores (Gemm)"),
    ):
        assert main(["show", file, *words]) == 0
        assert expected in capsys.readouterr().out
        assert main(["show", file, *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)
    assert main(["show", file, "--pe", "64,0"]) == 2
    assert "lies outside" in capsys.readouterr().err


def test_verify_passes_and_fails(recording: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(recording)]) == 0
    assert "0 failed" in capsys.readouterr().out


def test_verify_of_a_changed_recording_exits_4(recording: Path, tmp_path: Path) -> None:
    from dataclasses import replace

    from engine.recording import read_recording, write_recording

    found, path = read_recording(recording), tmp_path / "other.wscope"
    write_recording(path, replace(found, program=replace(found.program, samples=3)))
    assert main(["verify", str(path)]) == 4


@pytest.mark.parametrize("which", [["--step", "9"], ["--peak"], ["--max"], ["--total"]])
def test_export_writes_pictures(recording: Path, tmp_path: Path, which: list[str]) -> None:
    path = tmp_path / "out.png"
    words = ["export", str(recording), "--metric", "traffic", *which, "-o", str(path)]
    assert main(words) == 0
    assert path.read_bytes()[:4] == b"\x89PNG"


def test_export_of_steps_is_one_page(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    words = ["export", str(recording), "--metric", "utilization", "--steps", "0:9"]
    assert main([*words, "-o", str(path)]) == 0
    assert main([*words, "-o", str(tmp_path / "out.png")]) == 2


@pytest.mark.parametrize("verb", ["machines", "knobs", "ops"])
def test_tables_are_text_and_json(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb]) == 0
    assert capsys.readouterr().out
    assert main([verb, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_port_in_use_is_said_before_compiling(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["demo", "mlp", "--port", str(port), "--no-open"]) == 2
    err = capsys.readouterr().err
    assert f"port {port} cannot be used (in use)" in err
    assert "opened" not in err


def test_fault_of_ours_exits_70_and_names_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: object) -> int:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("app.cli.tables.knobs", broken)
    assert main(["knobs"]) == 70
    err = capsys.readouterr().err
    assert "ZeroDivisionError: oops" in err
    report = Path(err.split("A report is in ")[1].split("; please")[0])
    assert "broken" in report.read_text(encoding="utf-8")
    report.unlink()


def test_interrupt_exits_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.tables.ops", interrupted)
    assert main(["ops"]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom app.cli.main import main\nmain(['--help'])\n"
        "heavy = {'numpy', 'numba', 'onnx', 'dash', 'textual', 'rich', 'PIL', 'yaml'}\n"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for verb in _VERBS:
        assert verb in done.stdout
