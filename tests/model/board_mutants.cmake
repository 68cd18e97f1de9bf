# The mutants of bulletin boards, in which board_model must find an error.
apgas_mutants(board places/team_protocol/include/apgas/places/bulletin_board.hpp
  publish_releases_nothing
    [[word_.store(key.word(), base::release)]] [[word_.store(key.word(), base::relaxed)]]
  look_acquires_nothing
    [[post_key::of(word_.load(base::acquire))]] [[post_key::of(word_.load(base::relaxed))]]
  a_post_more_than_fits
    [[taken.number >= next.number - slots]] [[taken.number + 1 >= next.number - slots]]
  taken_in_another_collective
    [[return taken.collective == next.collective && ]] [[return ]]
)
apgas_mutants(board_sleep places/team_protocol/include/apgas/places/bulletin_board.hpp
  announce_without_fence
    [[(member + 1), base::relaxed);
    base::full_fence();]]
    [[(member + 1), base::relaxed);]]
  look_without_fence
    [[static void fence_before_look() noexcept { base::full_fence(); }]]
    [[static void fence_before_look() noexcept {}]]
)
apgas_mutants(board_zero_copy places/team_protocol/include/apgas/places/bulletin_board.hpp
  withdraw_without_fence
    [[word_.store(0, base::relaxed);
    base::full_fence();  // P4]]
    [[word_.store(0, base::relaxed);]]
  remains_without_fence
    [[base::full_fence();  // P4
    return word_]]
    [[return word_]]
)
