"""Readers of tasks whose tests judge changes of a repository.

swe_rows      rows of SWE-bench's shape
harbor        folders of Harbor; `dockerfile`, `harbor_script` and `pytest_names` read their parts
task_folder   the bounded reading of such a folder
"""

from trainer_client.tasks.repositories.harbor import HarborTask, harbor
from trainer_client.tasks.repositories.swe_rows import swe

__all__ = ["HarborTask", "harbor", "swe"]
