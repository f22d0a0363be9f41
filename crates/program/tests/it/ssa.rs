//! Bodies in SSA form are valid, typed, and say what the source says.

use std::path::PathBuf;

use crate::support::fixtures;
use untorn_program::classes::{Classes, Loader, Type};
use untorn_program::ir::{Body, Const, Def, InvokeKind, Op, build_body};
use untorn_program::load::{ClassPath, JdkChoice, Limits};
use untorn_program::{Assumptions, BlockId, ClassId, MethodId, ValueId};

fn load() -> Loader {
    let mut assumptions = Assumptions::default();
    let inputs = [PathBuf::from(fixtures())];
    let limits = Limits::default();
    let path = ClassPath::open(
        &inputs,
        &[],
        &JdkChoice::Discover,
        None,
        limits,
        &mut assumptions,
    )
    .unwrap();
    let mut loader = Loader::new(path, limits, assumptions);
    let classes = loader.load_inputs().unwrap();
    loader.link(&classes);
    loader
}

fn body(loader: &Loader, class: &str, name: &str) -> Body {
    let classes = &loader.classes;
    let class = classes.find(class).unwrap();
    let method = classes.methods_named(class, name).next().unwrap();
    let body = build_body(classes, method).unwrap();
    check(classes, &body);
    body
}

/// Every use is dominated by its definition, every phi has an input per predecessor, edges agree on both sides.
fn check(classes: &Classes, body: &Body) {
    let name = classes.describe_method(body.method);
    let dominators = dominators(body);
    let dominates = |above: BlockId, below: BlockId| dominators[below.index()][above.index()];
    let definition_block = |value: ValueId| match body.value(value).def {
        Def::Param(_) => BlockId(0),
        Def::Phi(block) => block,
        Def::Instr(instr) => body.instr(instr).block,
    };
    for id in body.block_ids() {
        let block = body.block(id);
        for phi in &block.phis {
            assert_eq!(
                phi.inputs.len(),
                block.preds.len(),
                "{name}: a phi has an input per predecessor"
            );
            assert_eq!(
                body.value(phi.result).def,
                Def::Phi(id),
                "{name}: a phi defines its result"
            );
            for (input, pred) in phi.inputs.iter().zip(&block.preds) {
                assert!(
                    dominates(definition_block(*input), *pred),
                    "{name}: phi input reaches its edge"
                );
                let (from, to) = (body.ty(*input), body.ty(phi.result));
                match (from, to) {
                    (Type::Ref(from), Type::Ref(to)) => {
                        let interface = classes.class(to).flags.is_interface();
                        assert!(
                            interface || classes.is_subtype(from, to),
                            "{name}: phi type"
                        );
                    }
                    (Type::Null, Type::Ref(_)) => {}
                    _ => assert_eq!(from, to, "{name}: phi type"),
                }
            }
        }
        for (instr, data) in body.block_instrs(id) {
            assert_eq!(data.block, id);
            if let Some(result) = data.result {
                assert_eq!(body.value(result).def, Def::Instr(instr));
            }
            data.op.for_each_operand(|operand| {
                let at = definition_block(operand);
                let earlier = match body.value(operand).def {
                    Def::Instr(def) if at == id => def < instr,
                    _ => dominates(at, id),
                };
                assert!(
                    earlier,
                    "{name}: {operand:?} is defined before {:?}",
                    data.op
                );
            });
        }
        for succ in block
            .succs
            .iter()
            .copied()
            .chain(block.handlers.iter().map(|handler| handler.block))
        {
            assert!(
                body.block(succ).preds.contains(&id),
                "{name}: successor knows its predecessor"
            );
        }
        for handler in &block.handlers {
            assert!(
                matches!(body.instr(body.block(handler.block).first).op, Op::Catch),
                "{name}: handler catches"
            );
        }
    }
}

/// The textbook fixpoint, quadratic but plainly right.
fn dominators(body: &Body) -> Vec<Vec<bool>> {
    let count = body.blocks.len();
    let mut sets = vec![vec![true; count]; count];
    sets[0] = vec![false; count];
    sets[0][0] = true;
    loop {
        let mut changed = false;
        for index in 1..count {
            let mut set = vec![true; count];
            for pred in &body.blocks[index].preds {
                set.iter_mut()
                    .zip(&sets[pred.index()])
                    .for_each(|(mine, theirs)| *mine &= theirs);
            }
            set[index] = true;
            changed |= set != sets[index];
            sets[index] = set;
        }
        if !changed {
            return sets;
        }
    }
}

fn class_of(loader: &Loader, ty: Type) -> String {
    loader.classes.class_name(ty.class().unwrap()).to_owned()
}

fn returned(body: &Body) -> Vec<ValueId> {
    body.instrs
        .iter()
        .filter_map(|instr| {
            if let Op::Return { value } = instr.op {
                value
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn a_branch_joins_in_one_phi_of_the_two_values() {
    let loader = load();
    let body = body(&loader, "fixtures/Shapes", "choose");
    let result = returned(&body)[0];
    let Def::Phi(block) = body.value(result).def else {
        panic!("not a phi")
    };
    assert_eq!(body.block(block).phis.len(), 1);
    let mut inputs = body.block(block).phis[0].inputs.clone();
    inputs.sort_unstable();
    assert_eq!(inputs, body.params[2..4]);
    assert!(body.blocks.iter().all(|block| !block.in_loop));
}

#[test]
fn a_loop_is_marked_and_carries_its_variables() {
    let loader = load();
    let body = body(&loader, "fixtures/Shapes", "loop");
    assert!(body.blocks.iter().any(|block| block.in_loop));
    assert!(!body.blocks[0].in_loop);
    let header = body
        .blocks
        .iter()
        .find(|block| block.phis.len() == 2)
        .expect("sum and index meet at the header");
    assert!(header.in_loop);
}

#[test]
fn handlers_see_the_variables_of_each_throwing_point() {
    let loader = load();
    let body = body(&loader, "fixtures/Shapes", "recover");
    // `result` is "none" if trim fails and the trimmed text if concat fails.
    let handler = body
        .blocks
        .iter()
        .flat_map(|block| &block.handlers)
        .find(|handler| handler.catches.is_some())
        .expect("a typed handler");
    assert_eq!(
        class_of(&loader, Type::Ref(handler.catches.unwrap())),
        "java/lang/NullPointerException"
    );
    let block = body.block(handler.block);
    let phi = block
        .phis
        .iter()
        .find(|phi| phi.inputs.len() == 2)
        .expect("two states reach the handler");
    let mut kinds: Vec<&str> = phi
        .inputs
        .iter()
        .map(|input| match &body.defining(*input).unwrap().op {
            Op::Const(Const::String(text)) => text,
            Op::Invoke { .. } => "call",
            op => panic!("{op:?}"),
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["call", "none"]);
    // The finally block stands three times: normal, after the catch, and for everything else.
    let increments = body
        .instrs
        .iter()
        .filter(|instr| matches!(instr.op, Op::PutField { .. }))
        .count();
    assert_eq!(increments, 3);
}

#[test]
fn phis_have_the_least_common_superclass() {
    let loader = load();
    let merged = body(&loader, "fixtures/Shapes", "merge");
    assert_eq!(
        class_of(&loader, merged.ty(returned(&merged)[0])),
        "java/lang/Number"
    );
    let grid = body(&loader, "fixtures/Shapes", "grid");
    let loads: Vec<String> = grid
        .instrs
        .iter()
        .filter(|instr| matches!(instr.op, Op::ArrayLoad { .. }))
        .map(|instr| class_of(&loader, grid.ty(instr.result.unwrap())))
        .collect();
    assert_eq!(
        loads,
        [
            "[Ljava/lang/Object;",
            "[Ljava/lang/Object;",
            "java/lang/Object"
        ]
    );
    assert_eq!(
        class_of(&loader, grid.ty(returned(&grid)[0])),
        "[[Ljava/lang/Object;"
    );
}

#[test]
fn wide_values_are_one_value_each() {
    let loader = load();
    let body = body(&loader, "fixtures/Shapes", "wide");
    let types: Vec<Type> = body.params[1..]
        .iter()
        .map(|param| body.ty(*param))
        .collect();
    assert_eq!(types, [Type::Long, Type::Double, Type::Int]);
    assert_eq!(body.ty(returned(&body)[0]), Type::Long);
    assert!(
        body.instrs
            .iter()
            .any(|instr| matches!(instr.op, Op::PutStatic { .. }))
    );
}

#[test]
fn lambdas_and_method_references_are_objects_with_a_body() {
    let loader = load();
    let classes = &loader.classes;
    let capture = body(&loader, "fixtures/Shapes", "capture");
    let (lambda, args) = capture
        .instrs
        .iter()
        .find_map(|instr| {
            if let Op::Lambda { lambda, args } = &instr.op {
                Some((lambda, args))
            } else {
                None
            }
        })
        .unwrap();
    assert_eq!(
        classes.class_name(lambda.interface),
        "java/util/function/IntSupplier"
    );
    assert_eq!(classes.method_name(lambda.method.unwrap()), "getAsInt");
    assert!(
        classes
            .method_name(lambda.handle.method)
            .starts_with("lambda$capture")
    );
    assert_eq!(args.as_slice(), &capture.params[..2]);
    let reference = body(&loader, "fixtures/Shapes", "reference");
    let target = reference
        .instrs
        .iter()
        .find_map(|instr| {
            if let Op::Lambda { lambda, .. } = &instr.op {
                Some(lambda.handle.method)
            } else {
                None
            }
        })
        .unwrap();
    assert_eq!(
        classes.describe_method(target),
        "java/lang/Integer.parseInt(Ljava/lang/String;)I"
    );
    let recover = body(&loader, "fixtures/Shapes", "recover");
    assert!(
        recover
            .instrs
            .iter()
            .any(|instr| matches!(instr.op, Op::Concat { .. }))
    );
}

#[test]
fn instructions_know_their_source_lines() {
    let loader = load();
    let source = include_str!("../fixtures/Shapes.java");
    let line = source
        .lines()
        .position(|line| line.contains("result = text.trim()"))
        .unwrap()
        + 1;
    let body = body(&loader, "fixtures/Shapes", "recover");
    let call = body
        .instrs
        .iter()
        .find(|instr| {
            matches!(&instr.op, Op::Invoke { kind: InvokeKind::Virtual, method, .. }
                if loader.classes.method_name(*method) == "trim")
        })
        .unwrap();
    assert_eq!(usize::from(call.line), line);
}

#[test]
fn selection_follows_the_jvm() {
    let loader = load();
    let classes = &loader.classes;
    let class = |name: &str| classes.find(&format!("fixtures/Shapes${name}")).unwrap();
    let method = |class: ClassId, name: &str| -> MethodId {
        classes.methods_named(class, name).next().unwrap()
    };
    let named = method(class("Named"), "name");
    let select = |receiver: ClassId, target: MethodId| classes.select(receiver, target);
    assert_eq!(
        select(class("Base"), named),
        Some(named),
        "the default method is inherited"
    );
    let titled = method(class("Titled"), "name");
    assert_eq!(
        select(class("Derived"), named),
        Some(titled),
        "the more specific default wins"
    );
    let hidden = method(class("Base"), "hidden");
    assert_eq!(
        select(class("Derived"), hidden),
        Some(method(class("Derived"), "hidden"))
    );
    let step = method(class("Partial"), "step");
    assert_eq!(
        select(class("Partial"), step),
        None,
        "an abstract method cannot run"
    );
    assert_eq!(
        select(class("Whole"), step),
        Some(method(class("Whole"), "step"))
    );
    let object = classes.well_known.object;
    let hash = method(object, "hashCode");
    assert_eq!(select(class("Whole"), hash), Some(hash));
    assert_eq!(
        select(classes.well_known.primitive_arrays[0], hash),
        Some(hash),
        "arrays are Objects"
    );
    assert!(classes.is_subtype(class("Derived"), class("Named")));
    assert!(!classes.is_subtype(class("Base"), class("Titled")));
}

#[test]
fn every_body_of_the_collections_is_valid() {
    let mut loader = load();
    let names: Vec<String> = loader
        .path()
        .jdk()
        .unwrap()
        .class_names()
        .into_iter()
        .filter(|name| name.starts_with("java/util/") && !name[10..].contains('/'))
        .map(str::to_owned)
        .collect();
    assert!(names.len() > 300);
    let ids: Vec<ClassId> = names.iter().map(|name| loader.class_named(name)).collect();
    loader.load(ids.iter().copied());
    loader.link(&ids);
    let mut bodies = 0;
    for class in ids {
        for method in &loader.classes.class(class).methods {
            if loader.classes.method(*method).has_code {
                let body = build_body(&loader.classes, *method).unwrap();
                check(&loader.classes, &body);
                bodies += 1;
            }
        }
    }
    assert!(bodies > 3000, "{bodies} bodies");
}
