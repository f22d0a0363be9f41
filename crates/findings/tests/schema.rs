//! The saved form is what the checked-in schema says, and reads back.

use untorn_findings::{
    Document, Edge, EdgeKind, Evidence, Finding, Interleaving, Kind, ReadError, Region, Step,
    Transaction, Verdict, schema,
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
