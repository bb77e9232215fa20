"""Runs llama.cpp's server with a model. Usage: llama.py FILE PORT [SETTING=NUMBER ...]

A setting is an attribute of xllamacpp.CommonParams, such as n_parallel=8 or n_threads=2.
"""

import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_ctx = 16384
params.n_parallel = 4
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1
params.endpoint_metrics = True
params.warmup = False
for setting in sys.argv[3:]:
    name, value = setting.split("=")
    owner = params.cpuparams if name == "n_threads" else params
    setattr(owner, name, type(getattr(owner, name))(int(value)))
server = xllamacpp.Server(params)
print("listening on", server.listening_address, flush=True)
signal.pause()
