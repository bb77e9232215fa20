"""Makes a GGUF file with a llama with random weights, whose tokens are bytes and the small
letters. Usage: tiny.py FILE [WIDTH LAYERS]"""

import sys

import gguf
import numpy as np

WIDTH, LAYERS = map(int, sys.argv[2:4] or (64, 2))
HEADS, HIDDEN, CONTEXT = 4, 2 * WIDTH, 4096

own = ["<unk>", "<s>", "</s>"]
octets = [f"<0x{i:02X}>" for i in range(256)]
words = ["▁"] + [chr(c) for c in range(ord("a"), ord("z") + 1)]
kind = gguf.TokenType
kinds = [kind.UNKNOWN, kind.CONTROL, kind.CONTROL] + [kind.BYTE] * len(octets) + [kind.NORMAL] * len(words)
tokens = [t.encode() for t in own + octets + words]

w = gguf.GGUFWriter(sys.argv[1], "llama")
w.add_name("tiny")
w.add_context_length(CONTEXT)
w.add_embedding_length(WIDTH)
w.add_block_count(LAYERS)
w.add_feed_forward_length(HIDDEN)
w.add_head_count(HEADS)
w.add_head_count_kv(HEADS)
w.add_layer_norm_rms_eps(1e-5)
w.add_rope_dimension_count(WIDTH // HEADS)
w.add_vocab_size(len(tokens))
w.add_file_type(gguf.LlamaFileType.ALL_F32)
w.add_tokenizer_model("llama")
w.add_token_list(tokens)
w.add_token_scores([-float(i) for i in range(len(tokens))])
w.add_token_types(kinds)
w.add_bos_token_id(1)
w.add_eos_token_id(2)
w.add_unk_token_id(0)
w.add_add_bos_token(True)
w.add_add_eos_token(False)
w.add_chat_template("{% for m in messages %}{{ m['content'] }}\n{% endfor %}")

rng = np.random.default_rng(1)


def random(name, *shape):
    w.add_tensor(name, (rng.standard_normal(shape) * 0.05).astype(np.float32))


def ones(name):
    w.add_tensor(name, np.ones(WIDTH, np.float32))


random("token_embd.weight", len(tokens), WIDTH)
ones("output_norm.weight")
random("output.weight", len(tokens), WIDTH)
for i in range(LAYERS):
    block = f"blk.{i}."
    ones(block + "attn_norm.weight")
    ones(block + "ffn_norm.weight")
    for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
        random(f"{block}{name}.weight", WIDTH, WIDTH)
    random(block + "ffn_gate.weight", HIDDEN, WIDTH)
    random(block + "ffn_up.weight", HIDDEN, WIDTH)
    random(block + "ffn_down.weight", WIDTH, HIDDEN)
w.write_header_to_file()
w.write_kv_data_to_file()
w.write_tensors_to_file()
w.close()
