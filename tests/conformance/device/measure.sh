#!/bin/bash
# Builds an interpreter and runs every batch of a folder: measure.sh FOLDER [RUNS] [interpret|stuck]. Needs a Hopper GPU
# and nvcc.
set -u
folder=${1:?usage: measure.sh FOLDER [RUNS] [interpret|stuck]} runs=${2:-120} interpreter=${3:-interpret}
nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -O2 -o "$folder/$interpreter" \
    "$(dirname "$0")/$interpreter.cu" || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for batch in "$folder"/programs-*.txt; do
    out=${batch/programs-/results-}
    timeout 150 "$folder/$interpreter" "$batch" "$runs" > "$out"
    echo "$batch: status $?, $(wc -l < "$out") endings, $(grep error "$out")"
done
