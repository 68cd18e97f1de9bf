# The mutants of the shared barrier, in which barrier_model must find an error. None weakens the
# read-modify-write with which a barrier begins: the barrier that follows it is a fence already.
apgas_mutants(barrier base/include/apgas/base/shared_barrier.hpp
  shares_the_one_in_progress
    [[begun_.fetch_add(0, acq_rel) + 1]] [[begun_.fetch_add(0, acq_rel)]]
  announces_nothing
    [[begun_.fetch_add(0, acq_rel) + 1]] [[begun_.fetch_add(0, relaxed) + 1]]
  ends_before_the_barrier
    [[execute();
    done_.store(n, release); // P2]]
    [[done_.store(n, release); // P2
    execute();]]
)
