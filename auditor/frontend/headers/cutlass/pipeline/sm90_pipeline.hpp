// Pipelines: rings of two mbarriers a stage, and what each class arms, arrives at and counts.
#pragma once
#include <cute/container/array.hpp>
#include <cutlass/arch/barrier.h>

namespace cutlass {

using namespace cute;

enum class BarrierStatus : uint32_t { WaitAgain = 0u, WaitDone = 1u };

class ArrivalToken {
    BarrierStatus status_;

  public:
    ArrivalToken() = delete;
    __host__ __device__ ArrivalToken(BarrierStatus status) : status_(status) {}
    __host__ __device__ BarrierStatus get() const { return status_; }
    __host__ __device__ bool operator==(const ArrivalToken &other) const { return status_ == other.status_; }
    friend __host__ __device__ bool operator==(const ArrivalToken &a, const BarrierStatus &b) { return a.status_ == b; }
    friend __host__ __device__ bool operator==(const BarrierStatus &a, const ArrivalToken &b) { return a == b.status_; }
    friend __host__ __device__ bool operator!=(const ArrivalToken &a, const BarrierStatus &b) { return a.status_ != b; }
    friend __host__ __device__ bool operator!=(const BarrierStatus &a, const ArrivalToken &b) { return a != b.status_; }
};
class ProducerToken : public ArrivalToken {
    using ArrivalToken::ArrivalToken;
};
class ConsumerToken : public ArrivalToken {
    using ArrivalToken::ArrivalToken;
};

// ---- the position in a ring ----
template <uint32_t n> struct PipelineState {
    static constexpr uint32_t Stages = n;
    int index_ = 0;
    uint32_t phase_ = 0;
    uint32_t count_ = 0;

    __device__ PipelineState() {}
    __device__ PipelineState(int index, uint32_t phase, uint32_t count) : index_(index), phase_(phase), count_(count) {}
    __device__ int index() const { return index_; }
    __device__ uint32_t phase() const { return phase_; }
    __device__ uint32_t count() const { return count_; }
    __device__ void operator++()
    {
        if constexpr (n > 0) {
            ++count_;
            if (++index_ == (int)n) {
                index_ = 0;
                phase_ ^= 1;
            }
        }
    }
    __device__ PipelineState &advance(uint32_t steps)
    {
        if constexpr (n > 0) {
            const uint32_t to = (uint32_t)index_ + steps;
            phase_ ^= (to / n) & 1;
            index_ = to % n;
            count_ += steps;
        }
        return *this;
    }
    template <uint32_t steps> __device__ PipelineState &advance() { return advance(steps); }
    __device__ PipelineState &operator+=(uint32_t steps) { return advance(steps); }
    static __device__ PipelineState make_pipeline_state(PipelineState from, uint32_t steps) { return from.advance(steps); }
};

template <class Pipeline> __device__ PipelineState<Pipeline::Stages> make_producer_start_state() { return {0, 1, 0}; }

// ---- what all rings have ----
template <int n, class Full> class __bw_Ring {
  public:
    static constexpr uint32_t Stages = n;
    using FullBarrier = Full;
    using EmptyBarrier = arch::ClusterBarrier;
    using ProducerBarrierType = uint64_t;
    using ConsumerBarrierType = uint64_t;
    using PipelineState = cutlass::PipelineState<Stages>;
    enum class ThreadCategory { NonParticipant, Producer, Consumer, ProducerConsumer };
    struct SharedStorage {
        FullBarrier full_barrier_[Stages];
        EmptyBarrier empty_barrier_[Stages];
    };

    __device__ ProducerToken producer_try_acquire(PipelineState s, uint32_t skip = false)
    {
        return {skip ? BarrierStatus::WaitDone : (BarrierStatus)empty_barrier_ptr_[s.index()].try_wait(s.phase())};
    }
    __device__ ProducerBarrierType *producer_get_barrier(PipelineState s) { return producer_get_barrier((uint32_t)s.index()); }
    __device__ ProducerBarrierType *producer_get_barrier(uint32_t stage)
    {
        return reinterpret_cast<ProducerBarrierType *>(&full_barrier_ptr_[stage]);
    }
    __device__ ConsumerToken consumer_try_wait(PipelineState s, uint32_t skip = false)
    {
        return {skip ? BarrierStatus::WaitDone : (BarrierStatus)full_barrier_ptr_[s.index()].try_wait(s.phase())};
    }
    __device__ ConsumerToken consumer_test_wait(PipelineState s, uint32_t skip = false)
    {
        return {skip ? BarrierStatus::WaitDone : (BarrierStatus)full_barrier_ptr_[s.index()].test_wait(s.phase())};
    }
    __device__ void consumer_wait(PipelineState s, ConsumerToken token = {BarrierStatus::WaitAgain})
    {
        if (token == BarrierStatus::WaitAgain)
            full_barrier_ptr_[s.index()].wait(s.phase());
    }
    __device__ void producer_tail(PipelineState s)
    {
        for (uint32_t i = 0; i < Stages; ++i) {
            empty_barrier_ptr_[s.index()].wait(s.phase());
            ++s;
        }
    }

  protected:
    FullBarrier *full_barrier_ptr_;
    EmptyBarrier *empty_barrier_ptr_;

    __device__ __bw_Ring(FullBarrier *full, EmptyBarrier *empty) : full_barrier_ptr_(full), empty_barrier_ptr_(empty) {}
    __device__ void __bw_acquire(PipelineState s, ProducerToken token)
    {
        if (token == BarrierStatus::WaitAgain)
            empty_barrier_ptr_[s.index()].wait(s.phase());
    }
    static __device__ void __bw_init(FullBarrier *full, EmptyBarrier *empty, int warp, int full_count, int empty_count)
    {
        if (canonical_warp_idx_sync() == warp)
            arch::detail::initialize_barrier_array_pair_aligned<FullBarrier *, EmptyBarrier *, Stages>(full, empty, full_count, empty_count);
        arch::fence_barrier_init();
    }
};

namespace detail {
// Which thread of a warpgroup, or of a warp, releases a stage for which of up to 16 CTAs.
BW_DEV cute::tuple<bool, uint32_t> spread_arrivals_to_warpgroup(int thread, int warp)
{
    const uint32_t row = warp % 4, col = thread / 8 % 4;
    return {thread % 8 == 0, (row ^ col) << 2 | col};
}
BW_DEV cute::tuple<bool, uint32_t> spread_arrivals_to_warp(int lane)
{
    return {lane % 2 == 0, (uint32_t)(lane / 8 * 4 + lane % 8 / 2)};
}
template <class Count> __device__ cute::tuple<bool, uint32_t> __bw_spread(Count consumers, int warp)
{
    if (consumers % 128 == 0)
        return spread_arrivals_to_warpgroup(threadIdx.x % 128, warp);
    if (consumers == 32)
        return spread_arrivals_to_warp(threadIdx.x % 32);
    return {false, 0u};
}
}  // namespace detail

// ---- tensor copies fill, threads release: in a cluster, one thread for each CTA of the row and of the column ----
template <int n> class PipelineTmaAsync : public __bw_Ring<n, arch::ClusterTransactionBarrier> {
    using Ring = __bw_Ring<n, arch::ClusterTransactionBarrier>;

  public:
    using typename Ring::PipelineState;
    using typename Ring::ProducerBarrierType;
    using typename Ring::SharedStorage;
    using typename Ring::ThreadCategory;
    struct Params {
        uint32_t transaction_bytes = 0;
        ThreadCategory role = ThreadCategory::NonParticipant;
        uint32_t is_leader = 0;
        uint32_t num_consumers = 0;
        uint32_t num_producers = 1;
        int initializing_warp = 0;
    };

    template <class ClusterShape> static __device__ void init_barriers(SharedStorage &storage, Params params, ClusterShape shape)
    {
        uint32_t releases = params.num_consumers;
        if (cute::size(shape) > 1)
            releases = (cute::size<0>(shape) + cute::size<1>(shape) - 1) * ((params.num_consumers + 127) / 128);
        Ring::__bw_init(storage.full_barrier_, storage.empty_barrier_, params.initializing_warp, params.num_producers, releases);
    }
    template <class ClusterShape, class InitBarriers = cute::true_type, class InitMasks = cute::true_type>
    __device__ PipelineTmaAsync(SharedStorage &storage, Params params, ClusterShape shape, InitBarriers = {}, InitMasks = {})
        : Ring(storage.full_barrier_, storage.empty_barrier_), params_(params)
    {
        const int warp = canonical_warp_idx_sync();  // a shuffle: behind the initialisation it would order the warp
        if constexpr (InitBarriers::value)
            init_barriers(storage, params, shape);
        if constexpr (InitMasks::value) {
            if (cute::size(shape) > 1) {
                auto [signals, rank] = detail::__bw_spread(params.num_consumers, warp);
                rank_ = rank;
                signals_ = signals && (int)rank < cute::size(shape) && is_same_row_or_col(rank, cute::block_id_in_cluster(), shape);
            } else {
                signals_ = true;
            }
        }
    }
    template <class ClusterShape> __device__ bool is_same_row_or_col(int rank, dim3 block, ClusterShape shape)
    {
        return rank % cute::size<0>(shape) == (int)block.x || rank / cute::size<0>(shape) == (int)block.y;
    }

    __device__ void producer_acquire(PipelineState s, ProducerToken token = {BarrierStatus::WaitAgain})
    {
        this->__bw_acquire(s, token);
        if (params_.is_leader)
            this->full_barrier_ptr_[s.index()].arrive_and_expect_tx(params_.transaction_bytes);
    }
    __device__ void producer_expect_transaction(PipelineState s, uint32_t bytes)
    {
        if (params_.is_leader)
            this->full_barrier_ptr_[s.index()].expect_transaction(bytes);
    }
    __device__ void producer_commit(PipelineState, uint32_t) {}  // the copies themselves complete the phase
    template <class Arrive> __device__ void producer_commit(PipelineState s, Arrive &&arrive) { arrive(this->producer_get_barrier(s)); }
    __device__ void consumer_release(PipelineState s) { this->empty_barrier_ptr_[s.index()].arrive(rank_, signals_); }

  private:
    Params params_;
    uint32_t rank_ = 0;
    uint32_t signals_ = 0;
};

// ---- tensor stores: groups of the thread that issues them ----
template <int n, int in_flight = n - 1> class PipelineTmaStore {
  public:
    static constexpr uint32_t Stages = n;
    static constexpr uint32_t UnacquiredStages = in_flight < 0 ? 0 : in_flight;
    using PipelineState = cutlass::PipelineState<Stages>;
    struct Params {
        bool always_wait = false;
    };
    __device__ PipelineTmaStore(Params params = {}) : params_(params) {}
    __device__ void producer_acquire(PipelineState s)
    {
        if (params_.always_wait || s.count() > UnacquiredStages)
            cute::tma_store_wait<UnacquiredStages>();
    }
    __device__ void producer_commit(PipelineState) { cute::tma_store_arrive(); }
    __device__ void producer_tail(PipelineState) { cute::tma_store_wait<0>(); }

  private:
    Params params_;
};

// ---- threads fill and release, with bytes to expect ----
template <int n> class PipelineTransactionAsync : public __bw_Ring<n, arch::ClusterTransactionBarrier> {
    using Ring = __bw_Ring<n, arch::ClusterTransactionBarrier>;

  public:
    using typename Ring::EmptyBarrier;
    using typename Ring::FullBarrier;
    using typename Ring::PipelineState;
    using typename Ring::ThreadCategory;
    struct SharedStorage {
        cute::array<FullBarrier, n> full_barrier_;
        cute::array<EmptyBarrier, n> empty_barrier_;
    };
    struct Params {
        ThreadCategory role = ThreadCategory::NonParticipant;
        uint32_t transaction_bytes = 0;
        uint32_t producer_arv_count = 1;
        uint32_t consumer_arv_count = 1;
        uint32_t dst_blockid = cute::block_rank_in_cluster();
        int initializing_warp = 0;
    };

    static __device__ void init_barriers(SharedStorage &storage, const Params &params)
    {
        Ring::__bw_init(storage.full_barrier_.data(), storage.empty_barrier_.data(), params.initializing_warp,
                        params.producer_arv_count, params.consumer_arv_count);
    }
    template <class InitBarriers = cute::true_type>
    __device__ PipelineTransactionAsync(SharedStorage &storage, const Params &params, InitBarriers = {})
        : Ring(storage.full_barrier_.data(), storage.empty_barrier_.data()), params_(params)
    {
        if constexpr (InitBarriers::value)
            init_barriers(storage, params);
    }
    __device__ void producer_acquire(PipelineState s, ProducerToken token = {BarrierStatus::WaitAgain}) { this->__bw_acquire(s, token); }
    __device__ void producer_expect_transaction(PipelineState s)
    {
        this->full_barrier_ptr_[s.index()].expect_transaction(params_.transaction_bytes);
    }
    __device__ void producer_commit(PipelineState s) { this->full_barrier_ptr_[s.index()].arrive(params_.dst_blockid); }
    __device__ void consumer_release(PipelineState s) { this->empty_barrier_ptr_[s.index()].arrive(params_.dst_blockid); }

  private:
    Params params_;
};

// ---- threads fill and release ----
template <int n> class PipelineAsync : public __bw_Ring<n, arch::ClusterBarrier> {
    using Ring = __bw_Ring<n, arch::ClusterBarrier>;

  public:
    using typename Ring::PipelineState;
    using typename Ring::SharedStorage;
    using typename Ring::ThreadCategory;
    struct Params {
        ThreadCategory role = ThreadCategory::NonParticipant;
        uint32_t producer_arv_count = 1;
        uint32_t consumer_arv_count = 1;
        uint32_t dst_blockid = cute::block_rank_in_cluster();
        int initializing_warp = 0;
    };

    static __device__ void init_barriers(SharedStorage &storage, Params params)
    {
        Ring::__bw_init(storage.full_barrier_, storage.empty_barrier_, params.initializing_warp, params.producer_arv_count,
                        params.consumer_arv_count);
    }
    template <class InitBarriers = cute::true_type>
    __device__ PipelineAsync(SharedStorage &storage, const Params &params, InitBarriers = {})
        : Ring(storage.full_barrier_, storage.empty_barrier_), params_(params)
    {
        if constexpr (InitBarriers::value)
            init_barriers(storage, params);
    }
    __device__ PipelineAsync(SharedStorage &storage) : PipelineAsync(storage, Params{}, cute::true_type{}) {}

    __device__ void producer_acquire(PipelineState s, ProducerToken token = {BarrierStatus::WaitAgain}) { this->__bw_acquire(s, token); }
    __device__ void producer_commit(PipelineState s) { this->full_barrier_ptr_[s.index()].arrive(); }
    template <class Arrive> __device__ void producer_commit(PipelineState s, Arrive &&arrive)
    {
        arrive(this->producer_get_barrier(s));
        producer_commit(s);
    }
    __device__ void consumer_release(PipelineState s) { this->empty_barrier_ptr_[s.index()].arrive(params_.dst_blockid); }

  protected:
    Params params_;
};

// ---- groups that take turns ----
namespace PipelineDetail {
template <int n> using PipelineAsyncPipelineState = cutlass::PipelineState<n>;
template <int n> using PipelineAsyncSharedStorage = typename PipelineAsync<n>::SharedStorage;
template <int depth, int length> struct OrderedSequenceBarrierSharedStorage {
    using Barrier = arch::ClusterBarrier;
    Barrier barrier_[depth][length];
};
}  // namespace PipelineDetail

template <int depth, int length> class OrderedSequenceBarrier {
  public:
    static constexpr int SequenceDepth = depth;
    static constexpr int SequenceLength = length;
    using SharedStorage = PipelineDetail::OrderedSequenceBarrierSharedStorage<depth, length>;
    using Barrier = arch::ClusterBarrier;
    struct Params {
        uint32_t group_id;
        uint32_t group_size;
        int initializing_warp = 0;
    };

    OrderedSequenceBarrier() = delete;
    OrderedSequenceBarrier(const OrderedSequenceBarrier &) = delete;
    __device__ OrderedSequenceBarrier(SharedStorage &storage, const Params &params)
        : params_(params), barrier_ptr_(&storage.barrier_[0][0]), stage_(0, params.group_id == 0, 0)
    {
        if (canonical_warp_idx_sync() == params.initializing_warp)
            arch::detail::initialize_barrier_array_aligned<Barrier *, (uint32_t)(depth * length)>(barrier_ptr_, params.group_size);
        arch::fence_barrier_init();
    }
    __device__ void wait() { __bw_of(params_.group_id).wait(stage_.phase()); }
    __device__ void arrive()
    {
        __bw_of((params_.group_id + 1) % length).arrive();
        ++stage_;
    }
    __device__ void advance() { ++stage_; }

  private:
    Params params_;
    Barrier *barrier_ptr_;
    PipelineState<depth> stage_;
    __device__ Barrier &__bw_of(int group) { return barrier_ptr_[stage_.index() * length + group]; }
};

// ---- the barriers of a pipeline become known to all who use them ----
BW_DEV void pipeline_init_arrive_relaxed(int cluster_size)
{
    if (cluster_size > 1)
        cute::cluster_arrive_relaxed();
    else
        __syncthreads();
}
BW_DEV void pipeline_init_wait(int cluster_size)
{
    if (cluster_size > 1)
        cute::cluster_wait();
    else
        __syncthreads();
}

}  // namespace cutlass
