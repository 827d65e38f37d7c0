// Launches with a cluster shape.
#pragma once
#include <cutlass/cutlass.h>

namespace cutlass {

#define CUTLASS_SM90_CLUSTER_LAUNCH_ENABLED

struct ClusterLauncher {
    static constexpr int MaxClusterSize = 32;
    static Status init(const void *kernel)
    {
        cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        return Status::kSuccess;
    }
    static Status launch(dim3 grid, dim3 cluster, dim3 block, size_t smem, cudaStream_t stream, const void *kernel, void **arguments,
                         bool with_pdl = false)
    {
        cudaLaunchAttribute attributes[2];
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim.x = cluster.x;
        attributes[0].val.clusterDim.y = cluster.y;
        attributes[0].val.clusterDim.z = cluster.z;
        attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[1].val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = grid;
        config.blockDim = block;
        config.dynamicSmemBytes = smem;
        config.stream = stream;
        config.attrs = attributes;
        config.numAttrs = with_pdl ? 2 : 1;
        return cudaLaunchKernelExC(&config, kernel, arguments) == cudaSuccess ? Status::kSuccess : Status::kInvalid;
    }
};

struct ClusterLaunchParams {
    dim3 grid_dims{1, 1, 1};
    dim3 block_dims{1, 1, 1};
    dim3 cluster_dims{1, 1, 1};
    int dynamic_smem_size_in_bytes = 0;
    cudaStream_t cuda_stream = nullptr;
};
template <class... Args> Status launch_kernel_on_cluster(const ClusterLaunchParams &params, const void *kernel, Args &&...arguments)
{
    void *addresses[] = {(void *)&arguments...};
    return ClusterLauncher::launch(params.grid_dims, params.cluster_dims, params.block_dims, params.dynamic_smem_size_in_bytes,
                                   params.cuda_stream, kernel, addresses);
}

}  // namespace cutlass
