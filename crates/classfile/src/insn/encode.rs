//! From instructions to code bytes.

use crate::insn::{Cases, Form, Insn, Op, decode::padding};

impl<T: Copy> Insn<T> {
    /// Bytes the instruction takes at offset `at`, jumps in the form their opcode says.
    #[expect(clippy::match_same_arms, reason = "one row for each family of opcodes")]
    pub(crate) fn size(&self, at: u32) -> u32 {
        match self {
            Self::Plain(_) => 1,
            Self::Push { op: Op::Bipush, .. }
            | Self::NewArray(_)
            | Self::Ldc { op: Op::Ldc, .. } => 2,
            Self::Push { .. } | Self::Ldc { .. } | Self::Field { .. } | Self::Type { .. } => 3,
            Self::Local { op, index, form } => match (form, index) {
                (Form::Wide, _) | (_, 256..) => 4,
                (Form::Shortest, 0..=3) if *op != Op::Ret => 1,
                _ => 2,
            },
            Self::Iinc { index, delta, form } => {
                if iinc_is_wide(*index, *delta, *form) {
                    6
                } else {
                    3
                }
            }
            Self::Jump {
                op: Op::GotoW | Op::JsrW,
                ..
            }
            | Self::InvokeDynamic { .. } => 5,
            Self::Jump { .. } => 3,
            Self::Invoke {
                op: Op::Invokeinterface,
                ..
            } => 5,
            Self::Invoke { .. } => 3,
            Self::MultiNewArray { .. } => 4,
            Self::Switch(switch) => {
                1 + padding(at) as u32
                    + match &switch.cases {
                        Cases::Table { targets, .. } => 12 + 4 * targets.len() as u32,
                        Cases::Lookup(pairs) => 8 + 8 * pairs.len() as u32,
                    }
            }
        }
    }

    /// Appends the instruction, whose own offset is `at`; `offset` resolves targets.
    ///
    /// Jumps that need more than 16 bits were rewritten by the layout before this is called.
    pub(crate) fn encode(&self, at: u32, code: &mut Vec<u8>, offset: impl Fn(T) -> u32) {
        let delta = |target: T| offset(target) as i32 - at as i32;
        let byte = self.op() as u8;
        match self {
            Self::Plain(_) => code.push(byte),
            Self::Push {
                op: Op::Bipush,
                value,
            } => code.extend([byte, *value as u8]),
            Self::Push { value, .. } => short(code, byte, *value as u16),
            Self::Ldc {
                op: Op::Ldc,
                constant,
            } => code.extend([byte, constant.0 as u8]),
            Self::Ldc { constant, .. } => short(code, byte, constant.0),
            Self::Local { op, index, form } => match (form, *index) {
                (Form::Wide, index) | (_, index @ 256..) => {
                    code.push(Op::Wide as u8);
                    short(code, byte, index);
                }
                (Form::Shortest, index @ 0..=3) if *op != Op::Ret => {
                    let (long, first) = if *op < Op::Istore {
                        (Op::Iload, Op::Iload0)
                    } else {
                        (Op::Istore, Op::Istore0)
                    };
                    code.push(first as u8 + 4 * (byte - long as u8) + index as u8);
                }
                (_, index) => code.extend([byte, index as u8]),
            },
            Self::Iinc { index, delta, form } => {
                if iinc_is_wide(*index, *delta, *form) {
                    code.push(Op::Wide as u8);
                    short(code, byte, *index);
                    code.extend(delta.to_be_bytes());
                } else {
                    code.extend([byte, *index as u8, *delta as u8]);
                }
            }
            Self::Jump {
                op: Op::GotoW | Op::JsrW,
                target,
            } => {
                code.push(byte);
                code.extend(delta(*target).to_be_bytes());
            }
            Self::Jump { target, .. } => short(code, byte, delta(*target) as u16),
            Self::Field { field, .. } => short(code, byte, field.0),
            Self::Type { class, .. } => short(code, byte, class.0),
            Self::Invoke { op, method, count } => {
                short(code, byte, method.0);
                if *op == Op::Invokeinterface {
                    code.extend([*count, 0]);
                }
            }
            Self::InvokeDynamic { site } => {
                short(code, byte, site.0);
                code.extend([0, 0]);
            }
            Self::NewArray(element) => code.extend([byte, *element as u8]),
            Self::MultiNewArray { class, dimensions } => {
                short(code, byte, class.0);
                code.push(*dimensions);
            }
            Self::Switch(switch) => {
                code.push(byte);
                code.extend(&[0; 3][..padding(at)]);
                code.extend(delta(switch.default).to_be_bytes());
                match &switch.cases {
                    Cases::Table { low, targets } => {
                        code.extend(low.to_be_bytes());
                        code.extend(low.wrapping_add(targets.len() as i32 - 1).to_be_bytes());
                        for &target in targets {
                            code.extend(delta(target).to_be_bytes());
                        }
                    }
                    Cases::Lookup(pairs) => {
                        code.extend((pairs.len() as u32).to_be_bytes());
                        for &(key, target) in pairs {
                            code.extend(key.to_be_bytes());
                            code.extend(delta(target).to_be_bytes());
                        }
                    }
                }
            }
        }
    }
}

fn iinc_is_wide(index: u16, delta: i16, form: Form) -> bool {
    form == Form::Wide || index > 255 || i8::try_from(delta).is_err()
}

fn short(code: &mut Vec<u8>, op: u8, operand: u16) {
    let [high, low] = operand.to_be_bytes();
    code.extend([op, high, low]);
}
