#!/bin/bash
# Builds and runs every batch of kernels about groups in a folder: measure_groups.sh FOLDER [RUNS]. Needs a Hopper GPU.
set -u
folder=${1:?usage: measure_groups.sh FOLDER [RUNS]} runs=${2:-300}
here=$(cd "$(dirname "$0")" && pwd)
printf '%s\n' "$folder"/groups-*.cu |
    xargs -P "$(nproc)" -I{} sh -c 'nvcc -gencode=arch=compute_90a,code=sm_90a -std=c++17 -O2 -I"$1" -o "${2%.cu}" "$2"' - "$here" {}
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for source in "$folder"/groups-*.cu; do
    out=${source/groups-/results-}
    out=${out%.cu}.txt
    timeout 60 "${source%.cu}" "$runs" > "$out"
    echo "$source: status $?, $(wc -l < "$out") lines, $(grep error "$out")"
done
