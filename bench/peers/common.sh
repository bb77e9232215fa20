# shellcheck shell=bash disable=SC2034 # the names are for those that source it
# What the scripts here share; to be sourced.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
peers=${PITOT_PEERS:-$HOME/.cache/pitot-peers}
# Each has a script of its name in clients/.
tools=(vllm vllm-rust sglang sglang-rust guidellm aiperf inference-perf)
