# The mutants of the ring and of the flag of a sleeping place, in which ring_model must find an error.
apgas_mutants(ring comm/transports/shm/src/ring.hpp
  publish_releases_nothing
    [[at_ += bytes;
    shared_->written.store(at_, base::release);]]
    [[at_ += bytes;
    shared_->written.store(at_, base::relaxed);]]
  look_acquires_nothing
    [[shared_->written.load(base::acquire)]] [[shared_->written.load(base::relaxed)]]
  release_releases_nothing
    [[read.store(at_, base::release)]] [[read.store(at_, base::relaxed)]]
  a_single_record_is_not_released
    [[if (empty() && released_ != at_) release();]] [[]]
  reserve_acquires_nothing
    [[const std::uint64_t read = shared_->read.load(base::acquire)]]
    [[const std::uint64_t read = shared_->read.load(base::relaxed)]]
  a_copy_changes_unseen
    [[shared_->written.store(at_, base::release);  // P1
    for]]
    [[for]]
  a_copy_releases_nothing
    [[copy[i].store(words[i], base::release)]] [[copy[i].store(words[i], base::relaxed)]]
  a_copy_acquires_nothing
    [[copy[i].load(base::acquire)]] [[copy[i].load(base::relaxed)]]
  a_copy_is_trusted
    [[return shared_->written.load(base::relaxed) == seen_]] [[return true]]
  publish_with_copy_releases_nothing
    [[1U, base::release);  // P1]] [[1U, base::relaxed);  // P1]]
  a_record_more_than_fits
    [[if (end - read_ > mask_ + 1) return no_room;]] [[if (end - read_ > mask_ + 25) return no_room;]]
)
# One that only a ring with two senders shows, which take turns.
apgas_mutants(ring_senders comm/transports/shm/src/ring.hpp
  a_copy_hides_the_record_before
    [[shared_->written.store(at_, base::release);  // P1
    for]]
    [[shared_->written.store(at_, base::relaxed);  // P1
    for]]
)
apgas_mutants(sleep comm/transports/shm/src/sleep_flag.hpp
  announce_without_fence
    [[asleep_.store(1, base::relaxed);
    base::full_fence();]]
    [[asleep_.store(1, base::relaxed);]]
  take_without_fence
    [[base::full_fence();  // P1
    return]]
    [[return]]
  the_flag_is_not_taken
    [[asleep_.exchange(0, base::relaxed) != 0]] [[asleep_.load(base::relaxed) != 0]]
)
