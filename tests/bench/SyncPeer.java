// SPDX-License-Identifier: Apache-2.0

// One sample of java.util.concurrent.Phaser for sync_bench, which starts it:
//   java SyncPeer WORK KIND WORKERS MEMBERS PHASES BUDGET CHECK_ALL
// Prints the seconds for all phases, and 1 if the result is right. Threads are platform threads or
// virtual threads. A first run, which is not measured, lets the compiler compile the code. The
// steps of a run are described in lock_step.hpp.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

public final class SyncPeer {
  private static final long FIRST = 5;  // the first counted phase

  private static boolean virtual;
  private static int members;
  private static long phases;
  private static double budget;
  private static boolean checkAll;
  private static long[] cells;  // the contribution of each member, 64 bytes apart
  private static long sum;      // written by the last arriver, read by all before the next phase
  private static volatile long end;  // of the counted phases

  private static double now() {
    return System.nanoTime() * 1e-9;
  }

  private static void start(Runnable r) throws Exception {
    if (virtual) {  // by reflection, so that Java before 21 compiles this
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, r);
    } else {
      new Thread(r).start();
    }
  }

  private static boolean step(Phaser phaser, boolean reduce, int member, long phase) {
    if (!reduce) {
      phaser.arriveAndAwaitAdvance();
      return true;
    }
    cells[member * 8] = member + phase;
    phaser.arriveAndAwaitAdvance();
    return sum == (long) members * (members - 1) / 2 + members * phase;
  }

  private static boolean checked(
      Phaser phaser, boolean reduce, int member, long phase, AtomicLongArray reached) {
    reached.setOpaque(member * 8, phase + 1);
    boolean right = step(phaser, reduce, member, phase);
    return reached.getOpaque((member + 1) % members * 8) > phase && right;
  }

  // Returns the member's seconds for the counted phases; negative if something was wrong.
  private static double run(Phaser phaser, boolean reduce, int member, AtomicLongArray reached) {
    boolean right = checked(phaser, reduce, member, 0, reached);
    right &= checked(phaser, reduce, member, 1, reached);
    double first = now();
    right &= step(phaser, reduce, member, 2);
    right &= step(phaser, reduce, member, 3);
    if (member == 0) {
      double most = budget / Math.max((now() - first) / 2, 1e-9);
      end = FIRST + Math.max(4, Math.min(phases, (long) most));
    }
    right &= checked(phaser, reduce, member, 4, reached);
    double begin = now();
    for (long phase = FIRST; phase < end; ++phase) {
      if (member == 0 && phase % 64 == 0 && now() - begin > budget) end = Math.min(end, phase + 2);
      right &=
          checkAll
              ? checked(phaser, reduce, member, phase, reached)
              : step(phaser, reduce, member, phase);
    }
    double seconds = now() - begin;
    right &= checked(phaser, reduce, member, end, reached);
    return right ? seconds : -1;
  }

  // The mean of the members' seconds for the planned number of phases; negative if something was
  // wrong.
  private static double lockStep(boolean reduce) throws Exception {
    Phaser phaser =
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
            seconds[member] = run(phaser, reduce, member, reached);
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

  // The parent registers one more child in each round; children stay to the end.
  private static boolean grow() throws Exception {
    Phaser phaser = new Phaser(1);
    AtomicLong total = new AtomicLong();
    CountDownLatch ended = new CountDownLatch(members - 1);
    for (int child = 1; child < members; ++child) {
      int rounds = members - child;
      phaser.register();
      start(
          () -> {
            for (int i = 0; i < rounds; ++i) phaser.arriveAndAwaitAdvance();
            phaser.arriveAndDeregister();
            total.addAndGet(rounds);
            ended.countDown();
          });
      phaser.arriveAndAwaitAdvance();
      total.incrementAndGet();
    }
    phaser.arriveAndDeregister();
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
