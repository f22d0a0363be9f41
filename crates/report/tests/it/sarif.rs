//! SARIF is what the standard says, within the limits of code hosts.
//!
//! The official schema is a file of a published crate: the lock file pins that crate by its checksum, and cargo brings it here without compiling it.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use untorn_findings::{Document, Evidence, Step, Suppressed, SuppressedBy};
use untorn_report::{Excerpts, sarif};

use crate::sample::{document, excerpts};

fn official_schema() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let carrier = (packages.iter())
        .find(|package| package["name"] == "serde-sarif")
        .unwrap();
    let manifest = PathBuf::from(carrier["manifest_path"].as_str().unwrap());
    let file = manifest.with_file_name("src").join("schema.json");
    // The standard's pattern of languages has a stray bracket, which JavaScript takes for itself and the validator does not.
    let text = std::fs::read_to_string(file).unwrap();
    let text = text.replace("{2}]?$", r"{2}\\]?$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let id = schema["$id"].as_str().unwrap();
    assert!(id.contains("oasis-tcs/sarif-spec") && id.ends_with("sarif-schema-2.1.0.json"));
    schema
}

fn complaints(validator: &jsonschema::Validator, log: &Value) -> Vec<String> {
    (validator.iter_errors(log))
        .map(|error| format!("{}: {error}", error.instance_path()))
        .take(5)
        .collect()
}

fn log(document: &Document, excerpts: &Excerpts) -> Value {
    serde_json::from_str(&sarif::render(document, excerpts).unwrap()).unwrap()
}

#[test]
fn every_log_fits_the_official_schema_and_the_schema_can_refuse() {
    let validator = jsonschema::validator_for(&official_schema()).unwrap();
    let mut full = document();
    let suppressed = full.findings.pop().unwrap();
    full.suppressed.push(Suppressed {
        finding: suppressed,
        by: SuppressedBy::Config,
        reason: Some("known".into()),
    });
    for document in [&full, &Document::new(vec![])] {
        for excerpts in [excerpts(document), Excerpts::default()] {
            let log = log(document, &excerpts);
            assert_eq!(complaints(&validator, &log), Vec::<String>::new());
        }
    }
    let mut broken = log(&full, &Excerpts::default());
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!complaints(&validator, &broken).is_empty());
    let mut broken = log(&full, &Excerpts::default());
    broken["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"] = Value::Null;
    assert!(!complaints(&validator, &broken).is_empty());
}

#[test]
fn a_torn_region_has_a_flow_for_each_thread_in_one_order() {
    let document = document();
    let log = log(&document, &excerpts(&document));
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "torn");
    assert_eq!(result["level"], "error");
    assert_eq!(
        result["partialFingerprints"]["untornRegion/v1"],
        document.findings[0].fingerprint
    );
    let flows = result["codeFlows"][0]["threadFlows"].as_array().unwrap();
    let order: Vec<(String, Vec<u64>)> = (flows.iter())
        .map(|flow| {
            let steps = flow["locations"].as_array().unwrap();
            let order = steps.iter().map(|l| l["executionOrder"].as_u64().unwrap());
            (flow["id"].as_str().unwrap().to_owned(), order.collect())
        })
        .collect();
    assert_eq!(
        order,
        [
            ("teller-1".to_owned(), vec![1, 4]),
            ("auditor".to_owned(), vec![2, 3])
        ]
    );
    let first = &flows[0]["locations"][0]["location"]["physicalLocation"];
    assert_eq!(first["artifactLocation"]["uri"], "src/bank/Account.java");
    assert_eq!(first["region"]["startLine"], 39);
    assert!(
        first["region"]["snippet"]["text"]
            .as_str()
            .unwrap()
            .contains("balance -= amount")
    );
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        let rule = &log["runs"][0]["tool"]["driver"]["rules"][index];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(!rule["help"]["markdown"].as_str().unwrap().is_empty());
    }
}

#[test]
fn the_limits_of_code_hosts_are_kept_and_what_is_left_out_is_said() {
    let mut document = document();
    let one = document.findings[0].clone();
    let steps = &mut document.findings[0].evidence.interleavings[0].steps;
    let step = steps[0].clone();
    steps.splice(
        1..1,
        (0..3_000).map(|i| Step {
            n: 10 + i,
            ..step.clone()
        }),
    );
    document.findings.extend((0..sarif::MOST_RESULTS).map(|i| {
        let mut finding = one.clone();
        finding.fingerprint = format!("{i:020x}");
        finding.evidence = Evidence::default();
        finding
    }));
    let log = log(&document, &Excerpts::default());
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), sarif::MOST_RESULTS);
    let flows = results[0]["codeFlows"][0]["threadFlows"]
        .as_array()
        .unwrap();
    let shown: usize = flows
        .iter()
        .map(|f| f["locations"].as_array().unwrap().len())
        .sum();
    assert_eq!(shown, sarif::MOST_LOCATIONS);
    let note = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(
        note.as_str()
            .unwrap()
            .starts_with("7 of 25007 findings are left out"),
        "{note}"
    );
}
