//! The saved form is what the checked-in schema says, and reads back.

use untorn_findings::{
    Document, Edge, EdgeKind, Evidence, Finding, GuardLoss, Interleaving, Kind, LockView,
    MethodViews, Place, ReadError, Region, Step, Transaction, Typing, TypingPart, Verdict, schema,
};

fn sample() -> Document {
    let region = Region {
        class: Some("bank.Account".into()),
        method: "deposit".into(),
        descriptor: Some("(I)V".into()),
        file: Some("Account.java".into()),
        line: Some(12),
        ..Region::default()
    };
    let step = |n, thread: &str, op: &str| Step {
        n,
        thread: thread.into(),
        event: Some(u64::from(n)),
        op: op.into(),
        target: "balance".into(),
        place: None,
        within: None,
        transaction: Some(0),
        locks: vec![],
        stack: vec![],
    };
    let interleaving = Interleaving {
        analysis: "velodrome".into(),
        transactions: vec![Transaction {
            thread: "T1".into(),
            region: Some(region.clone()),
            begin: 0,
            end: None,
        }],
        steps: vec![
            step(1, "T1", "read"),
            step(2, "T2", "write"),
            step(3, "T1", "write"),
        ],
        edges: vec![Edge {
            from: 1,
            to: 2,
            kind: EdgeKind::Data,
            approximate: false,
        }],
        torn: Some((1, 3)),
    };
    let evidence = Evidence {
        interleavings: vec![interleaving],
        ..Evidence::default()
    };
    let mut document = Document::new(vec!["run.utr".into()]);
    document.findings.push(Finding::new(
        "velodrome",
        Kind::Torn,
        Verdict::Observed,
        region.clone(),
        "deposit is torn".into(),
        evidence,
    ));
    document.proved.push(region);
    document.stats.insert("events".into(), 3.into());
    document
}

#[test]
fn the_checked_in_schema_is_the_one_the_code_generates() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/untorn-findings-1.json");
    let generated = schema().unwrap();
    if std::env::var_os("UNTORN_BLESS").is_some() {
        std::fs::write(path, &generated).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        kept, generated,
        "run the tests with UNTORN_BLESS=1 to renew the schema file"
    );
}

#[test]
fn a_document_reads_back_and_fits_the_schema() {
    let document = sample();
    let text = document.to_json().unwrap();
    assert_eq!(Document::from_json(&text).unwrap(), document);
    let schema = serde_json::from_str(&schema().unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
    let broken = text.replace("\"observed\"", "\"certain\"");
    assert!(!validator.is_valid(&serde_json::from_str(&broken).unwrap()));
}

/// A finding of a check, with places and regions in its own class and in others.
fn checked() -> Document {
    let method = |class: Option<&str>, method: &str, file: Option<&str>| Region {
        class: class.map(str::to_owned),
        method: method.into(),
        descriptor: Some("()V".into()),
        file: file.map(str::to_owned),
        line: Some(3),
        ..Region::default()
    };
    let place = |class: &str, method: Option<&str>, file: Option<&str>| Place {
        class: Some(class.into()),
        method: method.map(str::to_owned),
        file: file.map(str::to_owned),
        line: Some(7),
    };
    let own = method(Some("bank.Account"), "deposit", Some("Account.java"));
    let section = |of: &Region, thread: &str, places| LockView {
        method: of.clone(),
        lock: "this".into(),
        accesses: vec!["balance: write".into()],
        places,
        thread: thread.into(),
    };
    let bank = method(Some("bank.Bank"), "close", Some("Bank.java"));
    let views = MethodViews {
        class: "bank.Account".into(),
        library: false,
        view: vec!["balance: read".into(), "balance: write".into()],
        thread: "clients".into(),
        sections: vec![
            section(
                &own,
                "clients",
                vec![place("bank.Account", Some("deposit"), Some("Account.java"))],
            ),
            section(
                &own,
                "clients",
                vec![place("bank.Account", None, Some("Account.java"))],
            ),
        ],
        interfering: vec![
            section(
                &bank,
                "main",
                vec![place("bank.Bank", Some("end"), Some("Bank.java"))],
            ),
            section(
                &bank,
                "clients",
                vec![place("bank.Account", Some("close"), None)],
            ),
        ],
        allocated_at: Vec::new(),
    };
    let lost = GuardLoss {
        field: "bank.Account.balance".into(),
        candidate: None,
        held: Some(3),
        place: Some(place("bank.Account", Some("<init>"), Some("Account.java"))),
        why: "this is not held here".into(),
    };
    let typing = Typing {
        atomicity: "cmpd".into(),
        parts: vec![TypingPart {
            what: "reads it".into(),
            atomicity: "atomic".into(),
            place: Some(place("bank.Account", Some("deposit"), Some("Account.java"))),
        }],
        released: None,
        guards_lost: vec![lost],
    };
    let evidence = Evidence {
        method_views: vec![views],
        typings: vec![typing],
        enclosing: vec![
            bank.clone(),
            method(Some("bank.Bank"), "open", Some("Bank.java")),
        ],
        ..Evidence::default()
    };
    let mut finding = Finding::new(
        "consistency",
        Kind::MethodInconsistency,
        Verdict::Suspected,
        own,
        "deposit can be torn".into(),
        evidence,
    );
    finding.affected = vec![
        method(Some("bank.Account"), "close", Some("Account.java")),
        bank,
        method(Some("bank.Bank"), "open", None),
        method(Some("bank.Bank"), "shut", None),
    ];
    let mut document = Document::new(vec!["bank.jar".into()]);
    document.findings.push(finding);
    document
}

#[test]
fn what_is_the_same_around_it_is_saved_once_and_read_everywhere() {
    let document = checked();
    let text = document.to_json().unwrap();
    assert_eq!(Document::from_json(&text).unwrap(), document);
    assert_eq!(
        Document::from_half_written(&text).unwrap().findings,
        document.findings
    );
    // Files that say it everywhere, as they were once.
    let whole = serde_json::to_string(&document).unwrap();
    assert_eq!(Document::from_json(&whole).unwrap(), document);
    // Once for the region, and once for a place of which no method is known.
    assert_eq!(text.matches("Account.java").count(), 2, "{text}");
    assert!(
        text.len() < whole.len(),
        "{} of {}",
        text.len(),
        whole.len()
    );
    let schema = serde_json::from_str(&schema().unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()));
}

#[test]
fn what_cannot_be_read_says_why() {
    let text = sample().to_json().unwrap();
    let newer = text.replace("untorn-findings/1", "untorn-findings/9");
    assert!(
        matches!(Document::from_json(&newer), Err(ReadError::OtherSchema { found }) if found == "untorn-findings/9")
    );
    for cut in [text.len() / 4, text.len() / 2, text.len() - 3] {
        assert!(matches!(
            Document::from_json(&text[..cut]),
            Err(ReadError::HalfWritten { .. })
        ));
    }
    for other in ["", "[]", "{}", "<html>", "\u{0}\u{1}"] {
        assert!(
            matches!(Document::from_json(other), Err(ReadError::NotFindings(_))),
            "{other:?}"
        );
    }
}

#[test]
fn wherever_a_document_is_cut_its_complete_findings_are_kept() {
    let mut document = sample();
    let first = document.findings[0].clone();
    document.findings = vec![first.clone(), first.clone(), first];
    let text = document.to_json().unwrap();
    let mut kept = 0;
    for cut in 0..=text.len() {
        let Some(part) = text.get(..cut) else {
            continue;
        };
        let found = Document::from_half_written(part).map_or(0, |part| {
            assert!(document.findings.starts_with(&part.findings));
            part.findings.len()
        });
        assert!(found >= kept, "a longer file has less at {cut}");
        kept = found;
    }
    assert_eq!(kept, 3);
    let newer = text.replace("untorn-findings/1", "untorn-findings/9");
    assert_eq!(Document::from_half_written(&newer), None);
    assert_eq!(Document::from_half_written("[1, 2"), None);
}
