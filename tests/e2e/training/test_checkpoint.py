"""A quantized GGUF file becomes a model that trains and saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from trainer_client.trl.checkpoints.conversion import merged_checkpoint, trainable_checkpoint

pytestmark = pytest.mark.training

WIDTH, LAYERS = 64, 1


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a Llama of one layer, quantized to eight bits, with a byte-level tokenizer."""
    import gguf
    from gguf.quants import quantize
    from tokenizers import pre_tokenizers

    file = tmp_path_factory.mktemp("gguf") / "tiny.Q8_0.gguf"
    tokens = ["<bos>", "<eos>", "ab", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, *[1] * (len(tokens) - 2)])
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    generator = np.random.default_rng(0)
    kind = gguf.GGMLQuantizationType.Q8_0
    squares = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]
    shapes = {f"blk.0.{name}.weight": (WIDTH, WIDTH) for name in squares}
    shapes["token_embd.weight"] = (len(tokens), WIDTH)
    for name, shape in shapes.items():
        weights = generator.normal(size=shape).astype(np.float32)
        writer.add_tensor(name, quantize(weights, kind), raw_dtype=kind)
    for name in ("blk.0.attn_norm.weight", "blk.0.ffn_norm.weight", "output_norm.weight"):
        writer.add_tensor(name, np.ones(WIDTH, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_the_checkpoint_has_the_weights_trains_and_saves(gguf_file, tmp_path):
    from gguf import GGUFReader, dequantize
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = trainable_checkpoint(gguf_file, tmp_path / "cache")
    model = AutoModelForCausalLM.from_pretrained(folder)
    layer = model.model.layers[0]
    stored = {tensor.name: tensor for tensor in GGUFReader(gguf_file).tensors}
    for name, weight in {
        "token_embd.weight": model.get_input_embeddings().weight,
        "blk.0.ffn_up.weight": layer.mlp.up_proj.weight,
    }.items():
        expected = dequantize(stored[name].data, stored[name].tensor_type)
        np.testing.assert_allclose(weight.detach().float().numpy(), expected, rtol=0.01)

    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer("def f", return_tensors="pt")
    model(**inputs, labels=inputs["input_ids"]).loss.backward()
    assert layer.mlp.up_proj.weight.grad.abs().sum() > 0
    model.save_pretrained(tmp_path / "saved")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_the_work_is_done_once_and_leaves_no_draft(gguf_file, tmp_path):
    cache = tmp_path / "cache"
    folder = trainable_checkpoint(gguf_file, cache)
    before = (folder / "model.safetensors").stat().st_mtime_ns
    assert trainable_checkpoint(gguf_file, cache) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == before
    assert list(cache.iterdir()) == [folder]


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_another_file_of_the_same_name_and_size_is_another_model(gguf_file, tmp_path):
    other = tmp_path / gguf_file.name
    content = bytearray(gguf_file.read_bytes())
    content[-1] ^= 1
    other.write_bytes(content)
    cache = tmp_path / "cache"
    assert trainable_checkpoint(other, cache) != trainable_checkpoint(gguf_file, cache)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
def test_an_adapter_becomes_the_model_that_it_makes_of_its_own(tiny_model, tmp_path):
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    options = LoraConfig(r=2, target_modules="all-linear", init_lora_weights=False)
    adapted = get_peft_model(base, options).eval()
    adapted.save_pretrained(tmp_path / "adapter")
    folder = merged_checkpoint(tmp_path / "adapter", tmp_path / "cache")
    merged = AutoModelForCausalLM.from_pretrained(folder).eval()
    tokens = AutoTokenizer.from_pretrained(folder)("def f", return_tensors="pt")
    with torch.no_grad():
        expected, found = (model(**tokens).logits for model in (adapted, merged))
        assert not torch.allclose(
            found, AutoModelForCausalLM.from_pretrained(tiny_model)(**tokens).logits, atol=1e-3
        )
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
    assert merged_checkpoint(tmp_path / "adapter", tmp_path / "cache") == folder


def test_a_conversion_that_fails_leaves_nothing_behind(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF")
    with pytest.raises(Exception):  # noqa: B017, PT011  # whatever the reader raises
        trainable_checkpoint(broken, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_absent_file_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        trainable_checkpoint(tmp_path / "absent.gguf", tmp_path / "cache")
