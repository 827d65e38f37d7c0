#!/bin/bash
# Builds the interpreter and runs every batch of a folder: measure.sh FOLDER [RUNS]. Needs a Hopper GPU and nvcc.
set -u
folder=${1:?usage: measure.sh FOLDER [RUNS]} runs=${2:-120}
nvcc -arch=sm_90a -std=c++17 -O2 -o "$folder/interpret" "$(dirname "$0")/interpret.cu" || exit 1
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for batch in "$folder"/programs-*.txt; do
    out=${batch/programs-/results-}
    timeout 150 "$folder/interpret" "$batch" "$runs" > "$out"
    echo "$batch: status $?, $(wc -l < "$out") endings, $(grep error "$out")"
done
