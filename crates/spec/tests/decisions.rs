//! What each heuristic proposes, and how patterns and intersections change it.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use untorn_spec::{
    ClassFacts, FieldFacts, Heuristic, MethodFacts, Pattern, Rule, Specification, Stage,
};

fn method(name: &str, change: impl FnOnce(&mut MethodFacts)) -> MethodFacts {
    let mut method = MethodFacts {
        name: name.into(),
        descriptor: "()V".into(),
        has_code: true,
        ..MethodFacts::default()
    };
    change(&mut method);
    method
}

/// A class with one method of each sort.
fn account() -> ClassFacts {
    ClassFacts {
        name: "bank.Account".into(),
        methods: vec![
            method("<init>", |_| ()),
            method("deposit", |m| m.is_synchronized = true),
            method("balance", |_| ()),
            method("helper", |m| m.is_private = true),
            method("await", |m| {
                m.is_synchronized = true;
                m.interrupts = true;
            }),
            method("run", |_| ()),
            method("lambda$0", |m| m.is_synthetic = true),
            method("marked", |m| {
                m.is_private = true;
                m.annotations = vec!["Atomic".into()];
            }),
            method("denied", |m| m.annotations = vec!["NotAtomic".into()]),
        ],
        ..ClassFacts::default()
    }
}

fn regions(spec: &Specification, class: &ClassFacts) -> Vec<String> {
    (class.methods.iter())
        .filter(|method| spec.decide(Stage::Check, class, method, None).atomic)
        .map(|method| method.name.clone())
        .collect()
}

/// What a run looks at.
fn regions_of_run(spec: &Specification, class: &ClassFacts) -> Vec<String> {
    (class.methods.iter())
        .filter(|method| spec.decide(Stage::Run, class, method, None).atomic)
        .map(|method| method.name.clone())
        .collect()
}

fn by(heuristic: Heuristic) -> Specification {
    Specification {
        heuristic,
        ..Specification::default()
    }
}

#[test]
fn in_a_run_every_method_is_a_candidate_unless_it_starts_waits_or_has_no_parts() {
    let mut class = account();
    assert_eq!(
        regions_of_run(&by(Heuristic::Auto), &class),
        ["deposit", "balance", "helper", "lambda$0", "marked"]
    );
    class.methods = vec![
        method("access$000", |m| m.is_synthetic = true),
        method("lambda$main$0", |m| {
            m.is_synthetic = true;
            m.is_handed_over = true;
        }),
        method("shows", |m| m.annotations = vec!["Test".into()]),
        method("spawn", |m| m.starts_threads = true),
        method("get", |m| m.is_tiny = true),
        method("add", |m| m.is_private = true),
    ];
    assert_eq!(regions_of_run(&by(Heuristic::Auto), &class), ["add"]);
    // What the user says is stronger.
    let named = Specification {
        include: vec!["**.get".parse().unwrap()],
        exclude: vec!["**.add".parse().unwrap()],
        ..Specification::default()
    };
    assert_eq!(regions_of_run(&named, &class), ["get"]);
}

#[test]
fn only_what_the_default_rule_proposes_is_a_guess() {
    let class = account();
    let rule = |spec: &Specification, method: usize| {
        spec.decide(Stage::Run, &class, &class.methods[method], None)
            .rule
    };
    assert!(rule(&by(Heuristic::Auto), 2).is_guess());
    assert!(!rule(&by(Heuristic::Auto), 7).is_guess(), "annotated");
    assert!(!rule(&by(Heuristic::AllMethods), 2).is_guess());
    let named = Specification {
        include: vec!["bank.Account.balance".parse().unwrap()],
        ..Specification::default()
    };
    assert!(!rule(&named, 2).is_guess());
}

#[test]
fn each_heuristic_proposes_what_its_page_says() {
    let class = account();
    assert_eq!(
        regions(&by(Heuristic::Auto), &class),
        ["deposit", "balance", "marked"]
    );
    assert_eq!(
        regions(&by(Heuristic::AllMethods), &class),
        ["deposit", "balance", "helper", "lambda$0", "marked"]
    );
    assert_eq!(
        regions(&by(Heuristic::ExportSynch), &class),
        ["deposit", "balance", "await", "marked"]
    );
    assert_eq!(
        regions(&by(Heuristic::Synch), &class),
        ["deposit", "await", "marked"]
    );
    assert_eq!(regions(&by(Heuristic::Annotated), &class), ["marked"]);
    assert!(regions(&by(Heuristic::None), &class).is_empty());
}

#[test]
fn a_class_without_any_sign_of_threads_has_no_regions_by_default() {
    let mut class = ClassFacts {
        name: "plain.Point".into(),
        methods: vec![method("move", |_| ())],
        ..ClassFacts::default()
    };
    assert!(regions(&Specification::default(), &class).is_empty());
    for field in [
        FieldFacts {
            is_volatile: true,
            descriptor: "I".into(),
            ..FieldFacts::default()
        },
        FieldFacts {
            descriptor: "Ljava/util/concurrent/locks/ReentrantLock;".into(),
            ..FieldFacts::default()
        },
        FieldFacts {
            descriptor: "Ljava/util/concurrent/atomic/AtomicInteger;".into(),
            ..FieldFacts::default()
        },
    ] {
        class.fields = vec![field];
        assert_eq!(regions(&Specification::default(), &class), ["move"]);
    }
    class.fields.clear();
    class.annotations = vec!["ThreadSafe".into()];
    assert_eq!(regions(&Specification::default(), &class), ["move"]);
}

#[test]
fn patterns_add_and_take_away_and_say_so() {
    let class = account();
    let text = r#"
        heuristic = "synch"
        include = ["bank.Account.helper"]
        exclude = ["bank.*.deposit", "bank.Account.balance@2"]
        exclude-threads = ["Finalizer*"]

        [[assume]]
        what = "mover"
        of = "bank.Log.**"
    "#;
    let spec = Specification::from_toml(text).unwrap();
    assert_eq!(regions(&spec, &class), ["helper", "await", "marked"]);
    let decision = spec.decide(Stage::Check, &class, &class.methods[1], None);
    assert_eq!(
        decision.rule,
        Rule::Excluded("bank.*.deposit".parse().unwrap())
    );
    assert!(
        spec.decide(Stage::Check, &class, &class.methods[2], Some(1))
            .atomic
    );
    assert!(
        !spec
            .decide(Stage::Check, &class, &class.methods[2], Some(2))
            .atomic
    );
    assert!(spec.excludes_thread("Finalizer-1") && !spec.excludes_thread("main"));
    assert_eq!(
        Specification::from_toml(&spec.to_toml().unwrap()).unwrap(),
        spec
    );
    let in_project = format!("[spec]\n{text}").replace("[[assume]]", "[[spec.assume]]");
    assert_eq!(Specification::from_toml(&in_project).unwrap(), spec);
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, word) in [
        ("heuristic = \"some\"", "unknown variant"),
        ("includes = []", "unknown field"),
        ("include = [\"a.B.m@x\"]", "block"),
        ("include = ", "line 1"),
    ] {
        let error = Specification::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(word) || error.contains("line 1"), "{error}");
        assert!(error.contains("line 1"), "{error}");
    }
}

fn spec() -> impl Strategy<Value = Specification> {
    let heuristic = prop_oneof![
        Just(Heuristic::Auto),
        Just(Heuristic::AllMethods),
        Just(Heuristic::Synch),
        Just(Heuristic::None)
    ];
    let patterns = || {
        let one = prop_oneof![
            Just("bank.Account.deposit"),
            Just("bank.**"),
            Just("**.*e*"),
            Just("bank.Account.helper()V")
        ];
        proptest::collection::vec(
            one.prop_map(|text: &str| text.parse::<Pattern>().unwrap()),
            0..2,
        )
    };
    (heuristic, patterns(), patterns()).prop_map(|(heuristic, include, exclude)| Specification {
        heuristic,
        include,
        exclude,
        ..Specification::default()
    })
}

proptest! {
    #[test]
    fn an_intersection_holds_what_both_hold(a in spec(), b in spec(), c in spec()) {
        let class = account();
        let both = a.clone().intersect(b.clone()).intersect(c.clone());
        for method in &class.methods {
            let wanted = [&a, &b, &c].iter().all(|spec| spec.decide(Stage::Check, &class, method, None).atomic);
            prop_assert_eq!(both.decide(Stage::Check, &class, method, None).atomic, wanted, "{}", method.name);
        }
        prop_assert_eq!(&Specification::from_toml(&both.to_toml().unwrap()).unwrap(), &both);
    }
}
