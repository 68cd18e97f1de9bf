# The mutants of the lock of a monitor, in which section_model must find an error. Relacy runs all
# atomic read-modify-writes in one order, so it cannot refute an arrive() whose setting of the bit
# releases nothing.
apgas_mutants(section sync/waiting/include/apgas/sync/section_lock.hpp
  enter_acquires_nothing
    [[nobody, word(task), base::acquire, base::relaxed)]]
    [[nobody, word(task), base::relaxed, base::relaxed)]]
  arrive_publishes_no_section
    [[&section, base::release, base::relaxed)]] [[&section, base::relaxed, base::relaxed)]]
  arrive_acquires_nothing
    [[holder, next, base::acq_rel, base::relaxed)]] [[holder, next, base::release, base::relaxed)]]
  arrive_takes_the_lock_without_the_bit
    [[(holder == 0 ? word(task) : holder) | some_arrived;]]
    [[holder == 0 ? word(task) : holder | some_arrived;]]
  leave_releases_nothing
    [[mine, 0, base::release, base::relaxed)]] [[mine, 0, base::relaxed, base::relaxed)]]
  take_before_the_bit_is_cleared
    [[holder_.exchange(word(task), base::acquire);  // P2
    Section* newest = arrived_.exchange(nullptr, base::acquire);]]
    [[Section* newest = arrived_.exchange(nullptr, base::acquire);
    holder_.exchange(word(task), base::acquire);]]
  take_sees_no_section
    [[arrived_.exchange(nullptr, base::acquire)]] [[arrived_.exchange(nullptr, base::relaxed)]]
  pass_forgets_arrivals
    [[word(to) | (mine & some_arrived)]] [[word(to)]]
)
