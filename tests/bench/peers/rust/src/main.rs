// SPDX-License-Identifier: Apache-2.0

// rayon, chili and tokio as peers; ../README.md describes the arguments and the output.

use std::future::Future;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn serial_fib(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

fn rayon_fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| rayon_fib(n - 1), || rayon_fib(n - 2));
    a + b
}

fn chili_fib(scope: &mut chili::Scope<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = scope.join(|s| chili_fib(s, n - 1), |s| chili_fib(s, n - 2));
    a + b
}

fn tokio_fib(n: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if n < 2 {
            return n;
        }
        let a = tokio::spawn(tokio_fib(n - 1));
        let b = tokio_fib(n - 2).await;
        a.await.expect("a task failed") + b
    })
}

fn timed_fib(n: u64, fib: impl FnOnce() -> u64) -> (Duration, bool) {
    let begin = Instant::now();
    let result = fib();
    (begin.elapsed(), result == serial_fib(n))
}

#[repr(align(64))]
struct Reached(AtomicUsize);

struct Members {
    barrier: tokio::sync::Barrier,
    reached: Vec<Reached>,
    wrong: AtomicBool,
}

impl Members {
    async fn checked(&self, member: usize, phase: usize) {
        self.reached[member].0.store(phase, Relaxed);
        self.barrier.wait().await;
        if self.reached[(member + 1) % self.reached.len()]
            .0
            .load(Relaxed)
            < phase
        {
            self.wrong.store(true, Relaxed);
        }
    }

    // Two checked phases, in which all members start; the counted ones; one checked phase.
    async fn run(self: Arc<Self>, member: usize, phases: usize) -> Duration {
        self.checked(member, 1).await;
        self.checked(member, 2).await;
        let begin = Instant::now();
        for _ in 0..phases {
            self.barrier.wait().await;
        }
        let spent = begin.elapsed();
        self.checked(member, 3).await;
        spent
    }
}

async fn tokio_barrier(members: usize, phases: usize) -> (Duration, bool) {
    let all = Arc::new(Members {
        barrier: tokio::sync::Barrier::new(members),
        reached: (0..members).map(|_| Reached(AtomicUsize::new(0))).collect(),
        wrong: AtomicBool::new(false),
    });
    let tasks: Vec<_> = (0..members)
        .map(|member| tokio::spawn(all.clone().run(member, phases)))
        .collect();
    let mut first = None;
    for task in tasks {
        let spent = task.await.expect("a member failed");
        first = first.or(Some(spent));
    }
    (first.expect("there are members"), !all.wrong.load(Relaxed))
}

fn tokio_runtime(workers: usize) -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .build()
        .expect("tokio starts")
}

// The function that does the work once, or None if the arguments name no work.
fn work(arguments: &[String]) -> Option<Box<dyn FnMut() -> (Duration, bool)>> {
    let number = |i: usize| arguments.get(i).and_then(|text| text.parse::<u64>().ok());
    let workers = number(2)? as usize;
    let n = number(3)?;
    match (arguments[0].as_str(), arguments[1].as_str(), number(4)) {
        ("rayon", "fib", None) => {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(workers)
                .build()
                .ok()?;
            Some(Box::new(move || {
                pool.install(|| timed_fib(n, || rayon_fib(n)))
            }))
        }
        ("chili", "fib", None) => {
            // The calling thread is one of them.
            let pool = chili::ThreadPool::with_config(chili::Config {
                thread_count: NonZero::new(workers),
                ..Default::default()
            });
            Some(Box::new(move || {
                let mut scope = pool.scope();
                timed_fib(n, || chili_fib(&mut scope, n))
            }))
        }
        ("tokio", "fib", None) => {
            let runtime = tokio_runtime(workers);
            Some(Box::new(move || {
                timed_fib(n, || {
                    runtime.block_on(async { tokio::spawn(tokio_fib(n)).await.expect("fib") })
                })
            }))
        }
        ("tokio", "barrier", Some(phases)) => {
            let runtime = tokio_runtime(workers);
            Some(Box::new(move || {
                runtime.block_on(tokio_barrier(n as usize, phases as usize))
            }))
        }
        _ => None,
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(mut run) = work(&arguments) else {
        eprintln!("usage: rust_peers rayon|chili|tokio fib WORKERS N | tokio barrier WORKERS MEMBERS PHASES");
        std::process::exit(2);
    };
    let (_, mut verified) = run();
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let (seconds, right) = run();
        least = least.min(seconds);
        verified &= right;
    }
    println!(
        "{{\"seconds\":{:.9},\"verified\":{verified}}}",
        least.as_secs_f64()
    );
}
