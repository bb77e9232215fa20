"""A byte-level BPE tokenizer of 32000 tokens, trained on this repository's own text, and a model's config without weights.
Usage: python3 model.py FOLDER FILE ..."""
import json,os,sys
from tokenizers import Tokenizer,models,pre_tokenizers,decoders,trainers
out=sys.argv[1]; os.makedirs(out,exist_ok=True)
t=Tokenizer(models.BPE()); t.pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False); t.decoder=decoders.ByteLevel()
end='<|endoftext|>'
t.train(sys.argv[2:],trainers.BpeTrainer(vocab_size=32000,special_tokens=[end],initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),show_progress=False))
t.add_tokens([f'<|spare{i}|>' for i in range(32000-t.get_vocab_size())])
t.save(f'{out}/tokenizer.json'); print('vocabulary',t.get_vocab_size())
json.dump({'tokenizer_class':'PreTrainedTokenizerFast','eos_token':end,'model_max_length':40960,'clean_up_tokenization_spaces':False},open(f'{out}/tokenizer_config.json','w'))
json.dump({'architectures':['Qwen3ForCausalLM'],'model_type':'qwen3','attention_bias':False,'attention_dropout':0.0,'bos_token_id':0,'eos_token_id':0,'head_dim':128,
 'hidden_act':'silu','hidden_size':2048,'initializer_range':0.02,'intermediate_size':6144,'max_position_embeddings':40960,'max_window_layers':28,'num_attention_heads':16,
 'num_hidden_layers':28,'num_key_value_heads':8,'rms_norm_eps':1e-06,'rope_theta':1000000,'sliding_window':None,'tie_word_embeddings':True,'torch_dtype':'bfloat16',
 'use_cache':True,'use_sliding_window':False,'vocab_size':32000},open(f'{out}/config.json','w'),indent=1)
