//! Random traces in which threads start and await each other all the time, as text.

use untorn_trace::generate::random_steps;

/// `A` and `E` start by themselves; the others mostly by a fork.
const THREADS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];
const ORPHANS: [bool; 6] = [true, false, false, false, true, false];

#[derive(Clone, Copy, Default)]
struct Life {
    started: bool,
    ended: bool,
    depth: u32,
}

/// The lines of a well-formed trace.
pub fn random_family(seed: u64, steps: usize) -> Vec<String> {
    let mut lives = [Life::default(); 6];
    // A trace has at least one event.
    let mut lines = vec!["A|begin(r0)|1".to_owned()];
    (lives[0].started, lives[0].depth) = (true, 1);
    let vars = 2 + seed % 8;
    for step in random_steps(seed, steps) {
        // Strangers come seldom, or hardly any region would be left to its own threads.
        let t = [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 5, 5, 4][step as usize % 16];
        let (what, operand) = (step >> 8 & 0x1f, step >> 13 & 0x3ff);
        if lives[t].ended || !lives[t].started && !ORPHANS[t] && operand >= 4 {
            continue;
        }
        let mut say = |t: usize, op: String| {
            let line = lines.len() + 1;
            lines.push(format!("{}|{op}|{line}", THREADS[t]));
        };
        let other = operand as usize % THREADS.len();
        let var = u64::from(operand) % vars;
        match what {
            0..=8 => say(t, format!("r(x{var})")),
            9..=17 => say(t, format!("w(x{var})")),
            18..=20 if lives[t].depth < 3 => {
                lives[t].depth += 1;
                say(t, format!("begin(r{})", operand % 7));
            }
            21 if lives[t].depth > 0 => {
                lives[t].depth -= 1;
                say(t, "end".to_owned());
            }
            22..=26 if !lives[other].started && other != t => {
                lives[other].started = true;
                say(t, format!("fork({})", THREADS[other]));
            }
            27..=31 if lives[other].started && !lives[other].ended && other > t => {
                for _ in 0..std::mem::take(&mut lives[other].depth) {
                    say(other, "end".to_owned());
                }
                lives[other].ended = true;
                say(t, format!("join({})", THREADS[other]));
            }
            _ => continue,
        }
        lives[t].started = true;
    }
    lines
}
