import sys,time,xllamacpp as x
p=x.CommonParams(); p.model.path=sys.argv[1]; p.n_ctx=16384; p.n_parallel=4; p.port=int(sys.argv[2]); p.endpoint_metrics=True; p.warmup=False
p.cpuparams.n_threads=1; p.n_gpu_layers=0
s=x.Server(p); print("listening",s.listening_address,flush=True)
while True: time.sleep(1)
