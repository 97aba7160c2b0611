"""Name the packages: pyproject.toml holds everything else.

`app`, `engine` and `lowering` lie where they are imported from. Three packages do not: their
folders are mapped by [tool.setuptools.package-dir], which package discovery does not follow.
"""

from setuptools import find_packages, setup

MAPPED = ["app.assets", "app.demo_models", "waferscope"]

setup(
    packages=[
        *find_packages(
            include=["app", "app.*", "engine", "engine.*", "lowering", "lowering.*"],
            exclude=["app.api", "app.api.*"],
        ),
        *MAPPED,
    ]
)
