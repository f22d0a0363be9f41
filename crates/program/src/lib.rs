//! The program model.

mod assumptions;
mod error;
mod ids;
pub mod load;

pub use assumptions::{Assumption, Assumptions};
pub use error::LoadError;
pub use ids::*;
