//! Days of the calendar, for suppressions that expire.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// A day, ordered by time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, JsonSchema)]
#[schemars(with = "String", extend("format" = "date"))]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    pub fn new(year: i64, month: u8, day: u8) -> Self {
        Self { year, month, day }
    }

    /// The day (in UTC) that lies this many seconds after the beginning of 1970.
    ///
    /// Counts in eras of 400 years from a first of March, so that the leap day is the last of its year.
    pub fn from_unix(seconds: u64) -> Self {
        let days = (seconds / 86_400) as i64 + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self::new(year, month as u8, day as u8)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = toml::value::Datetime::deserialize(deserializer)?;
        match (given.date, given.time) {
            (Some(date), None) => Ok(Self::new(date.year.into(), date.month, date.day)),
            _ => Err(D::Error::custom(
                "a day is written 2027-01-31, without quotes or a time",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_164_800, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (4_107_542_399, "2100-02-28"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::from_unix(seconds).to_string(), day);
        }
        let all: Vec<Date> = (0..60_000)
            .map(|day| Date::from_unix(day * 86_400))
            .collect();
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
