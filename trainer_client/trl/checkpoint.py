"""Makes a trainable checkpoint of a GGUF file.

transformers reads a GGUF file into a model that it takes for purely quantized, and neither trains
nor saves. The weights are plain by then: copied into a fresh model, they do both.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path


def trainable_checkpoint(gguf: Path, cache: Path) -> Path:
    """Gives the folder of a checkpoint with the weights and tokenizer of a GGUF file.

    The first call takes seconds and writes it into `cache`; later ones find it there.

    Raises:
        FileNotFoundError: there is no such file.
    """
    size = gguf.stat().st_size
    folder = cache / f"{gguf.stem}-{size}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        _build(gguf, folder)
    return folder


def _build(gguf: Path, folder: Path) -> None:
    """Writes the checkpoint beside its place and moves it there when it is whole."""
    draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        _convert(gguf, draft)
        os.rename(draft, folder)
    except OSError:
        # Another process was quicker; its checkpoint is as good.
        if not folder.is_dir():
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


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
