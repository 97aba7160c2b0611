"""The public Python API, installed as `import waferscope`."""
