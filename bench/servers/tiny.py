import sys, numpy as np, gguf
# A llama of two layers with random weights: 256 bytes as tokens, and a few of its own.
path=sys.argv[1]
D,H,L,F,CTX=64,4,2,128,4096
rng=np.random.default_rng(1)
tokens=["<unk>","<s>","</s>"]+["<0x%02X>"%i for i in range(256)]
types=[gguf.TokenType.UNKNOWN,gguf.TokenType.CONTROL,gguf.TokenType.CONTROL]+[gguf.TokenType.BYTE]*256
words=["▁"]+[chr(c) for c in range(97,123)]
tokens+=words; types+=[gguf.TokenType.NORMAL]*len(words)
V=len(tokens)
w=gguf.GGUFWriter(path,"llama")
w.add_name("tiny"); w.add_context_length(CTX); w.add_embedding_length(D); w.add_block_count(L)
w.add_feed_forward_length(F); w.add_head_count(H); w.add_head_count_kv(H); w.add_layer_norm_rms_eps(1e-5)
w.add_rope_dimension_count(D//H); w.add_vocab_size(V); w.add_file_type(gguf.LlamaFileType.ALL_F32)
w.add_tokenizer_model("llama"); w.add_token_list([t.encode() for t in tokens]); w.add_token_scores([-float(i) for i in range(V)]); w.add_token_types(types)
w.add_bos_token_id(1); w.add_eos_token_id(2); w.add_unk_token_id(0); w.add_add_bos_token(True); w.add_add_eos_token(False)
w.add_chat_template("{% for m in messages %}{{ m['content'] }}\n{% endfor %}")
def t(name,*shape): w.add_tensor(name,(rng.standard_normal(shape)*0.05).astype(np.float32))
t("token_embd.weight",V,D); w.add_tensor("output_norm.weight",np.ones(D,np.float32)); t("output.weight",V,D)
for i in range(L):
    p=f"blk.{i}."
    w.add_tensor(p+"attn_norm.weight",np.ones(D,np.float32)); w.add_tensor(p+"ffn_norm.weight",np.ones(D,np.float32))
    for n in("attn_q","attn_k","attn_v","attn_output"): t(p+n+".weight",D,D)
    t(p+"ffn_gate.weight",F,D); t(p+"ffn_up.weight",F,D); t(p+"ffn_down.weight",D,F)
w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()
