//! What the agent counts, for `--stats`.

use std::collections::BTreeMap;
use std::sync::Mutex;

/// Counters by name; touched once per class, so a lock is cheap enough.
#[derive(Debug, Default)]
pub struct Counters(Mutex<BTreeMap<String, u64>>);

impl Counters {
    pub fn add(&self, name: &str, amount: u64) {
        if let Ok(mut all) = self.0.lock() {
            *all.entry(name.to_owned()).or_default() += amount;
        }
    }

    pub fn all(&self) -> BTreeMap<String, u64> {
        self.0.lock().map(|all| all.clone()).unwrap_or_default()
    }
}
