//! Moments and days in UTC, without a calendar library.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400_000;

/// Milliseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Moment(pub i64);

impl Moment {
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// The day as `2026-03-09`.
    pub fn day(self) -> String {
        // Howard Hinnant, chrono-compatible low-level date algorithms, civil_from_days.
        let days = self.0.div_euclid(DAY) + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// The day so many days earlier.
    pub fn days_before(self, days: u32) -> Self {
        Self(self.0 - i64::from(days) * DAY)
    }
}

impl From<SystemTime> for Moment {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH);
        Self(since.map_or(0, |since| since.as_millis() as i64))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_day = self.0.rem_euclid(DAY) / 1000;
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "{} {hour:02}:{minute:02}:{second:02}", self.day())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let of = |days: i64| Moment(days * DAY).day();
        assert_eq!(of(0), "1970-01-01");
        assert_eq!(of(-1), "1969-12-31");
        assert_eq!(of(11_016), "2000-02-29");
        assert_eq!(of(19_782), "2024-02-29");
        assert_eq!(of(19_783), "2024-03-01");
        assert_eq!(
            Moment(19_783 * DAY + 3_661_000).to_string(),
            "2024-03-01 01:01:01"
        );
    }
}
