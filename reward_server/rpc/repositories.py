"""Converts tests of a repository to domain values; errors name the wrong field."""

from __future__ import annotations

from collections.abc import Sequence

from codereward.v1 import reward_service_pb2 as pb
from reward_server.domain import Framework, ImageInfo, ReportFormat, RepositoryTests, TestCommand
from reward_server.errors import InvalidRequestError, UnsupportedError
from reward_server.languages import Language
from reward_server.rpc import fields, files

MOST_TESTS = 20_000
MOST_PATTERNS = 256
MOST_ARGUMENTS = 256
MOST_VARIABLES = 256
_NAME_BYTES = 1000
_PATTERN_BYTES = 256
IMAGE_BYTES = 512
PATH_BYTES = 1024
TEST_PATCH_BYTES = 8 << 20
_ARGUMENT_BYTES = 64 * 1024
_FRAMEWORKS = {pb.FRAMEWORK_PYTEST: Framework.PYTEST, pb.FRAMEWORK_UNITTEST: Framework.UNITTEST}


def tests(
    given: pb.RepositoryTests, language: Language, images: Sequence[ImageInfo]
) -> RepositoryTests:
    """Converts the tests of a repository.

    Args:
        given: the tests.
        language: the language of the task.
        images: the images on offer.

    Raises:
        InvalidRequestError: a field is malformed, missing or too large.
        UnsupportedError: the server does not have the image, or its sandboxes do not have the
            framework. Whether a named image has it is found out later.
    """
    image = _image(given, language, images)
    image_folder = _image_folder(given, image)
    runner = _runner(given)
    if image is None:
        _check_framework(runner, language)
    names = {
        field: _names(field, getattr(given, field), is_python=isinstance(runner, Framework))
        for field in ("fail_to_pass", "pass_to_pass", "must_fail")
    }
    _check_names(names, runner)
    hidden = files.with_text(
        "test_files", given.test_files, "text_test_files", given.text_test_files
    )
    return RepositoryTests(
        archive=_archive(given),
        folder=_folder(given),
        image_folder=image_folder,
        image="" if image is None else image.digest,
        test_files=files.files("test_files", hidden),
        test_patch=fields.text("test_patch", given.test_patch, TEST_PATCH_BYTES),
        fail_to_pass=names["fail_to_pass"],
        pass_to_pass=names["pass_to_pass"],
        must_fail=names["must_fail"],
        runner=runner,
        protected_paths=_patterns("protected_paths", given.protected_paths),
        changeable_paths=_patterns("changeable_paths", given.changeable_paths),
        import_paths=_import_paths(given, runner),
    )


def _archive(given: pb.RepositoryTests) -> bytes:
    kind = given.WhichOneof("base")
    if kind is None:
        raise InvalidRequestError("base", "is absent; set archive, folder or image_folder")
    if kind == "archive" and not given.archive:
        raise InvalidRequestError("archive", "is empty")
    return given.archive


def _folder(given: pb.RepositoryTests) -> str:
    name = fields.text("folder", given.folder, _PATTERN_BYTES)
    if given.WhichOneof("base") == "folder":
        files.check_path("folder", name)
        if "/" in name or name.startswith("."):
            raise InvalidRequestError("folder", "is no plain name of a folder")
    return name


def _image(
    given: pb.RepositoryTests, language: Language, images: Sequence[ImageInfo]
) -> ImageInfo | None:
    name = fields.text("image", given.image, IMAGE_BYTES)
    if not name:
        return None
    if not images:
        raise UnsupportedError(
            f"repository.image: {name!r} is not on offer, since the sandboxes of this server are "
            "made from no images: leave the field empty, or start the docker backend"
        )
    named = [image for image in images if name in image.names]
    if not named:
        known = ", ".join(image.name for image in images)
        raise UnsupportedError(f"repository.image: {name!r} is not on offer here: {known}")
    for image in named:
        if language.name in image.languages:
            return image
    raise UnsupportedError(f"repository.image: {name} has no {language.name}")


def _image_folder(given: pb.RepositoryTests, image: ImageInfo | None) -> str:
    path = fields.text("image_folder", given.image_folder, PATH_BYTES)
    if given.WhichOneof("base") != "image_folder":
        return ""
    if image is None:
        raise InvalidRequestError("image", "is absent; image_folder is a folder in it")
    if not path or path != image.folder:
        there = f"its repository is {image.folder!r}" if image.folder else "it has none"
        remedy = "make the image with `reward-server images adapt --folder`"
        raise InvalidRequestError(
            "image_folder", f"{path!r} is not the repository of {image.name}: {there}; {remedy}"
        )
    return path


def _names(field: str, given: object, *, is_python: bool) -> tuple[str, ...]:
    names: tuple[str, ...] = tuple(given)  # type: ignore[arg-type]  # a repeated field of text
    fields.at_most(field, len(names), MOST_TESTS)
    for index, name in enumerate(names):
        place = f"{field}[{index}]"
        fields.text(place, name, _NAME_BYTES)
        if not name:
            raise InvalidRequestError(place, "is empty")
        if is_python:
            path, separator, _ = name.partition("::")
            if not separator or not path.endswith(".py"):
                raise InvalidRequestError(place, "is no name such as tests/test_x.py::test_y")
            files.check_path(place, path)
    return names


def _check_names(names: dict[str, tuple[str, ...]], runner: Framework | TestCommand) -> None:
    if not names["fail_to_pass"]:
        raise InvalidRequestError("fail_to_pass", "is absent; at least 1 is needed")
    if names["must_fail"] and isinstance(runner, Framework):
        raise InvalidRequestError(
            "must_fail",
            "needs a command; with a framework, perturbed copies of the tests must fail",
        )
    seen: dict[str, str] = {}
    for field, listed in names.items():
        for name in listed:
            if name in seen:
                raise InvalidRequestError(field, f"has {name!r}, which {seen[name]} has already")
            seen[name] = field


def _runner(given: pb.RepositoryTests) -> Framework | TestCommand:
    kind = given.WhichOneof("runner")
    if kind is None:
        raise InvalidRequestError("runner", "is absent; set framework or command")
    if kind == "command":
        return fields.within("command", lambda: _command(given.command))
    framework = _FRAMEWORKS.get(given.framework)
    if framework is None:
        raise InvalidRequestError(
            "framework", "is neither FRAMEWORK_PYTEST nor FRAMEWORK_UNITTEST; set a command"
        )
    return framework


def _check_framework(runner: Framework | TestCommand, language: Language) -> None:
    if isinstance(runner, Framework) and runner.name.lower() not in language.frameworks:
        raise UnsupportedError(
            f"repository.framework: {runner.name} is not offered for {language.name} here; "
            f"offered are: {', '.join(language.frameworks) or 'commands'}"
        )


def _command(given: pb.TestCommand) -> TestCommand:
    if not given.argv or not given.argv[0]:
        raise InvalidRequestError("argv", "names no executable")
    fields.at_most("argv", len(given.argv), MOST_ARGUMENTS)
    fields.at_most("environment", len(given.environment), MOST_VARIABLES)
    environment = tuple(sorted(given.environment.items()))
    for name, value in environment:
        if not name or "=" in name or "\0" in name + value:
            raise InvalidRequestError("environment", f"{name[:64]!r} is no name of a variable")
        fields.text("environment", value, _ARGUMENT_BYTES)
    return TestCommand(
        argv=fields.each("argv", given.argv, _argument),
        format=fields.choice("format", given.format, ReportFormat),
        environment=environment,
    )


def _argument(text: str) -> str:
    if "\0" in text:
        raise InvalidRequestError("", "holds a null character")
    return fields.text("", text, _ARGUMENT_BYTES)


def _patterns(field: str, given: object) -> tuple[str, ...]:
    patterns: tuple[str, ...] = tuple(given)  # type: ignore[arg-type]  # a repeated field of text
    fields.at_most(field, len(patterns), MOST_PATTERNS)
    for index, one in enumerate(patterns):
        if not one:
            raise InvalidRequestError(f"{field}[{index}]", "is empty")
        fields.text(f"{field}[{index}]", one, _PATTERN_BYTES)
    return patterns


def _import_paths(given: pb.RepositoryTests, runner: Framework | TestCommand) -> tuple[str, ...]:
    paths = _patterns("import_paths", given.import_paths)
    if paths and not isinstance(runner, Framework):
        raise InvalidRequestError("import_paths", "need a framework; set a variable of the command")
    for index, path in enumerate(paths):
        files.check_path(f"import_paths[{index}]", path)
    return paths
