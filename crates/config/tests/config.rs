//! The file, its schema, and what its suppressions do.

use untorn_config::{Complaint, Config, Date, ReadError, apply, schema};
use untorn_findings::{Document, Evidence, Finding, Kind, Region, Verdict};

const EXAMPLE: &str = r#"
packages = ["bank.**"]

[spec]
heuristic = "auto"
exclude = ["bank.Main.*"]

[defaults]
quiet = true

[defaults.analyze]
with = ["velodrome"]
quiet = false

[[suppress]]
what = "torn:bank.Account.withdraw"
reason = "overdrafts are allowed"

[[suppress]]
what = "*:bank.legacy.**"
reason = "goes away with the old ledger"
until = 2027-01-31
"#;

fn finding(kind: Kind, class: &str, method: &str) -> Finding {
    let region = Region {
        class: Some(class.into()),
        method: method.into(),
        descriptor: Some("()V".into()),
        ..Region::default()
    };
    Finding::new(
        "velodrome",
        kind,
        Verdict::Observed,
        region,
        String::new(),
        Evidence::default(),
    )
}

fn document() -> Document {
    let mut document = Document::new(vec![]);
    document.findings = vec![
        finding(Kind::Torn, "bank.Account", "withdraw"),
        finding(Kind::Race, "bank.Account", "withdraw"),
        finding(Kind::Cycle, "bank.legacy.Ledger", "close"),
        finding(Kind::Torn, "bank.Bank", "transfer"),
    ];
    document
}

fn left(document: &Document) -> Vec<String> {
    document
        .findings
        .iter()
        .map(|f| f.region.short_name())
        .collect()
}

#[test]
fn suppressions_take_what_they_name_until_they_expire() {
    let config = Config::from_toml(EXAMPLE).unwrap();
    let mut before = document();
    assert_eq!(
        apply(&config.suppress, &mut before, Date::new(2027, 1, 31)),
        []
    );
    assert_eq!(left(&before), ["Account.withdraw", "Bank.transfer"]);
    assert_eq!(before.findings[0].kind, Kind::Race);
    let reasons: Vec<_> = before
        .suppressed
        .iter()
        .map(|s| s.reason.as_deref())
        .collect();
    assert_eq!(
        reasons,
        [
            Some("overdrafts are allowed"),
            Some("goes away with the old ledger")
        ]
    );

    let mut after = document();
    let complaints = apply(&config.suppress, &mut after, Date::new(2027, 2, 1));
    assert_eq!(
        left(&after),
        ["Account.withdraw", "Ledger.close", "Bank.transfer"]
    );
    assert!(
        matches!(&complaints[..], [Complaint::Expired(..)]),
        "{complaints:?}"
    );

    let mut nothing = Document::new(vec![]);
    let complaints = apply(&config.suppress, &mut nothing, Date::new(2026, 1, 1));
    let said: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 2);
    assert_eq!(
        said[0],
        "the suppression torn:bank.Account.withdraw names nothing that was found; remove it if it is repaired"
    );
}

#[test]
fn labels_of_traces_and_fields_can_be_suppressed() {
    let subject: untorn_config::Subject = "torn:Bank.transfer".parse().unwrap();
    let label = |label: &str| {
        let region = Region::labelled(label);
        Finding::new(
            "velodrome",
            Kind::Torn,
            Verdict::Observed,
            region,
            String::new(),
            Evidence::default(),
        )
    };
    assert!(subject.matches(&label("Bank.transfer")) && !subject.matches(&label("Bank.total")));
    let mut race = finding(Kind::Race, "bank.Stats", "");
    race.region.field = Some("hits".into());
    let subject: untorn_config::Subject = "race:bank.Stats.hits".parse().unwrap();
    assert!(subject.matches(&race));
}

#[test]
fn defaults_of_a_command_win_over_those_of_all() {
    let config = Config::from_toml(EXAMPLE).unwrap();
    assert_eq!(config.defaults_of("report")["quiet"].as_bool(), Some(true));
    let analyze = config.defaults_of("analyze");
    assert_eq!(analyze["quiet"].as_bool(), Some(false));
    assert!(analyze["with"].is_array());
    assert!(config.is_own(&finding(Kind::Torn, "bank.Account", "m").region));
    assert!(!config.is_own(&finding(Kind::Torn, "org.lib.Pool", "m").region));
    assert!(config.is_own(&Region::labelled("m")));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, word) in [
        (
            "[[suppress]]\nwhat = \"torn:a.B.m\"\nreason = \" \"",
            "no reason",
        ),
        (
            "[[suppress]]\nwhat = \"a.B.m\"\nreason = \"r\"",
            "kind:pattern",
        ),
        (
            "[[suppress]]\nwhat = \"worn:a.B.m\"\nreason = \"r\"",
            "torn, cycle",
        ),
        ("[[suppress]]\nwhat = \"torn:a.B.m\"", "reason"),
        (
            "[[suppress]]\nwhat = \"torn:a.B.m\"\nreason = \"r\"\nuntil = \"soon\"",
            "until",
        ),
        ("sped = 1", "line 1"),
        ("[spec]\nheuristic = \"guess\"", "guess"),
        ("packages = [", "line 1"),
    ] {
        let error = Config::from_toml(text).unwrap_err();
        assert!(error.to_string().contains(word), "{text}: {error}");
        if word == "no reason" {
            assert!(matches!(error, ReadError::NoReason(_)));
        }
    }
}

#[test]
fn the_checked_in_schema_is_the_one_the_code_generates() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/untorn-toml.json");
    let generated = schema().unwrap();
    if std::env::var_os("UNTORN_BLESS").is_some() {
        std::fs::write(path, &generated).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        kept, generated,
        "run the tests with UNTORN_BLESS=1 to renew the schema file"
    );
}
