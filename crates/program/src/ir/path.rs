//! Access paths: how the source names a value, as far as the code of one method shows it.
//!
//! Two values with one path are taken to be the same object when locks are matched: `this.lock` is loaded anew at each use.

use smallvec::SmallVec;

use super::body::{Body, Const, Def, Op};
use crate::ids::{ClassId, FieldId, MethodId, ValueId};

/// Longer paths are cut at the front: they start at the value reached so far.
const LONGEST: usize = 8;

/// A root and the steps from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AccessPath {
    /// Where it starts.
    pub root: Root,
    /// What is read from there, in order.
    pub steps: SmallVec<[Step; 2]>,
}

/// Where an access path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Root {
    /// A parameter, phi, allocation, call result or array element.
    Value(ValueId),
    /// A static field.
    Static(FieldId),
    /// A class object.
    Class(ClassId),
}

/// One step of an access path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// An instance field.
    Field(FieldId),
    /// The result of a call that always gives the same object for one receiver.
    Call(MethodId),
}

impl Body {
    /// The access path of a value; `stable` says which calls give the same result each time.
    pub fn access_path(&self, value: ValueId, stable: &dyn Fn(MethodId) -> bool) -> AccessPath {
        let mut steps = SmallVec::<[Step; 2]>::new();
        let mut at = value;
        let root = loop {
            let Def::Instr(instr) = self.value(at).def else {
                break Root::Value(at);
            };
            if steps.len() >= LONGEST {
                break Root::Value(at);
            }
            match &self.instr(instr).op {
                Op::GetField { object, field } => {
                    steps.push(Step::Field(*field));
                    at = *object;
                }
                Op::Cast { value, .. } => at = *value,
                Op::Invoke { method, args, .. } if args.len() == 1 && stable(*method) => {
                    steps.push(Step::Call(*method));
                    at = args[0];
                }
                Op::GetStatic { field } => break Root::Static(*field),
                Op::Const(Const::Class(class)) => break Root::Class(*class),
                _ => break Root::Value(at),
            }
        };
        steps.reverse();
        AccessPath { root, steps }
    }
}
