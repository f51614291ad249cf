"""Every page at three widths looks as its picture in the manual does; `pytest --update-golden` takes them anew.

The fonts are those of the tests (browser_pages.py). How a browser draws a letter still differs a little between its
versions, so pictures are compared in blocks of 16 by 16 pixels by their mean colour.
"""

from __future__ import annotations

import base64
import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from browser_pages import Opened
from test_pages_in_browser import PAGES

import hlotool
from hlotool.docs import Page, write_site
from hlotool.process import OwnFiles

PICTURES = pathlib.Path(hlotool.__file__).parent / "docs" / "pictures"
#: widths, heights and colours, and how much smaller the picture is kept
SIZES = {360: (740, "light", 1.0), 1000: (720, "dark", 1.0), 2560: (1300, "light", 0.5)}
BLOCK, LEVELS, SHARE = 16, 24, 0.03
MOST_BYTES = 2_000_000

_MANUAL = """# Count: flops and traffic

**`hlotool cost`** says what running a module once costs, and which instruction or line of the program costs it.

```console
$ hlotool cost step.hlo --top 1
step.hlo:
  104 k flops, 600 functions, 115 kB moved, 0.916 flop/B
```

## What is counted

- **Flops** are additions, multiplications and the like. A dot of `m x k` and `k x n` has `2 m n k` of them.
- **Bytes** are operands read and results written, once for each execution.

```hlo
ENTRY main {
  x = f32[8,16] parameter(0)
  ROOT y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
```

| operation | flops | functions |
| --- | ---: | ---: |
| add | 1 | 0 |
| tanh | 0 | 1 |
"""

#: compares two pictures: the share of blocks whose colour differs
_COMPARE = f"""async ([one, other]) => {{
  const pixels = async url => {{
    const image = await createImageBitmap(await (await fetch(url)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    return pen.getImageData(0, 0, image.width, image.height);
  }};
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  const mean = (from, x, y) => {{
    const sum = [0, 0, 0];
    for (let dy = 0; dy < {BLOCK}; dy++) for (let dx = 0; dx < {BLOCK}; dx++)
      for (let c = 0; c < 3; c++) sum[c] += from.data[4 * ((y + dy) * from.width + x + dx) + c];
    return sum.map(s => s / {BLOCK * BLOCK});
  }};
  let blocks = 0, differing = 0;
  for (let y = 0; y + {BLOCK} <= a.height; y += {BLOCK}) for (let x = 0; x + {BLOCK} <= a.width; x += {BLOCK}) {{
    const p = mean(a, x, y), q = mean(b, x, y);
    blocks++;
    if (p.some((level, c) => Math.abs(level - q[c]) > {LEVELS})) differing++;
  }}
  return differing / blocks;
}}"""
#: makes a picture smaller
_SCALE = """async ([url, part]) => {
  const image = await createImageBitmap(await (await fetch(url)).blob());
  const canvas = document.createElement("canvas");
  canvas.width = image.width * part; canvas.height = image.height * part;
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/webp", 0.72);
}"""


def manual(folder: pathlib.Path) -> pathlib.Path:
    others = [Page(place, f"# {place.title()}") for place in ("checking", "converting", "comparing", "viewing")]
    write_site(OwnFiles(folder, "R120"), [Page("costs", _MANUAL), *others])
    return folder / "costs.html"


def written(page: Callable[[], str], folder: pathlib.Path) -> pathlib.Path:
    path = folder / f"{page.__name__}.html"
    path.write_text(page(), "utf-8")
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    folder = tmp_path_factory.mktemp("pages")
    return {"manual": manual(folder / "manual"), **{page.__name__: written(page, folder) for page in PAGES}}


def picture(chromium: Any, file: pathlib.Path, width: int) -> str:
    """A screenshot as a data URL, made smaller."""
    height, scheme, part = SIZES[width]
    opened = Opened(chromium, file, width=width, height=height, scheme=scheme)
    opened.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    if file.stem in ("view", "pair", "report"):
        opened.wait_until_ready()
    if file.stem == "lint":
        opened.page.wait_for_selector(".row.here")
    shot = base64.b64encode(opened.page.screenshot()).decode("ascii")
    opened.page.close()
    blank = chromium.new_page()
    scaled: str = blank.evaluate(_SCALE, [f"data:image/png;base64,{shot}", part])
    blank.close()
    return scaled


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("name", ["manual", *(page.__name__ for page in PAGES)])
def test_a_page_looks_as_in_the_manual(chromium: Any, files: dict[str, pathlib.Path], name: str, width: int,
                                       update_golden: bool) -> None:
    path = PICTURES / f"{name}-{width}.webp"
    found = picture(chromium, files[name], width)
    if update_golden:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(base64.b64decode(found.partition(",")[2]))
    kept = "data:image/webp;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
    blank = chromium.new_page()
    share = blank.evaluate(_COMPARE, [found, kept])
    blank.close()
    assert share < SHARE, f"{share:.0%} of the picture differ; `pytest --update-golden` keeps what there is now"


def test_another_page_is_not_taken_for_the_one_that_was_kept(chromium: Any, files: dict[str, pathlib.Path]) -> None:
    kept = {width: "data:image/webp;base64," + base64.b64encode((PICTURES / f"cost-{width}.webp").read_bytes()).decode()
            for width in (360, 1000)}
    blank = chromium.new_page()
    for width, cost in kept.items():
        assert blank.evaluate(_COMPARE, [picture(chromium, files["conformance"], width), cost]) > SHARE


def test_the_pictures_are_small_and_the_manual_shows_each() -> None:
    pictures = sorted(PICTURES.glob("*.webp"))
    assert len(pictures) == len(SIZES) * (len(PAGES) + 1)
    assert sum(path.stat().st_size for path in pictures) < MOST_BYTES
    text = (PICTURES.parent / "pages.md").read_text("utf-8")
    assert [path.name for path in pictures if f"pictures/{path.name}" not in text] == []
