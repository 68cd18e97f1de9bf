# The mutants of the biased lock, in which biased_model must find an error. None leaves out one of
# the heavy fences, the release of a failed entry or the acquisition of held_ by others: a light
# fence is next to each, and in the models that is a full fence.
apgas_mutants(biased base/include/apgas/base/biased_lock.hpp
  others_do_not_look_for_an_owner_in_order
    [[light_fence();  // P2
    if]]
    [[if]]
  gives_up_without_release
    [[thread_.store(0, release)]] [[thread_.store(0, relaxed)]]
  an_owner_that_gave_up_is_not_acquired
    [[thread_.load(acquire)]] [[thread_.load(relaxed)]]
  enters_without_fence
    [[inside_.store(true, relaxed);
    light_fence();]]
    [[inside_.store(true, relaxed);]]
  others_do_not_wait_for_the_owner
    [[wait_for(inside_);]] [[]]
  the_owner_acquires_nothing
    [[!held_.load(acquire);]] [[!held_.load(relaxed);]]
  waits_without_acquiring
    [[while (end.load(acquire)) wait.once();]] [[while (end.load(relaxed)) wait.once();]]
  releases_nothing
    [[inside_ : held_).store(false, release)]] [[inside_ : held_).store(false, relaxed)]]
)
