//! Which methods cannot be torn themselves, and which lambdas are where a thread starts: as far as one class file tells.

use crate::PoolIndex;
use crate::insn::{Insn, Op};
use crate::read::{Access, ClassFile, Code, Constant, MemberRef};
use untorn_spec::{MethodFacts, is_task_type, runs_elsewhere};

/// Whether a body makes at most one access or call, and no loop.
///
/// A single access has no parts.
/// A single call has those of the method that it calls, which is a region of its own wherever it is more than this.
/// Final fields of the class itself, and what makes or asks values of the platform, count for nothing: nobody writes there.
pub(crate) fn is_tiny(code: &Code<'_>, class: &ClassFile<'_>) -> bool {
    let mut steps = 0;
    for next in code.instructions() {
        let Ok((at, insn)) = next else {
            return false;
        };
        if insn.targets().any(|to| to <= at) {
            return false;
        }
        steps += match insn {
            Insn::Field { field, .. } => u32::from(!is_constant(class, field)),
            Insn::Plain(op)
                if (Op::Iaload..=Op::Saload).contains(&op)
                    || (Op::Iastore..=Op::Sastore).contains(&op) =>
            {
                1
            }
            Insn::Plain(Op::Monitorenter) | Insn::InvokeDynamic { .. } => return false,
            Insn::Invoke { method, .. } => {
                let Ok(called) = class.pool.method_ref(method) else {
                    return false;
                };
                match cost(&called) {
                    Some(steps) => steps,
                    None => return false,
                }
            }
            _ => 0,
        };
    }
    steps <= 1
}

/// Whether a field is final and the class's own.
fn is_constant(class: &ClassFile<'_>, field: PoolIndex) -> bool {
    let Ok(named) = class.pool.field_ref(field) else {
        return false;
    };
    named.class == class.name
        && (class.fields.iter()).any(|own| {
            own.access.has(Access::FINAL)
                && own.name == named.name
                && own.descriptor == named.descriptor
        })
}

/// How many steps a call is; none if nobody knows.
fn cost(called: &MemberRef<'_>) -> Option<u32> {
    let class: &str = &called.class;
    if called.name == "<init>" {
        // What somebody's constructor does belongs to whoever calls it.
        return class.starts_with("java/").then_some(0);
    }
    let value = matches!(
        class,
        "java/lang/Boolean"
            | "java/lang/Byte"
            | "java/lang/Character"
            | "java/lang/Double"
            | "java/lang/Float"
            | "java/lang/Integer"
            | "java/lang/Long"
            | "java/lang/Math"
            | "java/lang/Short"
            | "java/lang/String"
    );
    let checks = class == "java/util/Objects" && called.name.starts_with("requireNonNull");
    Some(u32::from(!value && !checks))
}

/// Marks the bodies of lambdas that the class hands to threads and executors.
///
/// A lambda is one if it becomes a task by its type, or if what it becomes goes right into a call that runs it elsewhere.
pub(crate) fn find_handed_over(class: &ClassFile<'_>, methods: &mut [MethodFacts]) {
    if !methods.iter().any(|method| method.is_synthetic) {
        return;
    }
    let Ok(bootstraps) = class.attributes.bootstrap_methods() else {
        return;
    };
    for method in &class.methods {
        let Ok(Some(code)) = method.code(&class.pool) else {
            continue;
        };
        // Lambdas made since the last call, which may be its arguments.
        let mut made: Vec<usize> = Vec::new();
        for (_, insn) in code.instructions().map_while(Result::ok) {
            match insn {
                Insn::InvokeDynamic { site } => {
                    let Some((body, is_task)) = lambda(class, &bootstraps, site, methods) else {
                        continue;
                    };
                    methods[body].is_handed_over |= is_task;
                    made.push(body);
                }
                Insn::Invoke { method, .. } => {
                    let called = class.pool.method_ref(method);
                    let elsewhere =
                        called.is_ok_and(|called| runs_elsewhere(&called.class.replace('/', ".")));
                    for body in made.drain(..) {
                        methods[body].is_handed_over |= elsewhere;
                    }
                }
                _ => {}
            }
        }
    }
}

/// The method of this class that a lambda's body is in, and whether its type makes it a task.
fn lambda(
    class: &ClassFile<'_>,
    bootstraps: &[crate::read::BootstrapMethod],
    site: PoolIndex,
    methods: &[MethodFacts],
) -> Option<(usize, bool)> {
    let dynamic = class.pool.invoke_dynamic(site).ok()?;
    let bootstrap = bootstraps.get(usize::from(dynamic.bootstrap))?;
    let body = bootstrap.arguments.iter().find_map(|&argument| {
        let Ok(Constant::MethodHandle(handle)) = class.pool.constant(argument) else {
            return None;
        };
        let body = handle.member;
        let same = |own: &MethodFacts| own.name == body.name && own.descriptor == body.descriptor;
        (body.class == class.name)
            .then(|| methods.iter().position(same))
            .flatten()
    })?;
    // A reference to a method that others can call by name is no body of a lambda.
    if !methods[body].is_synthetic {
        return None;
    }
    let made = dynamic.descriptor.rsplit(')').next()?;
    let interface = made.strip_prefix('L')?.strip_suffix(';')?;
    Some((body, is_task_type(&interface.replace('/', "."))))
}
