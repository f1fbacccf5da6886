"""The HTML document of every page: Streamlit's own, with koderz' styles and early downloads in its head.

Otherwise the styles would arrive with the first answer of a page's script, and the browser would ask for each of
Streamlit's scripts when the page first needs it. Both move what is already visible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import streamlit
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from pages.ui.shell import PAGES

STATIC = Path(streamlit.__file__).parent / "static"
SCRIPTS = Path("static") / "js"
STYLES = Path(__file__).with_name("looks.css")
EVERYWHERE = ("PageLink", "Multiselect", "TextInput", "Metric", "DataFrame")
CHARTS = ("ButtonGroup", "Slider")
EARLY = {"overview": (*EVERYWHERE, *CHARTS), "compare": (*EVERYWHERE, *CHARTS)}
"""The scripts that a page needs, by the beginnings of their names; other pages need ``EVERYWHERE``."""
IMPORTED, BEGINNING = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"'), 16_384  # characters with a script's imports


class _Address(StringConvertor):
    """An address without further slashes, whether it has a page or not, unless Streamlit serves something there."""

    regex = r"(?!oauth2callback$)[^/._][^/.]*"


register_url_convertor("address", _Address())


def routes() -> list[Route]:
    """The addresses of all pages, and unknown addresses, which show Home."""
    return [Route("/", send), Route("/{name:address}", send)]


async def send(request: Request) -> HTMLResponse:
    """Answer with the document of a page."""
    name = request.path_params.get("name")
    return HTMLResponse(document(name if name in PAGES else "overview"), headers={"Cache-Control": "no-cache"})


@cache
def document(page: str) -> str:
    """The document of the page of that file name."""
    own = (STATIC / "index.html").read_text(encoding="utf-8")
    early = "".join(
        f'<link rel="modulepreload" crossorigin href="./{path}">\n' for path in _scripts(page) if path not in own
    )
    head = f"{early}<style>\n{STYLES.read_text(encoding='utf-8')}</style>\n</head>"
    return own.replace("</head>", head, 1)


def _scripts(page: str) -> Sequence[str]:
    """The paths of the scripts that a page needs soon, and of the scripts that these import."""
    folder, found = STATIC / SCRIPTS, dict[str, None]()
    waiting = [path.name for name in EARLY.get(page, EVERYWHERE) for path in folder.glob(f"{name}.*.js")]
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found[name] = None
            waiting += _imports(folder / name)
    return [str(SCRIPTS / name) for name in found]


def _imports(script: Path) -> Iterator[str]:
    with script.open(encoding="utf-8") as file:
        yield from IMPORTED.findall(file.read(BEGINNING))
