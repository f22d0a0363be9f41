//! The program model.

mod assumptions;
pub mod classes;
mod error;
pub mod heap;
mod ids;
pub mod ir;
pub mod library;
pub mod load;
pub mod locks;
mod plan;
mod program;
pub mod threads;

pub use assumptions::{Assumption, Assumptions};
pub use error::LoadError;
pub use ids::*;
pub use plan::LoadPlan;
pub use program::{Program, Stats};
