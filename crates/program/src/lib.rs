//! The program model.

mod assumptions;
pub mod classes;
mod error;
mod ids;
pub mod ir;
pub mod load;

pub use assumptions::{Assumption, Assumptions};
pub use error::LoadError;
pub use ids::*;
