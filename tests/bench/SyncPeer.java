// SPDX-License-Identifier: Apache-2.0

// One sample of java.util.concurrent.Phaser for sync_bench, which starts it:
//   java SyncPeer WORK KIND WORKERS MEMBERS PHASES BUDGET CHECK_ALL
// prints the seconds for all phases, and 1 if what was done is right. Threads are of the platform
// or virtual; a first run that is not measured is there for the compiler. What a run does is in
// lock_step.hpp.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

public final class SyncPeer {
  private static final long FIRST = 5;  // that counts

  private static boolean virtual;
  private static int members;
  private static long phases;
  private static double budget;
  private static boolean checkAll;
  private static long[] cells;  // what each member contributes, 64 bytes apart
  private static long sum;      // written by the last to arrive, read by all before the next phase
  private static volatile long end;  // of the phases that count

  private static double now() {
    return System.nanoTime() * 1e-9;
  }

  private static void start(Runnable r) throws Exception {
    if (virtual) {  // by reflection: Java before 21 compiles this too
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
    } else {
      new Thread(r).start();
    }
  }

  private static boolean step(Phaser meet, boolean reduce, int member, long phase) {
    if (!reduce) {
      meet.arriveAndAwaitAdvance();
      return true;
    }
    cells[member * 8] = member + phase;
    meet.arriveAndAwaitAdvance();
    return sum == (long) members * (members - 1) / 2 + members * phase;
  }

  private static boolean checked(
      Phaser meet, boolean reduce, int member, long phase, AtomicLongArray reached) {
    reached.setOpaque(member * 8, phase + 1);
    boolean right = step(meet, reduce, member, phase);
    return reached.getOpaque((member + 1) % members * 8) > phase && right;
  }

  // Returns the member's seconds for the phases that count; negative when something was wrong.
  private static double run(Phaser meet, boolean reduce, int member, AtomicLongArray reached) {
    boolean right = checked(meet, reduce, member, 0, reached);
    right &= checked(meet, reduce, member, 1, reached);
    double first = now();
    right &= step(meet, reduce, member, 2);
    right &= step(meet, reduce, member, 3);
    if (member == 0) {
      double most = budget / Math.max((now() - first) / 2, 1e-9);
      end = FIRST + Math.max(4, Math.min(phases, (long) most));
    }
    right &= checked(meet, reduce, member, 4, reached);
    double begin = now();
    for (long phase = FIRST; phase < end; ++phase) {
      if (member == 0 && phase % 64 == 0 && now() - begin > budget) end = Math.min(end, phase + 2);
      right &=
          checkAll
              ? checked(meet, reduce, member, phase, reached)
              : step(meet, reduce, member, phase);
    }
    double seconds = now() - begin;
    right &= checked(meet, reduce, member, end, reached);
    return right ? seconds : -1;
  }

  // The mean of the members' seconds, for as many phases as were planned; negative: wrong.
  private static double lockStep(boolean reduce) throws Exception {
    Phaser meet =
        new Phaser(members) {
          @Override
          protected boolean onAdvance(int phase, int registered) {
            if (reduce) {
              long all = 0;
              for (int i = 0; i < members; ++i) all += cells[i * 8];
              sum = all;
            }
            return false;
          }
        };
    cells = new long[members * 8];
    AtomicLongArray reached = new AtomicLongArray(members * 8);
    double[] seconds = new double[members];
    CountDownLatch ended = new CountDownLatch(members);
    for (int i = 0; i < members; ++i) {
      int member = i;
      start(
          () -> {
            seconds[member] = run(meet, reduce, member, reached);
            ended.countDown();
          });
    }
    ended.await();
    double mean = 0;
    for (double each : seconds) {
      if (each < 0) return -1;
      mean += each / members;
    }
    return mean * phases / (end - FIRST);
  }

  // The parent registers one more child in each round; children stay till the end.
  private static boolean grow() throws Exception {
    Phaser meet = new Phaser(1);
    AtomicLong total = new AtomicLong();
    CountDownLatch ended = new CountDownLatch(members - 1);
    for (int child = 1; child < members; ++child) {
      int rounds = members - child;
      meet.register();
      start(
          () -> {
            for (int i = 0; i < rounds; ++i) meet.arriveAndAwaitAdvance();
            meet.arriveAndDeregister();
            total.addAndGet(rounds);
            ended.countDown();
          });
      meet.arriveAndAwaitAdvance();
      total.incrementAndGet();
    }
    meet.arriveAndDeregister();
    ended.await();
    return total.get() == (members - 1) + (long) members * (members - 1) / 2;
  }

  private static double growRepeatedly() throws Exception {
    double begin = now();
    boolean right = true;
    long times = 0;
    double seconds = 0;
    do {
      right &= grow();
      seconds = now() - begin;
    } while (++times < phases && seconds < budget);
    return right ? seconds * phases / times : -1;
  }

  private static double once(String work) throws Exception {
    return work.equals("growing") ? growRepeatedly() : lockStep(work.equals("reduction"));
  }

  public static void main(String[] args) throws Exception {
    virtual = args[1].equals("virtual");
    members = Integer.parseInt(args[3]);
    phases = Long.parseLong(args[4]);
    budget = Double.parseDouble(args[5]);
    checkAll = !args[6].equals("0");
    boolean right = once(args[0]) >= 0;
    double seconds = once(args[0]);
    System.out.printf(
        java.util.Locale.ROOT, "%.9f %d%n", Math.max(0, seconds), right && seconds >= 0 ? 1 : 0);
  }
}
