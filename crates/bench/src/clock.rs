//! Timing: the best of a few runs, since everything but the work itself only makes a run slower.

use std::fs;
use std::time::{Duration, Instant};

/// How long some work took.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub wall: Duration,
    /// Time of this thread on a processor, which others who use the machine do not change much; the wall clock where the system does not tell.
    pub cpu: Duration,
}

/// Runs `work` several times; the shortest times, and what the last run gave.
pub fn best_of<T, E>(runs: usize, mut work: impl FnMut() -> Result<T, E>) -> Result<(Times, T), E> {
    let mut once = || {
        let (wall, cpu) = (Instant::now(), on_processor());
        let value = work()?;
        let wall = wall.elapsed();
        let cpu =
            (on_processor().zip(cpu)).map_or(wall, |(after, before)| after.saturating_sub(before));
        Ok((Times { wall, cpu }, value))
    };
    let (mut best, mut value) = once()?;
    for _ in 1..runs {
        let (times, again) = once()?;
        best.wall = best.wall.min(times.wall);
        best.cpu = best.cpu.min(times.cpu);
        value = again;
    }
    Ok((best, value))
}

/// How long this thread has been on a processor.
fn on_processor() -> Option<Duration> {
    let times = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = times.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// Millions a second.
pub fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}
