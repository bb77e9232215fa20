"""Makes a folder with a llama of two layers with random weights, and the tokenizer of another
folder. Usage: tinyhf.py FOLDER TOKENIZER"""

import json
import pathlib
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

out, tokenizer_folder = map(pathlib.Path, sys.argv[1:])
tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_folder / "tokenizer.json"))
torch.manual_seed(1)
config = LlamaConfig(
    vocab_size=max(tokenizer.get_vocab().values()) + 1, hidden_size=64, intermediate_size=128,
    num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=4096,
)
LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(out)
tokenizer.save_pretrained(out)

settings = out / "tokenizer_config.json"
values = json.loads(settings.read_text())
values["chat_template"] = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"
settings.write_text(json.dumps(values))
