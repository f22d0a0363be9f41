//! The paper's notation for atomicities, read from annotations and written for the user.

mod parse;
mod print;

pub use parse::{NameScope, NotationError, parse_atomicity, parse_lock};
pub use print::print_atomicity;
