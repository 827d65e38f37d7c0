// Pipelines of tcgen05: a commit is an arrival.
#pragma once
#include <cutlass/pipeline/sm90_pipeline.hpp>

namespace cutlass {

enum class McastDirection { kRow, kCol, kRowCol };

namespace detail {
// The CTAs (x, y) of a cluster for which a predicate holds, as a mask of their ranks.
template <class ClusterShape, class Taken> __device__ uint16_t __bw_mask(ClusterShape shape, Taken taken)
{
    uint32_t mask = 0;
    for (int y = 0; y < cute::size<1>(shape); ++y)
        for (int x = 0; x < cute::size<0>(shape); ++x)
            if (taken(x, y))
                mask |= 1u << (x + y * cute::size<0>(shape));
    return (uint16_t)mask;
}
template <McastDirection direction, class ClusterShape, class Atom>
__device__ uint16_t calculate_multicast_mask(ClusterShape shape, Atom atom, dim3 block)
{
    const int w = cute::size<0>(atom), h = cute::size<1>(atom), bx = (int)block.x / w, by = (int)block.y / h;
    return __bw_mask(shape, [=](int x, int y) {
        if constexpr (direction == McastDirection::kRow)
            return x / w == bx;
        else if constexpr (direction == McastDirection::kCol)
            return y / h == by;
        else
            return x / w == bx || y / h == by;
    });
}
template <class ClusterShape, class Atom> __device__ uint16_t calculate_umma_peer_mask(ClusterShape shape, Atom atom, dim3 block)
{
    const int w = cute::size<0>(atom), h = cute::size<1>(atom), bx = (int)block.x / w, by = (int)block.y / h;
    return __bw_mask(shape, [=](int x, int y) { return x / w == bx && y / h == by; });
}
}  // namespace detail

// ---- MMAs fill, threads release: accumulators ----
template <int n, class Atom = Shape<_1, _1, _1>> class PipelineUmmaAsync : public PipelineAsync<n> {
    using Base = PipelineAsync<n>;

  public:
    using AtomThrShape_MNK = Atom;
    using typename Base::Params;
    using typename Base::PipelineState;
    using typename Base::SharedStorage;
    using typename Base::ThreadCategory;

    template <class ClusterShape> __device__ void init_masks(ClusterShape shape, dim3 block = cute::block_id_in_cluster())
    {
        if (this->params_.role == ThreadCategory::Producer)
            mask_ = detail::calculate_umma_peer_mask(shape, Atom{}, block);
    }
    template <class ClusterShape, class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineUmmaAsync(SharedStorage &storage, Params params, ClusterShape shape, InitBarriers = {}, InitMasks = {})
        : Base(storage, params, InitBarriers{})
    {
        if constexpr (InitMasks::value)
            init_masks(shape);
    }
    __device__ void producer_commit(PipelineState s)
    {
        const uint64_t *bar = this->producer_get_barrier(s);
        if constexpr (pair)
            arch::umma_arrive_multicast_2x1SM(bar, mask_);
        else
            arch::umma_arrive(bar);
    }
    __device__ void consumer_release(PipelineState s)
    {
        if constexpr (pair)
            arch::umma_arrive_2x1SM_sm0(reinterpret_cast<uint64_t *>(&this->empty_barrier_ptr_[s.index()]));
        else
            Base::consumer_release(s);
    }

  private:
    static constexpr bool pair = cute::size(Atom{}) > 1;
    uint16_t mask_ = 0;
};

// ---- threads fill, MMAs release ----
template <int n, class Atom = Shape<_1, _1, _1>> class PipelineUmmaConsumerAsync : public PipelineAsync<n> {
    using Base = PipelineAsync<n>;

  public:
    using AtomThrShape_MNK = Atom;
    using typename Base::Params;
    using typename Base::PipelineState;
    using typename Base::SharedStorage;
    using typename Base::ThreadCategory;

    template <class ClusterShape> __device__ void init_masks(ClusterShape shape, dim3 block = cute::block_id_in_cluster())
    {
        if (this->params_.role == ThreadCategory::Consumer)
            mask_ = detail::calculate_umma_peer_mask(shape, Atom{}, block);
    }
    template <class ClusterShape, class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineUmmaConsumerAsync(SharedStorage &storage, Params params, ClusterShape shape, InitBarriers = {}, InitMasks = {})
        : Base(storage, params, InitBarriers{})
    {
        if constexpr (InitMasks::value)
            init_masks(shape);
    }
    __device__ void producer_commit_local(PipelineState s) { Base::producer_commit(s); }
    template <class Arrive> __device__ void producer_commit_local(PipelineState s, Arrive &&arrive)
    {
        arrive(this->producer_get_barrier(s));
        producer_commit_local(s);
    }
    __device__ void producer_commit(PipelineState s)
    {
        if constexpr (pair)
            arch::umma_arrive_2x1SM_sm0(this->producer_get_barrier(s));
        else
            Base::producer_commit(s);
    }
    template <class Arrive> __device__ void producer_commit(PipelineState s, Arrive &&arrive)
    {
        arrive(this->producer_get_barrier(s));
        producer_commit(s);
    }
    __device__ void consumer_release(PipelineState s)
    {
        const uint64_t *bar = reinterpret_cast<uint64_t *>(&this->empty_barrier_ptr_[s.index()]);
        if constexpr (pair)
            arch::umma_arrive_multicast_2x1SM(bar, mask_);
        else
            arch::umma_arrive(bar);
    }

  private:
    static constexpr bool pair = cute::size(Atom{}) > 1;
    uint16_t mask_ = 0;
};

// ---- tensor copies fill, MMAs release: to the CTAs that share an operand ----
template <int n, class ClusterShape = Shape<int, int, _1>, class Atom = Shape<_1, _1, _1>>
class PipelineTmaUmmaAsync : public PipelineTmaAsync<n> {
    using Base = PipelineTmaAsync<n>;

  public:
    using AtomThrShape_MNK = Atom;
    using McastDirection = cutlass::McastDirection;
    using typename Base::Params;
    using typename Base::PipelineState;
    using typename Base::SharedStorage;
    using typename Base::ThreadCategory;

    static __device__ void init_barriers(SharedStorage &storage, Params params, ClusterShape shape)
    {
        Base::__bw_init(storage.full_barrier_, storage.empty_barrier_, params.initializing_warp, 1,
                        cute::size<0>(shape) / cute::size<0>(Atom{}) + cute::size<1>(shape) / cute::size<1>(Atom{}) - 1);
    }
    static __device__ void init_barriers(SharedStorage &storage, Params params, ClusterShape shape, McastDirection direction)
    {
        const int columns = cute::size<0>(shape) / cute::size<0>(Atom{}), rows = cute::size<1>(shape) / cute::size<1>(Atom{});
        Base::__bw_init(storage.full_barrier_, storage.empty_barrier_, params.initializing_warp, 1,
                        direction == McastDirection::kRow ? rows : columns);
    }
    __device__ void init_masks(ClusterShape shape, dim3 block = cute::block_id_in_cluster())
    {
        if (role_ == ThreadCategory::Consumer)
            mask_ = detail::calculate_multicast_mask<McastDirection::kRowCol>(shape, Atom{}, block);
    }
    __device__ void init_masks(ClusterShape shape, McastDirection direction)
    {
        const dim3 block = cute::block_id_in_cluster();
        mask_ = direction == McastDirection::kRow ? detail::calculate_multicast_mask<McastDirection::kRow>(shape, Atom{}, block)
                                                  : detail::calculate_multicast_mask<McastDirection::kCol>(shape, Atom{}, block);
    }
    template <class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineTmaUmmaAsync(SharedStorage &storage, Params params, ClusterShape shape, InitBarriers = {}, InitMasks = {})
        : Base(storage, params, shape, cute::false_type{}, cute::false_type{}), role_(params.role)
    {
        if constexpr (InitBarriers::value)
            init_barriers(storage, params, shape);
        if constexpr (InitMasks::value)
            init_masks(shape);
    }
    template <class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineTmaUmmaAsync(SharedStorage &storage, Params params, ClusterShape shape, McastDirection direction,
                                    InitBarriers = {}, InitMasks = {})
        : Base(storage, params, shape, cute::false_type{}, cute::false_type{}), role_(params.role)
    {
        if constexpr (InitBarriers::value)
            init_barriers(storage, params, shape, direction);
        if constexpr (InitMasks::value)
            init_masks(shape, direction);
    }
    __device__ void consumer_release(PipelineState s)
    {
        const uint64_t *bar = reinterpret_cast<uint64_t *>(&this->empty_barrier_ptr_[s.index()]);
        if constexpr (cute::size(Atom{}) > 1)
            arch::umma_arrive_multicast_2x1SM(bar, mask_);
        else if constexpr (lone)
            arch::umma_arrive(bar);
        else
            arch::umma_arrive_multicast(bar, mask_);
    }

  private:
    static constexpr bool __bw_lone()
    {
        if constexpr (cute::is_static_v<ClusterShape>)
            return cute::size(ClusterShape{}) == 1;
        else
            return false;
    }
    static constexpr bool lone = __bw_lone();
    ThreadCategory role_;
    uint16_t mask_ = 0;
};

// ---- the same, with metadata of sparse operands in some stages ----
template <int n, class ClusterShape = Shape<int, int, _1>, class Atom = Shape<_1, _1, _1>>
class PipelineTmaSparseUmmaAsync : public PipelineTmaUmmaAsync<n, ClusterShape, Atom> {
    using Base = PipelineTmaUmmaAsync<n, ClusterShape, Atom>;

  public:
    using typename Base::Params;
    using typename Base::PipelineState;
    using typename Base::SharedStorage;
    struct ParamsMetadata {
        uint32_t transaction_bytes = 0;
        uint32_t metadata_transaction_bytes = 0;
    };
    template <class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineTmaSparseUmmaAsync(SharedStorage &storage, Params params, ParamsMetadata bytes, ClusterShape shape,
                                          InitBarriers a = {}, InitMasks b = {})
        : Base(storage, params, shape, a, b), bytes_(bytes), leads_(params.is_leader)
    {
    }
    __device__ void producer_acquire(PipelineState s, bool metadata, ProducerToken token = {BarrierStatus::WaitAgain})
    {
        this->__bw_acquire(s, token);
        if (leads_)
            this->full_barrier_ptr_[s.index()].arrive_and_expect_tx(
                bytes_.transaction_bytes + (metadata ? bytes_.metadata_transaction_bytes : 0));
    }
    __device__ void producer_acquire(PipelineState s, ProducerToken token = {BarrierStatus::WaitAgain}) { producer_acquire(s, true, token); }

  private:
    ParamsMetadata bytes_;
    uint32_t leads_;
};

// ---- tensor copies fill, threads that transform the tile release ----
template <int n, class Atom = Shape<_1, _1, _1>> class PipelineTmaTransformAsync : public PipelineTmaAsync<n> {
    using Base = PipelineTmaAsync<n>;

  public:
    using AtomThrShape_MNK = Atom;
    using typename Base::Params;
    using typename Base::PipelineState;
    using typename Base::SharedStorage;
    using typename Base::ThreadCategory;

    template <class ClusterShape> static __device__ void init_barriers(SharedStorage &storage, Params params, ClusterShape shape)
    {
        const int columns = cute::size<0>(shape) / cute::size<0>(Atom{}), rows = cute::size<1>(shape) / cute::size<1>(Atom{});
        Base::__bw_init(storage.full_barrier_, storage.empty_barrier_, params.initializing_warp, 1,
                        (columns + rows - 1) * (((int)params.num_consumers + 127) / 128));
    }
    template <class ClusterShape>
    __device__ void init_masks(ClusterShape shape, dim3 block = cute::block_id_in_cluster(), McastDirection direction = McastDirection::kRowCol)
    {
        if (params_.role != ThreadCategory::Consumer)
            return;
        auto [signals, rank] = detail::__bw_spread(params_.num_consumers, canonical_warp_idx_sync());
        const int w = cute::size<0>(Atom{}), x = (int)rank % cute::size<0>(shape), y = (int)rank / cute::size<0>(shape);
        const bool same_half = x % w == (int)block.x % w;
        bool reached = (int)rank < cute::size(shape);
        if (direction == McastDirection::kRowCol)
            reached = reached && (x == (int)block.x || (y == (int)block.y && same_half));
        if (direction == McastDirection::kRow)
            reached = reached && x == (int)block.x && same_half;
        rank_ = rank;
        signals_ = signals && reached;
    }
    template <class ClusterShape, class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineTmaTransformAsync(SharedStorage &storage, Params params, ClusterShape shape, InitBarriers = {}, InitMasks = {})
        : Base(storage, params, shape, cute::false_type{}, cute::false_type{}), params_(params)
    {
        if constexpr (InitBarriers::value)
            init_barriers(storage, params, shape);
        if constexpr (InitMasks::value)
            init_masks(shape);
    }
    __device__ void consumer_release(PipelineState s, uint32_t skip = false)
    {
        this->empty_barrier_ptr_[s.index()].arrive(rank_, signals_ & !skip);
    }

  private:
    Params params_;
    uint32_t rank_ = 0;
    uint32_t signals_ = 0;
};

// ---- answers of cluster launch control: one lane arms each CTA of the cluster ----
namespace PipelineDetail {
template <int n> using PipelineCLCFetchAsyncPipelineState = cutlass::PipelineState<n>;
template <int n> using PipelineCLCFetchAsyncSharedStorage = typename __bw_Ring<n, arch::ClusterTransactionBarrier>::SharedStorage;
}  // namespace PipelineDetail

template <int n, class ClusterShape = Shape<int, int, _1>>
class PipelineCLCFetchAsync : public __bw_Ring<n, arch::ClusterTransactionBarrier> {
    using Ring = __bw_Ring<n, arch::ClusterTransactionBarrier>;

  public:
    using typename Ring::PipelineState;
    using typename Ring::SharedStorage;
    using typename Ring::ThreadCategory;
    struct Params {
        uint32_t transaction_bytes = 0;
        ThreadCategory role = ThreadCategory::NonParticipant;
        uint32_t is_leader = 0;
        uint32_t num_consumers = 0;
        uint32_t producer_blockid = 0;
        uint32_t producer_arv_count = 0;
        uint32_t consumer_arv_count = 0;
        int initializing_warp = 0;
    };
    __device__ PipelineCLCFetchAsync(SharedStorage &storage, const Params &params)
        : Ring(storage.full_barrier_, storage.empty_barrier_), params_(params)
    {
        const dim3 shape = cute::cluster_shape();
        ctas_ = shape.x * shape.y;
        __bw_open(storage);
    }
    __device__ PipelineCLCFetchAsync(SharedStorage &storage, const Params &params, ClusterShape shape)
        : Ring(storage.full_barrier_, storage.empty_barrier_), params_(params), ctas_(cute::size(shape))
    {
        __bw_open(storage);
    }
    __device__ void producer_acquire(PipelineState s, ProducerToken token = {BarrierStatus::WaitAgain})
    {
        this->__bw_acquire(s, token);
        this->full_barrier_ptr_[s.index()].arrive_and_expect_tx(params_.transaction_bytes, canonical_lane_idx(),
                                                                (uint32_t)(canonical_lane_idx() < ctas_));
    }
    __device__ void producer_commit(PipelineState s)
    {
        this->full_barrier_ptr_[s.index()].complete_transaction(canonical_lane_idx(), params_.transaction_bytes,
                                                                (uint32_t)(canonical_lane_idx() < ctas_));
    }
    __device__ void consumer_release(PipelineState s) { this->empty_barrier_ptr_[s.index()].arrive(params_.producer_blockid); }
    __device__ uint32_t producer_get_barrier(PipelineState s) { return cute::cast_smem_ptr_to_uint(&this->full_barrier_ptr_[s.index()]); }

  private:
    Params params_;
    int ctas_;
    __device__ void __bw_open(SharedStorage &storage)
    {
        Ring::__bw_init(storage.full_barrier_, storage.empty_barrier_, params_.initializing_warp, params_.producer_arv_count,
                        params_.consumer_arv_count);
    }
};

// ---- no pipeline ----
class PipelineEmpty {
  public:
    static constexpr uint32_t Stages = 0;
    using PipelineState = cutlass::PipelineState<0>;
    struct Params {};
    struct SharedStorage {};
    __device__ PipelineEmpty(const SharedStorage &, const Params &) {}
    template <class ClusterShape> __device__ PipelineEmpty(const SharedStorage &, const Params &, ClusterShape) {}
    __device__ void producer_acquire(PipelineState, ProducerToken = {BarrierStatus::WaitAgain}) {}
    __device__ void producer_commit(PipelineState) {}
    __device__ void consumer_wait(PipelineState, ConsumerToken = {BarrierStatus::WaitAgain}) {}
    __device__ void consumer_release(PipelineState) {}
};

}  // namespace cutlass
