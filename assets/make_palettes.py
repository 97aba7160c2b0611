"""Make palettes.json: 256-entry colour tables and the colours of the categories.

Run it after a change: `python assets/make_palettes.py`. Tables are straight lines in sRGB between
33 points read off the published maps (viridis, inferno: S. van der Walt and N. Smith, CC0;
cividis: Nunez, Anderton, Renslow, PLOS ONE 2018); they follow them within 2 of 255 (cividis: 6
near its dark end). The diverging pair is ours: blue and orange, even in lightness on both sides.
Causes and phases start from Okabe and Ito's set; lightness tells apart what a hue alone might not.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

_POINTS = {
    "viridis": (
        "440154 470d60 48186a 482374 472d7b 453681 424086 3f4989 3b528b 375a8d 33638d 2f6a8e "
        "2c728e 297a8e 26818e 23898e 21908c 1f988b 1f9f88 21a685 28ae80 31b57b 3ebc74 4cc26c "
        "5dc963 6ece58 82d34c 96d83f abdc32 c0df24 d5e21a eae51a fde725"
    ),
    "cividis": (
        "00224e 00285b 002e6a 043371 1a386f 273e6e 32436d 3b496c 434e6c 4b546c 52596d 5a5f6e "
        "61656f 686a71 6f7073 757676 7c7b78 848179 8b8778 938d78 9b9376 a39a75 aba072 b3a670 "
        "bbad6c c3b469 ccba64 d4c15f ddc958 e6d051 efd748 f8df3c fee838"
    ),
    "inferno": (
        "000004 040312 0b0724 150b37 210c4a 2e0a5a 3c0965 4a0c6b 57106d 63146e 70196e 7d1e6d "
        "89226a 962766 a32b61 af315c bb3755 c63e4d d14644 db4f3b e35932 eb6528 f1711e f67f14 "
        "f98d0a fb9c06 fcab0f fbba1f f9ca32 f5d949 f2e865 f3f586 fcffa4"
    ),
    "diverging_dark": "9ecbff 5a9ae0 2f6699 1d3a57 14181d 4f3314 8f5a1b cf8a34 ffc98a",
    "diverging_light": "0b3c78 2f74bd 7fb0df c4dbf0 f7f7f5 f6dcb8 e5ab62 b86f1d 6e3a04",
}

CAUSES = {
    # cause: (on a dark page, on a light page); the nearest two stay apart in CIELAB by 11.1 (dark)
    # and 10.9 (light), as people see them with and without the three kinds of dichromacy
    "defective": ("52252c", "e8cad8"),
    "unassigned": ("151b25", "f3f7fc"),
    "compute": ("009e73", "00825f"),
    "overhead": ("8fdcc0", "6cc3a4"),
    "memory": ("2f7fd1", "0072b2"),
    "transfer": ("7cc8f5", "4aa3d8"),
    "imbalance": ("f0e442", "daca0b"),
    "wait-output": ("d55e00", "c04f00"),
    "wait-weights": ("8a5a3c", "75472b"),
    "wait-host": ("c082bb", "b85589"),
    "wait-fabric": ("e69f00", "dd9814"),
    "wait-input": ("962a5b", "8a1f55"),
    "fill": ("a9b1bd", "a3abb6"),
    "drain": ("576575", "928a82"),
}

BARE = {name: CAUSES[name] for name in ("defective", "unassigned")}
KINDS = BARE | {
    # family of kernels; chosen by search so that even the nearest two stay apart in CIELAB by 19
    # (dark) and 21 (light), as people see them with and without the three kinds of dichromacy
    "dot": ("2f7fd1", "0072b2"),
    "conv": ("e69f00", "e69f00"),
    "moe": ("7800f0", "7800f0"),
    "recurrent": ("a02828", "502800"),
    "embedding": ("f05050", "f050f0"),
    "gather": ("a028a0", "c82878"),
    "reduce": ("28f050", "00f078"),
    "window": ("a0f0a0", "a05000"),
    "pointwise": ("a0a0c8", "a0a0c8"),
    "move": ("785078", "a07850"),
    "loss": ("f00000", "280050"),
    "optimizer": ("f0f0f0", "002828"),
    "dequantize": ("c8a0a0", "2828a0"),
}
PHASES = BARE | {
    # phase of a training step, in the order of their first kernels
    "no phase": ("5d6673", "6b7480"),
    "forward": ("2f7fd1", "0072b2"),
    "loss": ("f0e442", "d3c400"),
    "recompute": ("7cc8f5", "4aa3d8"),
    "backward": ("d55e00", "c04f00"),
    "optimizer": ("009e73", "00825f"),
}
CATEGORIES = {"category": CAUSES, "kinds": KINDS, "phases": PHASES}

MARKS = {"alert": ("00e5ff", "007f94"), "selection": ("ffffff", "000000")}


def table(points: str, size: int = 256) -> list[str]:
    """Return `size` colours on straight lines between hex points."""
    knots = np.array([[int(p[i : i + 2], 16) for i in (0, 2, 4)] for p in points.split()])
    where = np.linspace(0, len(knots) - 1, size)
    channels = [np.interp(where, np.arange(len(knots)), knots[:, c]) for c in range(3)]
    rows = np.round(np.stack(channels, axis=1)).astype(int)
    return ["{:02x}{:02x}{:02x}".format(*row) for row in rows]


def main() -> None:
    """Write palettes.json beside this file."""
    data = {
        "tables": {name: "".join(table(points)) for name, points in _POINTS.items()},
        "categories": {
            table: {
                theme: {name: f"#{pair[index]}" for name, pair in colours.items()}
                for index, theme in enumerate(("dark", "light"))
            }
            for table, colours in CATEGORIES.items()
        },
        "marks": {
            theme: {name: f"#{pair[index]}" for name, pair in MARKS.items()}
            for index, theme in enumerate(("dark", "light"))
        },
    }
    target = Path(__file__).with_name("palettes.json")
    target.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
