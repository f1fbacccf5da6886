"""Builds the image of ``deploy/Dockerfile`` without Docker and without a registry, and tests a container of it.

Run: ``python benchmarks/container.py`` (as root, on Linux, with debootstrap and buildah; ten minutes). The base is
made of Debian's packages, because nothing is pulled. ``buildah --isolation chroot`` works without a container engine,
but it isolates less than Docker: the files and the user are those of the image, but there are no separate namespaces
and no seccomp profile. As under Docker's default profile, a program in it cannot create user namespaces. ``--option``
passes an option to ``buildah build``, such as a ``--volume`` with pip's configuration. Exits with 1 if a check fails.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
COMPOSE = ROOT / "deploy" / "compose.yaml"
SUITE = "bookworm"
BASE, IMAGE = "localhost/koderz-base", "localhost/koderz"
USER = 1000
URL = "http://127.0.0.1:8501"
START_SECONDS, END_SECONDS = 90.0, 30.0
COMPILERS = ("gcc", "cc", "c++", "clang", "make", "pip", "pip3")
ONLY_MODELS = "Missing or not working: any model (only scripted models can answer)."  # the image contains no weights
BENCHMARK = ("benchmark", "--name", "container", "--problems", "0:10", "--coder", "scripted/strong", "--quiet")


@dataclass(slots=True)
class Builder:
    """``buildah`` with storage of its own, and the checks so far."""

    work: Path
    failed: int = 0

    def run(self, *words: str) -> str:
        done = subprocess.run(self.command(*words), stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            sys.exit(f"buildah {words[0]} ended with {done.returncode}.")
        return done.stdout.strip()

    def command(self, *words: str) -> list[str]:
        return ["buildah", "--root", str(self.work / "storage"), "--runroot", str(self.work / "run"), *words]

    def check(self, name: str, passed: bool, said: str = "") -> None:
        self.failed += not passed
        print(f"{'ok    ' if passed else 'FAILED'} {name}{': ' if said else ''}{said}", flush=True)


@dataclass(frozen=True, slots=True)
class Container:
    """A container of the image over a data folder. ``config``: that of the image."""

    builder: Builder
    name: str
    data: Path
    config: dict[str, Any]  # Any: JSON

    def command(self, *words: str) -> list[str]:
        """The command that runs a program in it; its ports are those of this machine, as in the compose file."""
        options = ("--isolation", "chroot", "--volume", f"{self.data}:/data")
        return self.builder.command("run", *options, self.name, "--", *words)

    def said(self, *words: str) -> tuple[int, str]:
        done = subprocess.run(self.command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode, done.stdout.decode(errors="replace").strip()

    def koderz(self, *words: str) -> tuple[int, str]:
        return self.said(*self.config["Entrypoint"], *words)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mirror", default="", help="archive of packages; by default that of debootstrap")
    parser.add_argument("--option", action="append", default=[], help="option of buildah build")
    parser.add_argument("--work", type=Path, help="keep the images here, and reuse the base image")
    asked = parser.parse_args()
    with nullcontext(asked.work) if asked.work else tempfile.TemporaryDirectory(prefix="container-") as folder:
        builder = Builder(Path(folder).resolve())
        _check_compose(builder)
        _make_base(builder, asked.mirror)
        began = time.monotonic()
        where = ("--file", str(ROOT / "deploy" / "Dockerfile"), "--format", "docker", "--isolation", "chroot")
        builder.run("build", *where, "--build-arg", f"BASE={BASE}", "--tag", IMAGE, *asked.option, str(ROOT))
        print(f"built in {time.monotonic() - began:.0f} s")
        _check_image(builder)
    print(f"{builder.failed} checks failed")
    return int(bool(builder.failed))


def _make_base(builder: Builder, mirror: str) -> None:
    """What Debian's own image contains: the packages that are essential, and apt."""
    if BASE in builder.run("images", "--format", "{{.Name}}").split():
        return
    root = builder.work / "base"
    subprocess.run(
        ["debootstrap", "--variant=minbase", SUITE, str(root), *filter(None, [mirror])], check=True, stdout=sys.stderr
    )
    container = builder.run("from", "scratch")
    builder.run("add", container, str(root), "/")
    builder.run("commit", "--rm", container, BASE)


def _check_compose(builder: Builder) -> None:
    """By the schema of docker-compose, if it is installed."""
    with suppress(FileNotFoundError):
        profiles = [word for name in ("serve", "ollama", "monitoring") for word in ("--profile", name)]
        command = ["docker-compose", "--file", str(COMPOSE), *profiles, "config", "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        builder.check("docker-compose accepts the compose file", done.returncode == 0, done.stdout.strip()[-300:])


def _check_image(builder: Builder) -> None:
    config = json.loads(builder.run("inspect", "--type", "image", IMAGE))["Docker"]["config"]
    data = builder.work / "data"
    data.mkdir(exist_ok=True)
    os.chown(data, USER, USER)
    with _container(builder, config, data) as container:
        _check_contents(container)
        _check_commands(container)
        _check_dashboard(container)
    with _container(builder, config, data) as container:
        said = container.koderz("results", "container", "--json")[1]
        builder.check("a new container shows the benchmark of the old one", '"planned": 10' in said)


@contextmanager
def _container(builder: Builder, config: dict[str, Any], data: Path) -> Iterator[Container]:
    name = builder.run("from", "--pull-never", IMAGE)
    builder.run("config", "--volume", "/data-", name)  # otherwise buildah hides the folder behind a volume of its own
    try:
        yield Container(builder, name, data, config)
    finally:
        builder.run("rm", name)


def _check_contents(container: Container) -> None:
    check = container.builder.check
    check("the user is not root", container.said("id", "--user")[1] == str(USER), container.said("id")[1])
    found = [name for name in COMPILERS if container.said("sh", "-c", f"command -v {name}")[0] == 0]
    check("the image has no compiler and no pip", not found, " ".join(found))
    names = [variable.partition("=")[0] for variable in container.config["Env"]]
    check("its environment has no keys", set(names) <= {"PATH", "KODERZ_HOME"}, " ".join(names))
    found = container.said("sh", "-c", "find / -xdev -name .env -o -xdev -name '*.jsonl' 2>/dev/null")[1].splitlines()
    found = [name for name in found if name.startswith("/")]
    check("it has no .env and no journals", not found, " ".join(found))
    check("its own files are read-only for the user", container.said("touch", "/opt/koderz/x")[0] != 0)
    print(f"       koderz with its packages: {container.said('du', '-sm', '/opt/koderz')[1].split()[0]} MB")


def _check_commands(container: Container) -> None:
    check = container.builder.check
    said = container.koderz("doctor")[1]
    tier = [line.strip() for line in said.splitlines() if "tier in use" in line]
    check("koderz doctor misses a model and nothing else", f"\n{ONLY_MODELS}" in said, " ".join(tier))
    code, said = container.koderz(*BENCHMARK)
    check("a scripted benchmark", code == 0, said[-300:] if code else "")


def _check_dashboard(container: Container) -> None:
    """Runs the entry point and command of the image, and its health check, before, during and after."""
    check, health = container.builder.check, container.config["Healthcheck"]["Test"][1:]
    check("the health check fails without a dashboard", container.said(*health)[0] != 0)
    words = [*container.config["Entrypoint"], *container.config["Cmd"]]
    with subprocess.Popen(container.command(*words), stdout=subprocess.PIPE, start_new_session=True) as process:
        try:
            check(f"the dashboard answers at {URL}", _answers(process))
            check("the health check passes", container.said(*health)[0] == 0)
        finally:
            _end(process, check)


def _answers(process: subprocess.Popen[bytes]) -> bool:
    last = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < last:
        with suppress(URLError, OSError), urlopen(URL, timeout=5) as answer:
            return b"<title>" in answer.read()
        time.sleep(0.5)
    return False


def _end(process: subprocess.Popen[bytes], check: Any) -> None:  # Any: Builder.check
    """SIGTERM to the process of koderz, as `docker stop` sends it; buildah would not pass it on."""
    began = time.monotonic()
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            command = (path / "cmdline").read_bytes()
            if path.stat().st_uid == USER and b"streamlit" in command and b"buildah" not in command:
                os.kill(int(path.name), signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    check("it ends after SIGTERM", time.monotonic() - began < END_SECONDS, f"{time.monotonic() - began:.1f} s")


if __name__ == "__main__":
    sys.exit(main())
