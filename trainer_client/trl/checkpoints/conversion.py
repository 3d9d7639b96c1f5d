"""Makes trainable checkpoints from GGUF files, and from adapters without their model.

transformers reads a GGUF file into a model that it marks as quantized, and refuses to train or save
this model. But its weights are not quantized any more. So a new model with copies of these weights
can be trained and saved.

TRL does not accept an adapter as a model. An adapter that is merged into its base model is one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

ADAPTER = "adapter_config.json"


def trainable_checkpoint(gguf: Path, cache: Path) -> Path:
    """Returns the folder of a checkpoint with the weights and tokenizer of a GGUF file.

    The first call takes seconds and writes the checkpoint into `cache`; later calls find it there.

    Raises:
        FileNotFoundError: there is no such file.
    """
    folder = cache / f"{gguf.stem}-{_digest(gguf)}"
    return _kept(folder, lambda draft: _convert(gguf, draft))


def merged_checkpoint(adapter: Path, cache: Path) -> Path:
    """Returns the folder of a checkpoint that has a LoRA adapter merged into its model.

    The first call takes seconds and writes the checkpoint into `cache`; later calls find it there.

    Raises:
        OSError: a file of the adapter or its model is missing.
        ImportError: peft is not installed.
    """
    files = [adapter / ADAPTER, *sorted(adapter.glob("adapter_model.*"))]
    folder = cache / f"{adapter.resolve().name}-{_digest(*files)}"
    return _kept(folder, lambda draft: _merge(adapter, draft))


def _digest(*files: Path) -> str:
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()[:16]


def _kept(folder: Path, make: Callable[[Path], None]) -> Path:
    """Makes a folder unless it exists: next to its path, then moved there when it is complete."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        make(draft)
        os.rename(draft, folder)
    except OSError:
        # Another process was faster, and its checkpoint is equal.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    loaded = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    config = AutoConfig.from_pretrained(**source)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.load_state_dict(loaded.state_dict())
    model.generation_config = loaded.generation_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


def _merge(adapter: Path, folder: Path) -> None:
    from peft import AutoPeftModelForCausalLM, PeftConfig
    from transformers import AutoTokenizer

    AutoPeftModelForCausalLM.from_pretrained(
        adapter, dtype="auto"
    ).merge_and_unload().save_pretrained(folder)
    has_tokenizer = (adapter / "tokenizer_config.json").is_file()
    base = PeftConfig.from_pretrained(adapter).base_model_name_or_path
    AutoTokenizer.from_pretrained(adapter if has_tokenizer else base).save_pretrained(folder)
