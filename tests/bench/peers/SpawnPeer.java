// SPDX-License-Identifier: Apache-2.0

// Java's fork-join pool and its virtual threads as peers; README.md describes the arguments and the
// output. The first run lets the compiler compile the code.

import java.lang.reflect.Method;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveTask;

public final class SpawnPeer {
  private static final class Fib extends RecursiveTask<Long> {
    private final int n;

    Fib(int n) { this.n = n; }

    @Override
    protected Long compute() {
      if (n < 2) return (long) n;
      Fib child = new Fib(n - 1);
      child.fork();
      long b = new Fib(n - 2).compute();
      return child.join() + b;
    }
  }

  // By reflection, so that Java before 21 compiles this.
  private static final Method START_VIRTUAL = startVirtual();

  private static Method startVirtual() {
    try {
      return Thread.class.getMethod("startVirtualThread", Runnable.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static long virtualFib(int n) {
    if (n < 2) return n;
    long[] a = new long[1];
    try {
      Runnable body = () -> a[0] = virtualFib(n - 1);
      Thread child = (Thread) START_VIRTUAL.invoke(null, body);
      long b = virtualFib(n - 2);
      child.join();
      return a[0] + b;
    } catch (ReflectiveOperationException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  // The root runs in a virtual thread, too.
  private static long virtualRoot(int n) throws Exception {
    long[] result = new long[1];
    Runnable body = () -> result[0] = virtualFib(n);
    ((Thread) START_VIRTUAL.invoke(null, body)).join();
    return result[0];
  }

  private static long serialFib(int n) {
    long a = 0;
    long b = 1;
    for (int i = 0; i < n; ++i) {
      long sum = a + b;
      a = b;
      b = sum;
    }
    return a;
  }

  public static void main(String[] args) throws Exception {
    if (args.length != 4 || !args[1].equals("fib")) {
      System.err.println("usage: SpawnPeer forkjoin|virtual fib WORKERS N");
      System.exit(2);
    }
    boolean virtual = args[0].equals("virtual");
    int n = Integer.parseInt(args[3]);
    ForkJoinPool pool = new ForkJoinPool(Integer.parseInt(args[2]));
    boolean verified = true;
    double least = Double.MAX_VALUE;
    for (int i = 0; i < 4; ++i) {
      long begin = System.nanoTime();
      long result = virtual ? virtualRoot(n) : pool.invoke(new Fib(n));
      double seconds = (System.nanoTime() - begin) * 1e-9;
      verified &= result == serialFib(n);
      if (i > 0) least = Math.min(least, seconds);
    }
    System.out.printf(
        java.util.Locale.ROOT, "{\"seconds\":%.9f,\"verified\":%b}%n", least, verified);
  }
}
