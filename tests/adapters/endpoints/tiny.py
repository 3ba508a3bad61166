"""Makes a tiny language model as a file for llama.cpp, and serves it; runs where xllamacpp, gguf and numpy are.

The model is closed form: the chance of each next byte is counted in a text, by the byte before it, and written into the
output matrix; attention and feed-forward are zero. So everything that it answers can be worked out by hand.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path

import gguf
import numpy as np
import xllamacpp
from numpy.typing import NDArray

SPECIAL = [
    "<|endoftext|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|repo_name|>",
    "<|file_sep|>", "<|im_start|>", "<|im_end|>",
]  # fmt: skip
END, MIDDLE, PAD, TURN = 256, 259, 260, 264
SIZE = 272
"""Tokens: 256 bytes, these, and some that fill up."""
SMOOTH = 1e-4
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def printable() -> list[str]:
    """GPT-2's name for each byte."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in kept else chr(next(others)) for byte in range(256)]


def chances(text: str) -> NDArray[np.float64]:
    """Row: a token; column: the logarithm of how likely each comes next. The text's first byte begins any middle."""
    counts = np.full((SIZE, SIZE), SMOOTH)
    tokens = [MIDDLE, *text.encode(), END]
    for before, token in pairwise(tokens):
        counts[before, token] += 1
    found: NDArray[np.float64] = np.log(counts / counts.sum(1, keepdims=True))
    return found


def write(path: Path, text: str) -> None:
    """The model of that text."""
    names = printable()
    tokens = [*names, *SPECIAL, names[0] * 2]
    tokens += [f"<|unused{number}|>" for number in range(SIZE - len(tokens))]
    kinds = [gguf.TokenType.NORMAL] * 256 + [gguf.TokenType.CONTROL] * len(SPECIAL) + [gguf.TokenType.NORMAL]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(4096)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(1)
    writer.add_feed_forward_length(32)
    writer.add_head_count(1)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE)
    writer.add_vocab_size(SIZE)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(kinds + [gguf.TokenType.UNUSED] * (SIZE - len(kinds)))
    writer.add_token_merges([f"{names[0]} {names[0]}"])
    writer.add_bos_token_id(END)
    writer.add_eos_token_id(END)
    writer.add_eot_token_id(TURN)
    writer.add_pad_token_id(PAD)
    writer.add_add_bos_token(False)
    for number, name in enumerate(("pre", "suf", "mid", "pad", "rep", "sep"), 257):
        writer.add_uint32(f"tokenizer.ggml.fim_{name}_token_id", number)
    writer.add_chat_template(CHATML)
    tensors = {
        "token_embd": np.eye(SIZE),
        # The norm of a row with a single 1 is undone exactly.
        "output_norm": np.ones(SIZE) * np.sqrt((1 + SIZE * 1e-5) / SIZE),
        "output": chances(text).T,
    }
    zeros = {"attn_norm": (SIZE,), "ffn_norm": (SIZE,), "ffn_gate": (32, SIZE), "ffn_up": (32, SIZE)}
    zeros |= {"ffn_down": (SIZE, 32)} | {f"attn_{each}": (SIZE, SIZE) for each in ("q", "k", "v", "output")}
    tensors |= {f"blk.0.{name}": np.zeros(shape) for name, shape in zeros.items()}
    for name, values in tensors.items():
        writer.add_tensor(f"{name}.weight", np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path: Path) -> xllamacpp.Server:
    """llama.cpp's own server, with one slot and no memory of earlier questions: exact answers."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.port = 0
    params.n_gpu_layers = 0
    params.n_ctx, params.n_batch, params.n_parallel = 4096, 1024, 1
    params.cpuparams.n_threads = 1
    params.warmup = params.fit_params = params.cache_prompt = False
    params.cache_ram_mib = 0
    params.offline = True
    return xllamacpp.Server(params)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    write(file, Path(sys.argv[2]).read_text())
    server = serve(file)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    while sys.stdin.read(1):
        time.sleep(0.1)
