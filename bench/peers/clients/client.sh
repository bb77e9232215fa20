# shellcheck shell=bash disable=SC2034 # the names are for those that source it
# What a client is told, by name; to be sourced. conform fills the places in:
#   {url} {model} {requests} {concurrency} {rate} {input_len} {output_len} {seed} {dir} {result}
# In a closed loop the rate is inf, in an open one the concurrency that of all requests.
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
url=$1 model=$2 requests=$3 concurrency=$4 rate=$5 input=$6 output=$7 seed=$8 dir=$9 result=${10}
tokenizer=$peers/tokenizer
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_TELEMETRY=1 TOKENIZERS_PARALLELISM=false
