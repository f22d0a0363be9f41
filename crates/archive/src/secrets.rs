//! Keeps credentials out of what is said: libraries put what a server answered into their errors, and a server may repeat what it was sent.

/// The text without the values of environment variables that hold credentials.
pub fn without(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        let name = name.to_ascii_uppercase();
        let secret = ["SECRET", "KEY", "TOKEN", "PASSWORD", "CREDENTIAL"];
        // Short values, such as a flag, would tear unrelated words.
        if value.len() >= 8 && secret.iter().any(|part| name.contains(part)) {
            text = text.replace(value, "***");
        }
    }
    text
}
