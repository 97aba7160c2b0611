"""Which kernel runs each node of the model: by the tensor that both make. One rule for all."""

from __future__ import annotations

from app.runs.run import Run


def kernels_of_nodes(run: Run) -> tuple[str, ...]:
    """Return the kernel id of every node of the compiled graph, empty where no kernel runs it."""
    makers = {name: kernel.id for kernel in run.program.kernels
              for op in kernel.spec.ops for name in op.outputs}  # fmt: skip
    origins: dict[str, str] = {}
    for kernel in run.program.kernels:
        for name in kernel.origin:
            origins.setdefault(name, kernel.id)
    found = []
    for node in run.compiled.graph.nodes:
        made = [makers[name] for name in node.op.outputs if name in makers]
        told = [origins[name] for name in node.origin if name in origins]
        found.append((*made, *told, "")[0])
    return tuple(found)
