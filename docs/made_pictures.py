"""Pictures of reports for the README and the gallery, of the first screen of a page as Chromium shows it.

    python -m docs.made_pictures quickstart workspaces/quickstart/report/index.html

writes docs/images/quickstart--page.png. Run it again when the page has changed.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

from docs.made_gallery import IMAGES

SIZE = (1240, 836)
COLOURS = 64
"""Of a palette: pages have few, and a picture of 60 kB is as sharp as one of 200 kB."""


def picture(page: Path) -> Image.Image:
    """The first screen of a page, in the light theme."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.png"
        subprocess.run(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                f"--user-data-dir={folder}/profile", "--virtual-time-budget=4000",
                f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={file}", page.absolute().as_uri(),
            ],
            check=True, capture_output=True,
        )  # fmt: skip
        return Image.open(io.BytesIO(file.read_bytes())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def main(study: str, page: str) -> None:
    """Writes the picture of a study's page."""
    picture(Path(page)).save(IMAGES / f"{study}--page.png", optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
