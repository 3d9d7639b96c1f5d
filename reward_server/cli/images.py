"""`reward-server images`: the images from which the docker backend makes containers."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text

from reward_server.cli.options import ConfigOption, JsonOption, RuntimeOption, read_settings
from reward_server.domain import Execution, Job, Limits
from reward_server.errors import SandboxError, StartError
from reward_server.languages import load_languages

if TYPE_CHECKING:
    import docker

    from reward_server.sandbox.docker.images import Listener, SandboxImage
    from reward_server.sandbox.runner_sandbox import ContainedSandbox

images_app = typer.Typer(
    help="Builds, lists and tries the images of the docker backend.",
    no_args_is_help=True,
)

_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_STEP = re.compile(r"Step (\d+)/(\d+)")
_LINE_WIDTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCheck:
    """The result of starting a container.

    Args:
        milliseconds: time until a first program had run.
        found: for each of its languages the version, or the problem with it.
        problem: why it did not start, or which languages do not work; empty if all is well.
    """

    image: SandboxImage
    milliseconds: float
    found: tuple[str, ...] = ()
    problem: str = ""


@images_app.command()
def build(
    names: Annotated[
        list[str] | None, typer.Argument(help="What to build; the image of Python by default.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Build every image.")] = False,
    base_image: Annotated[
        str | None,
        typer.Option(help="Base image, Debian or a derivative; it is pulled if absent."),
    ] = None,
    base_from_debootstrap: Annotated[
        bool,
        typer.Option(
            "--base-from-debootstrap",
            help="Make the base from Debian's packages with mmdebstrap, without a registry.",
        ),
    ] = False,
    tag: Annotated[str | None, typer.Option(help="Tag of the one image to build.")] = None,
    requirements: Annotated[
        Path | None,
        typer.Option(
            help="A requirements file of pip: builds an image of Python with these packages.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of that image, which gets the tag codereward-NAME."),
    ] = None,
    preload: Annotated[
        list[str] | None,
        typer.Option(help="Module of it that each container imports once; may be repeated."),
    ] = None,
) -> None:
    """Builds images that contain the runner of this version."""
    if base_image and base_from_debootstrap:
        raise typer.BadParameter("give --base-image or --base-from-debootstrap, not both")
    if (requirements is None) != (name is None):
        raise typer.BadParameter("--requirements and --name belong together")
    if requirements is not None and (names or everything):
        raise typer.BadParameter("--requirements builds one image; name no others")
    if preload and requirements is None:
        raise typer.BadParameter("--preload goes with --requirements")
    if name is not None and not _NAME.fullmatch(name):
        raise typer.BadParameter("--name has lower-case letters, digits, and single - _ . between")
    with _engine() as engine:
        from reward_server.sandbox.docker import images

        wanted = images.names() if everything else (name,) if name else tuple(names or ("python",))
        if tag and len(wanted) != 1:
            raise typer.BadParameter("--tag names one image; say which to build")
        packages = None
        if requirements is not None:
            packages = images.Packages(
                requirements=requirements.read_bytes(), preload=tuple(preload or ())
            )
        base = base_image or images.BASE_IMAGE
        if base_from_debootstrap:
            base = images.BASE_TAG
            with _progress("base") as on_line:
                images.make_base(engine, base, on_line=on_line)
        for each in wanted:
            called = tag or images.default_tag(each)
            with _progress(called) as on_line:
                if packages is None:
                    built = images.build(engine, each, base_image=base, tag=called, on_line=on_line)
                else:
                    built = images.build_with_packages(
                        engine, each, packages, base_image=base, tag=called, on_line=on_line
                    )
            typer.echo(f"{called} {built}")


@images_app.command()
def adapt(
    image: Annotated[str, typer.Argument(help="The image of a task; it is pulled if absent.")],
    tag: Annotated[str, typer.Option(help="Tag of the new image.")],
    folder: Annotated[
        str, typer.Option(help="Absolute path of the repository in the image, such as /testbed.")
    ] = "",
    python: Annotated[
        str,
        typer.Option(
            help="Path in the image of the interpreter whose packages tests import; python3 on the "
            "image's PATH by default. Its folder has a python3 of version 3.11 or later."
        ),
    ] = "",
    preload: Annotated[
        list[str] | None,
        typer.Option(help="Module that each container imports once; may be repeated."),
    ] = None,
    languages: Annotated[
        list[str] | None,
        typer.Option("--language", help="Language that it has; python by default."),
    ] = None,
) -> None:
    """Adds the runner of this version to the image of a task, which keeps its packages."""
    names = tuple(load_languages().find(one).name for one in languages or ("python",))
    with _engine() as engine, _progress(tag) as on_line:
        from reward_server.sandbox.docker import images

        built = images.adapt(
            engine,
            image,
            tag=tag,
            folder=folder,
            python=python,
            preload=tuple(preload or ()),
            languages=names,
            on_line=on_line,
        )
    typer.echo(f"{tag} {built}")


@images_app.command("list")
def list_images(as_json: JsonOption = False) -> None:
    """Lists the images that the engine has, and whether their runner is of this version."""
    with _engine() as engine:
        from reward_server.sandbox.docker.images import find

        found = find(engine)
    if as_json:
        typer.echo(json.dumps([_described(image) for image in found], indent=2))
    else:
        Console().print(_image_table(found))


@images_app.command()
def verify(
    names: Annotated[
        list[str] | None, typer.Argument(help="Images to try; all that have a name by default.")
    ] = None,
    config: ConfigOption = None,
    runtime: RuntimeOption = None,
) -> None:
    """Tries each image's languages and packages in a container of it; exits with 1 if one fails."""
    settings = read_settings(config, runtime=runtime)
    with _engine() as engine:
        checks = asyncio.run(_try_all(engine, _named(engine, names), settings.runtime))
    Console().print(_check_table(checks))
    raise typer.Exit(1 if any(check.problem for check in checks) else 0)


@images_app.command()
def sbom(
    name: Annotated[str, typer.Argument(help="Image to read, also the server's own.")],
) -> None:
    """Prints an image's software bill of materials, as CycloneDX in JSON."""
    with _engine() as engine:
        from reward_server.sandbox.docker.sbom import bill_of_materials

        typer.echo(bill_of_materials(engine, name))


@contextmanager
def _engine() -> Iterator[docker.APIClient]:
    try:
        from reward_server.sandbox.docker.container import connect
    except ModuleNotFoundError as error:
        raise StartError(
            f"images need Docker's SDK ({error}): pip install '.[docker]' in a checkout"
        ) from error
    with closing(connect()) as engine:
        yield engine


@contextmanager
def _progress(name: str) -> Iterator[Listener]:
    """Shows the progress of a build: a bar for people, each line for a log."""
    if not sys.stderr.isatty():
        yield lambda line: typer.echo(f"{name}: {line}", err=True)
        return
    columns = (TextColumn("{task.fields[name]}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("{task.description}"), console=Console(stderr=True)
    ) as progress:
        task = progress.add_task("", name=name, total=None)

        def show(line: str) -> None:
            progress.update(task, description=escape(line[:_LINE_WIDTH]))
            if step := _STEP.match(line):
                done, total = map(int, step.groups())
                progress.update(task, completed=done - 1, total=total)

        yield show
        progress.update(task, description="done", completed=1, total=1)


def _described(image: SandboxImage) -> dict[str, object]:
    return {
        "id": image.identifier,
        "tags": list(image.tags),
        "languages": list(image.languages),
        "size_bytes": image.size_bytes,
        "runner_digest": image.runner_digest,
        "is_current": image.is_current,
    }


def _image_table(found: Sequence[SandboxImage]) -> Table:
    table = Table("image", "id", "languages", Column("size", justify="right"), "runner")
    for image in found:
        runner = "[green]current[/]" if image.is_current else "[yellow]of another version[/]"
        size = f"{image.size_bytes / 1e6:.0f} MB"
        names = Text("\n".join(image.tags or ("none",)))
        table.add_row(names, image.short_identifier, " ".join(image.languages), size, runner)
    return table


def _named(engine: docker.APIClient, names: Sequence[str] | None) -> list[SandboxImage]:
    from reward_server.sandbox.docker.images import find

    found: dict[str, SandboxImage] = {}
    for name in names or (None,):
        images = [image for image in find(engine, name) if image.tags]
        if not images:
            what = f"image of ours named {name}" if name else "image of ours"
            raise SandboxError(f"the engine has no {what}; see `reward-server images build`")
        found |= {image.identifier: image for image in images}
    return list(found.values())


async def _try_all(
    engine: docker.APIClient, found: Sequence[SandboxImage], runtime: str
) -> list[ImageCheck]:
    return [await _try(engine, image, runtime) for image in found]


async def _try(engine: docker.APIClient, image: SandboxImage, runtime: str) -> ImageCheck:
    from reward_server.sandbox.docker.container import DockerOptions, DockerSandboxes
    from reward_server.sandbox.docker.images import require

    options = DockerOptions(image=image.identifier, name=image.name, runtime=runtime)
    async with aclosing(DockerSandboxes(engine, options)) as start:
        began = time.perf_counter()
        try:
            await asyncio.to_thread(require, engine, image.identifier)
            sandbox = await start(0)
        except SandboxError as error:
            return ImageCheck(image=image, milliseconds=_since(began), problem=str(error))
        milliseconds = _since(began)
        try:
            found = await _try_languages(image, sandbox)
        except SandboxError as error:
            return ImageCheck(image=image, milliseconds=milliseconds, problem=str(error))
        finally:
            await sandbox.close()
    broken = [f"{name}: {', '.join(problems)}" for name, _, problems in found if problems]
    return ImageCheck(
        image=image,
        milliseconds=milliseconds,
        found=tuple(f"{name} {version}" for name, version, _ in found),
        problem="; ".join(broken),
    )


async def _try_languages(
    image: SandboxImage, sandbox: ContainedSandbox
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Tries the languages; returns name, version and problems of each."""
    from reward_server.evaluation.language_check import try_language
    from reward_server.evaluation.package_check import try_packages
    from reward_server.language_versions import versions_of

    languages = [load_languages().find(name) for name in image.languages]
    one_at_a_time = _One(sandbox)
    survey = await versions_of(one_at_a_time, languages)
    found = []
    for one in languages:
        there = survey.found.get(one.name)
        problems = await try_language(one, sandbox, Limits()) if there else ("is not there",)
        if one.name == "python":
            problems += await try_packages(one_at_a_time)
        found.append((one.name, there.version if there else "", problems))
    return found


class _One:
    """Runs jobs one after another in a sandbox."""

    slots = 1

    def __init__(self, sandbox: ContainedSandbox) -> None:
        self._sandbox = sandbox

    async def run(self, job: Job) -> Execution:
        return await self._sandbox.run(job)


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


def _check_table(checks: Sequence[ImageCheck]) -> Table:
    table = Table(
        "image", "", Column("start, ms", justify="right"), Column("what was seen", overflow="fold")
    )
    for check in checks:
        mark = "[red]fails[/]" if check.problem else "[green]works[/]"
        seen = check.problem or ", ".join(check.found)
        table.add_row(Text(check.image.name), mark, f"{check.milliseconds:.0f}", Text(seen))
    return table
