"""Prepares the image of a task for the runner: `python3 -I adapt.py FOLDER PRELOAD` in its build.

It notes the folders of this interpreter's packages for the runner, which reads no `.pth` files. It
also moves the repository, and leaves a link to the working folder of executions and sessions in its
place. So what was installed from the repository, such as an editable installation, finds the files
of an execution, and not those of the image.

An interpreter that is too old runs this file too, and has to read it.
"""

import json
import os
import shutil
import sys
import sysconfig

LEAST_VERSION = (3, 11)
HOME = "/opt/codereward"
KEPT = HOME + "/repository"
WORK_FOLDER = "/home/sandbox/work"
# The repository's history may have the solution. Compiled files may be older than what they are of.
LEFT_OUT = (".git", "__pycache__")
SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/opt/codereward", "/proc", "/sbin", "/sys", "/usr")
READABLE, SEARCHABLE = 0o444, 0o111


def main(folder, preload):
    """Prepares this image.

    Args:
        folder: the folder of its repository; empty if it has none.
        preload: names of modules that each container imports once.
    """
    if sys.version_info < LEAST_VERSION:
        fail(f"python3 is {sys.version}; the runner needs 3.11 or later: name one by --python")
    packages = [path for path in package_folders() if not is_below(path, folder)]
    for path in packages:
        check_readable(path)
    if folder:
        move(folder)
    declared = {"packages": packages, "preload": preload, "environment": {}}
    with open(HOME + "/image.json", "w") as file:
        json.dump(declared, file, indent=2)


def package_folders():
    """Returns the folders from which this interpreter imports, without its standard library."""
    paths = sysconfig.get_paths()
    standard = {os.path.realpath(paths[name]) for name in ("stdlib", "platstdlib")}
    standard |= {os.path.join(path, "lib-dynload") for path in standard}
    found = [path for path in sys.path if os.path.isdir(path)]
    return [path for path in found if os.path.realpath(path) not in standard]


def is_below(path, folder):
    """Returns True if a path is a folder or is below it."""
    real = os.path.realpath(folder)
    return bool(folder) and os.path.commonpath((os.path.realpath(path), real)) == real


def check_readable(path):
    """Fails if the users of programs cannot list a folder."""
    here = os.path.realpath(path)
    wanted = 0o005
    while here != "/":
        if os.stat(here).st_mode & wanted != wanted:
            fail(f"programs cannot read the packages in {path}, since {here} is closed")
        here, wanted = os.path.dirname(here), 0o001


def move(folder):
    """Moves the repository, and leaves a link in its place."""
    if os.path.lexists(KEPT):
        fail("the image has a repository already")
    if os.path.islink(folder) or not os.path.isdir(folder):
        fail(f"{folder} is no folder of the image")
    if folder == "/" or any(is_below(folder, path) or is_below(path, folder) for path in SYSTEM):
        fail(f"{folder} belongs to the system, and cannot be moved")
    for path in (sys.executable, sys.prefix, sys.base_prefix):
        if is_below(path, folder):
            fail(f"{path} is in {folder}: install the interpreter and packages elsewhere")
    shutil.copytree(folder, KEPT, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.rmtree(folder)
    os.symlink(WORK_FOLDER, folder)
    for parent, _, names in os.walk(KEPT):
        for path in (parent, *(os.path.join(parent, name) for name in names)):
            if not os.path.islink(path):
                mode = os.stat(path).st_mode
                can_search = mode & 0o100 or path == parent
                os.chmod(path, mode | READABLE | (SEARCHABLE if can_search else 0))


def fail(problem):
    """Ends the build."""
    sys.exit("the image cannot be adapted: " + problem)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2].split())
