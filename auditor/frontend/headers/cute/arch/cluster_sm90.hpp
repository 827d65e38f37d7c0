// Clusters: barrier, ranks, addresses in other CTAs, and the election of a lane.
#pragma once
#include <cute/arch/util.hpp>

namespace cute {

BW_DEV void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
BW_DEV void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
BW_DEV void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
BW_DEV void cluster_sync()
{
    cluster_arrive();
    cluster_wait();
}

BW_DEV dim3 cluster_grid_dims() { return __clusterGridDimInClusters(); }
BW_DEV dim3 cluster_id_in_grid() { return __clusterIdx(); }
BW_DEV dim3 block_id_in_cluster() { return __clusterRelativeBlockIdx(); }
BW_DEV dim3 cluster_shape() { return __clusterDim(); }
BW_DEV uint32_t block_rank_in_cluster() { return __clusterRelativeBlockRank(); }
BW_DEV uint32_t set_block_rank(uint32_t address, uint32_t rank)
{
    uint32_t r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(address), "r"(rank));
    return r;
}

struct ElectOneLaneIdReturnType {
    uint32_t is_leader;
    uint32_t leader_lane_id;
};
BW_DEV ElectOneLaneIdReturnType elect_one_leader_sync()
{
    ElectOneLaneIdReturnType r;
    asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.b32 %1, 1, 0, p; }"
                 : "=r"(r.leader_lane_id), "=r"(r.is_leader)::"memory");
    return r;
}
BW_DEV uint32_t elect_one_sync()
{
    uint32_t r;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(r)::"memory");
    return r;
}

BW_DEV void store_shared_remote(uint32_t value, uint32_t address, uint32_t barrier, uint32_t rank)
{
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 ::"r"(set_block_rank(address, rank)), "r"(value), "r"(set_block_rank(barrier, rank)) : "memory");
}

}  // namespace cute
