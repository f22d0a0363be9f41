//! Stretches of time as people write them: `90`, `90s`, `5m`, `2h`.

use std::time::Duration;

/// Reads one that is longer than nothing; without a unit it is in seconds.
pub fn parse(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        0 => Err("more than nothing".to_owned()),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// Reads one, as seconds; without a unit it is in seconds.
pub fn seconds(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        other => return Err(format!("{other} is no unit: s, m or h")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "a number with s, m or h behind it, such as 5m".to_owned())?;
    let seconds = number.checked_mul(unit);
    seconds.ok_or_else(|| "less than the age of the world".to_owned())
}

/// As people say it: `45 s`, `12 min`, `3 h 5 min`.
pub fn words(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60) {
        (0, 0 | 1) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_nonsense_is_refused() {
        let seconds = |text| parse(text).map(|time| time.as_secs());
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("5m"), Ok(300));
        assert_eq!(seconds("2h"), Ok(7200));
        for wrong in ["", "m", "5 m", "5d", "0", "-1", "99999999999999999999h"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        // A budget may be spent at once.
        assert_eq!(super::seconds("0"), Ok(0));
        assert_eq!(words(Duration::from_secs(119)), "119 s");
        assert_eq!(words(Duration::from_mins(2)), "2 min");
        assert_eq!(words(Duration::from_mins(185)), "3 h 5 min");
    }
}
