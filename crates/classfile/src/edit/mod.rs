//! Editing class files: see [`ClassEditor`] and [`MethodEditor`].

mod body;
mod class;
mod error;
mod flatten;
mod infer;
mod layout;
mod method;
mod pool;
mod simulate;
mod snippet;
mod state;
mod states;
mod transfer;
mod unchanged;

pub use class::ClassEditor;
pub use error::EditError;
pub use method::MethodEditor;
pub use pool::Pool;
pub use snippet::{Label, Snippet};
pub use state::State;
pub use states::States;
pub use unchanged::rewrite_unchanged;
