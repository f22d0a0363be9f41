//! Call graph, points-to sets, threads, sharing and locks of small programs.

use std::path::PathBuf;

use crate::support::fixtures;
use untorn_program::heap::{ObjectKind, ObjectSet};
use untorn_program::ir::Op;
use untorn_program::library::LockMode;
use untorn_program::locks::{LockKind, MethodLock};
use untorn_program::threads::{Multiplicity, ThreadKind};
use untorn_program::{Assumption, LoadError, LoadPlan, MethodId, NodeId, ObjectId, Program};

fn plan(main: Option<&str>) -> LoadPlan {
    LoadPlan {
        inputs: vec![PathBuf::from(fixtures())],
        main: main.map(str::to_owned),
        ..LoadPlan::default()
    }
}

fn application(main: &str) -> Program {
    Program::load(&plan(Some(&format!("fixtures.Threads${main}")))).unwrap()
}

fn class_names(program: &Program, objects: &ObjectSet) -> Vec<String> {
    let name = |object: ObjectId| {
        program
            .classes()
            .class_name(program.heap().object(object).class)
    };
    let mut names: Vec<String> = objects
        .iter()
        .map(|object| name(object).replace("fixtures/", ""))
        .collect();
    names.sort();
    names
}

fn started(program: &Program) -> Vec<(String, Multiplicity)> {
    let mut threads: Vec<(String, Multiplicity)> = program
        .threads()
        .ids()
        .map(|id| program.threads().thread(id))
        .filter_map(|thread| match thread.kind {
            ThreadKind::Started(task) => {
                let class = program
                    .classes()
                    .class_name(program.heap().object(task).class);
                Some((
                    class.rsplit('/').next().unwrap().to_owned(),
                    thread.multiplicity,
                ))
            }
            _ => None,
        })
        .collect();
    threads.sort();
    threads
}

fn shared(program: &Program) -> Vec<String> {
    let mut names = class_names(program, program.sharing().shared());
    names.retain(|name| name.starts_with("Threads"));
    names
}

fn method(program: &Program, class: &str, name: &str) -> MethodId {
    let class = program.classes().find(class).unwrap();
    program.classes().methods_named(class, name).next().unwrap()
}

#[test]
fn one_started_thread_exists_once() {
    let program = application("OneThread");
    assert_eq!(
        started(&program),
        [("Threads$Worker".to_owned(), Multiplicity::One)]
    );
    assert!(program.is_application());
    // Main hands the counter over and never touches it again.
    assert_eq!(shared(&program), Vec::<String>::new());
}

#[test]
fn threads_of_a_loop_are_many_and_share_what_they_were_given() {
    let program = application("ManyThreads");
    assert_eq!(
        started(&program),
        [("Threads$Worker".to_owned(), Multiplicity::Many)]
    );
    // The common counter, but neither the workers nor their own counters.
    let shared: Vec<ObjectId> = program.sharing().shared().iter().collect();
    assert_eq!(
        shared.len(),
        1,
        "{:?}",
        class_names(&program, program.sharing().shared())
    );
    let ObjectKind::Allocated { method, .. } = program.heap().object(shared[0]).kind else {
        panic!("allocated")
    };
    assert_eq!(program.classes().method_name(method), "main");
}

#[test]
fn two_sites_are_two_threads_that_share() {
    let program = application("TwoThreads");
    assert_eq!(
        started(&program),
        vec![("Threads$Worker".to_owned(), Multiplicity::One); 2]
    );
    assert_eq!(shared(&program), ["Threads$Counter"]);
    let ids: Vec<_> = program.threads().ids().collect();
    for left in &ids {
        for right in &ids {
            let kinds = [
                program.threads().thread(*left).kind,
                program.threads().thread(*right).kind,
            ];
            let before = kinds.contains(&ThreadKind::Initializers);
            assert_eq!(
                program.threads().are_concurrent(*left, *right),
                !before && left != right
            );
        }
    }
}

#[test]
fn runnables_lambdas_and_method_references_run_in_their_threads() {
    let program = application("Runnables");
    assert_eq!(
        started(&program),
        vec![("Thread".to_owned(), Multiplicity::One); 3]
    );
    assert!(shared(&program).contains(&"Threads$Counter".to_owned()));
    let bump = method(&program, "fixtures/Threads$Counter", "bump");
    let nodes = program.heap().nodes_of(bump);
    assert_eq!(nodes.len(), 1);
    assert_eq!(
        program.threads().running(nodes[0]).count(),
        3,
        "three threads bump, main does not"
    );
}

#[test]
fn tasks_of_executors_futures_and_timers_are_threads() {
    let program = application("Tasks");
    let threads = started(&program);
    let find = |name: &str| {
        threads
            .iter()
            .filter(|(class, _)| class == name)
            .map(|(_, many)| *many)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        find("Threads$Job"),
        [Multiplicity::Many],
        "submitted in a loop: {threads:?}"
    );
    assert_eq!(find("Callable"), [Multiplicity::One], "{threads:?}");
    assert_eq!(find("Supplier"), [Multiplicity::One], "{threads:?}");
    assert_eq!(find("Consumer"), [Multiplicity::One], "{threads:?}");
    assert_eq!(find("Threads$Tasks$1"), [Multiplicity::One], "{threads:?}");
    let shared = shared(&program);
    assert!(shared.contains(&"Threads$Counter".to_owned()), "{shared:?}");
    assert!(
        !shared.contains(&"Threads$Job".to_owned()),
        "each job belongs to its own run: {shared:?}"
    );
}

#[test]
fn a_single_thread_shares_nothing() {
    let program = application("Alone");
    assert_eq!(started(&program), []);
    assert_eq!(shared(&program), Vec::<String>::new());
    let counter = program.heap().object_ids().find(|object| {
        program
            .classes()
            .class_name(program.heap().object(*object).class)
            == "fixtures/Threads$Counter"
    });
    assert!(
        program.sharing().escapes(counter.unwrap()),
        "a static list leads to it"
    );
}

#[test]
fn containers_are_told_apart() {
    let program = application("Containers");
    let class = program
        .classes()
        .find("fixtures/Threads$Containers")
        .unwrap();
    let of = |name: &str| {
        let field = program.classes().declared_field(class, name).unwrap();
        class_names(&program, program.heap().static_field(field))
    };
    assert_eq!(of("fromFirst"), ["Threads$Counter"]);
    assert_eq!(of("fromMap"), ["Threads$Counter"]);
    let concurrent = of("fromConcurrent");
    assert!(
        concurrent.contains(&"Threads$Worker".to_owned())
            && !concurrent.contains(&"Threads$Job".to_owned())
    );
}

#[test]
fn library_mode_shares_one_instance_of_each_class_among_clients() {
    let program = Program::load(&LoadPlan {
        jdk_classes: vec!["java.util.Vector".into()],
        ..LoadPlan::default()
    })
    .unwrap();
    assert!(!program.is_application());
    let kinds: Vec<ThreadKind> = program
        .threads()
        .ids()
        .map(|id| program.threads().thread(id).kind)
        .collect();
    assert!(
        kinds.contains(&ThreadKind::Clients) && kinds.contains(&ThreadKind::Constructors),
        "{kinds:?}"
    );
    let vector = program.classes().find("java/util/Vector").unwrap();
    let instance = program
        .heap()
        .object_ids()
        .find(|object| {
            let object = program.heap().object(*object);
            object.class == vector && object.kind == ObjectKind::Instance
        })
        .expect("the shared vector");
    assert!(program.sharing().is_shared(instance));
    // A vector may be built from another vector, but not from itself.
    let build = program
        .classes()
        .declared_method(vector, "<init>", "(Ljava/util/Collection;)V")
        .unwrap();
    let of_instance = |node: &&NodeId| program.heap().param_points_to(**node, 0).contains(instance);
    let mut nodes = program.heap().nodes_of(build).iter();
    let node = *nodes.find(of_instance).unwrap();
    let from = program.heap().param_points_to(node, 1);
    assert!(!from.contains(instance));
    let is_vector = |object: ObjectId| program.heap().object(object).class == vector;
    assert!(from.iter().any(is_vector));
    let to_array = method(&program, "java/util/Vector", "toArray");
    let called = program
        .heap()
        .calls_from(node)
        .iter()
        .any(|edge| program.heap().node(edge.callee).method == to_array);
    assert!(called, "the constructor calls toArray on the other vector");
}

fn writes_held(program: &Program, name: &str, field: &str) -> Vec<Vec<(LockKind, LockMode)>> {
    let method = method(program, "fixtures/Locking", name);
    let body = program.body(method).unwrap();
    let locks = program.locks(method);
    body.all_instrs()
        .filter(|(_, instr)| {
            matches!(&instr.op, Op::PutField { field: own, .. } if program.classes().field_name(*own) == field)
        })
        .map(|(id, _)| {
            let held = locks.held_at(id).iter().map(|region| &locks.region(*region).lock);
            held.map(|lock| (lock.kind, lock.mode)).collect()
        })
        .collect()
}

#[test]
fn locks_are_matched_across_try_and_finally() {
    let program = Program::load(&plan(None)).unwrap();
    let exclusive = (LockKind::Explicit, LockMode::Exclusive);
    assert_eq!(writes_held(&program, "explicitOk", "a"), [[exclusive]]);
    assert_eq!(
        writes_held(&program, "readThenWrite", "b"),
        [[(LockKind::Explicit, LockMode::Shared)]]
    );
    assert_eq!(writes_held(&program, "readThenWrite", "a"), [[exclusive]]);
    assert_eq!(writes_held(&program, "tried", "a"), [[exclusive]]);
    assert_eq!(writes_held(&program, "tried", "b"), [[]]);
    assert_eq!(
        writes_held(&program, "early", "a"),
        [[(LockKind::Monitor, LockMode::Exclusive)]]
    );
    assert_eq!(writes_held(&program, "early", "b"), [[]]);
    for name in ["explicitOk", "readThenWrite", "tried", "early"] {
        let locks = program.locks(method(&program, "fixtures/Locking", name));
        assert_eq!(locks.unmatched(), None, "{name}");
    }
    let explicit = program.locks(method(&program, "fixtures/Locking", "explicitOk"));
    assert_eq!(explicit.regions().len(), 1);
    assert_eq!(
        explicit.regions()[0].exits.len(),
        2,
        "normal and exceptional"
    );
}

#[test]
fn locks_that_do_not_match_are_counted() {
    let program = Program::load(&plan(None)).unwrap();
    let unmatched: Vec<&str> = program
        .assumptions()
        .iter()
        .filter(|(kind, _, _)| *kind == Assumption::UnmatchedLock)
        .map(|(_, subject, _)| subject)
        .collect();
    // What leaves a lock to its caller is seen there.
    assert_eq!(unmatched, ["fixtures/Locking.sometimes(Z)V"]);
    assert_eq!(
        writes_held(&program, "sometimes", "a"),
        [[]],
        "held on one path only is not held"
    );
}

#[test]
fn locks_that_a_called_method_leaves_held_are_held_by_its_caller() {
    let program = Program::load(&plan(None)).unwrap();
    let exclusive = (LockKind::Explicit, LockMode::Exclusive);
    assert_eq!(writes_held(&program, "byHelper", "a"), [[exclusive]]);
    assert_eq!(writes_held(&program, "byHelper", "b"), [[]]);
    let locks = program.locks(method(&program, "fixtures/Locking", "byHelper"));
    assert_eq!(locks.unmatched(), None);
    // Two callees that differ: nothing is known of the call.
    assert_eq!(writes_held(&program, "byEither", "a"), [[]]);
}

#[test]
fn waiting_divides_what_holds_the_lock() {
    let program = Program::load(&plan(None)).unwrap();
    let method = method(&program, "fixtures/Locking", "waits");
    let (body, locks) = (program.body(method).unwrap(), program.locks(method));
    let [gap] = locks.gaps() else {
        panic!("{:?}", locks.gaps());
    };
    assert_eq!(gap.of, None, "the lock of the method itself");
    let write = |name: &str| {
        let fits = |op: &Op| matches!(op, Op::PutField { field, .. } if program.classes().field_name(*field) == name);
        let mut found = body.all_instrs().filter(|(_, instr)| fits(&instr.op));
        found.next().unwrap().0
    };
    let (before, after) = (write("a"), write("b"));
    assert!(locks.is_before_gaps(None, before) && !locks.is_before_gaps(None, after));
    assert!(!locks.is_after_gap(0, before) && locks.is_after_gap(0, after));
}

#[test]
fn monitors_nest_and_synchronized_methods_lock_their_receiver() {
    let program = Program::load(&plan(None)).unwrap();
    let twice = method(&program, "fixtures/Shapes", "lockedTwice");
    let (body, locks) = (program.body(twice).unwrap(), program.locks(twice));
    let depths: Vec<usize> = body
        .all_instrs()
        .filter(|(_, instr)| matches!(instr.op, Op::PutField { .. }))
        .map(|(id, _)| locks.held_at(id).len())
        .collect();
    assert_eq!(depths, [2, 1]);
    assert_eq!(locks.unmatched(), None);
    let synchronized = method(&program, "fixtures/Shapes", "lockedMethod");
    assert_eq!(
        program.locks(synchronized).method_lock(),
        Some(MethodLock::Receiver)
    );
    assert!(program.locks(synchronized).regions().is_empty());
}

#[test]
fn what_the_user_names_must_exist() {
    let error = |plan: &LoadPlan| Program::load(plan).unwrap_err();
    assert!(matches!(
        error(&plan(Some("no.Such"))),
        LoadError::ClassNotFound { .. }
    ));
    assert!(matches!(
        error(&plan(Some("fixtures.Shapes"))),
        LoadError::NoMain { .. }
    ));
    assert!(matches!(
        error(&LoadPlan::default()),
        LoadError::NothingToAnalyze
    ));
}

#[test]
fn the_jdk_classes_of_the_evaluation_are_libraries_of_their_own() {
    for name in [
        "java.lang.StringBuffer",
        "java.util.Hashtable",
        "java.util.Collections$SynchronizedList",
        "java.io.PrintWriter",
    ] {
        let program = Program::load(&LoadPlan {
            jdk_classes: vec![name.into()],
            ..LoadPlan::default()
        })
        .unwrap();
        let [class] = program.inputs() else {
            panic!("one input")
        };
        let clients = program
            .threads()
            .ids()
            .find(|id| program.threads().thread(*id).kind == ThreadKind::Clients)
            .unwrap();
        // Every exported method with a body is run by clients, and the instance is shared.
        for method in &program.classes().class(*class).methods {
            let info = program.classes().method(*method);
            let callable = program.classes().is_exported(*method)
                && !program.classes().is_constructor(*method);
            if callable && info.has_code {
                let nodes = program.heap().nodes_of(*method);
                let run = nodes
                    .iter()
                    .any(|node| program.threads().runs(clients, *node));
                assert!(run, "{}", program.classes().describe_method(*method));
            }
        }
        let shared = program
            .sharing()
            .shared()
            .iter()
            .any(|object| program.heap().object(object).class == *class);
        assert!(shared, "{name}");
        assert_eq!(
            program.assumptions().count(Assumption::UnmatchedMonitor),
            0,
            "{name}"
        );
    }
}
