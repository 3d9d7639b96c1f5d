"""Prints the hash of each package in a report of `pip install --report`, one line a package."""

import json
import sys

for package in json.load(sys.stdin)["install"]:
    metadata, archive = package["metadata"], package["download_info"]["archive_info"]
    print("pypi", metadata["name"], metadata["version"], archive["hashes"]["sha256"], sep="\t")
