//! Questions that have a name.
//!
//! Each is plain SQL over the tables, so that `query` can ask a variation of it.
//! Of two tables that are joined the smaller one stands first, since the engine keeps that one in memory.

use crate::files::Narrow;

/// What stands for a region in an answer.
const NAME: &str = "coalesce(g.class || '.', '') || g.method || coalesce(' block ' || CAST(g.block AS VARCHAR), '')";

#[derive(Clone, Debug)]
pub enum Question {
    /// What is torn most, since when, and in which services.
    Top { limit: usize },
    /// What each day, or each version, brought.
    Trend { by_version: bool },
    /// What is found in the newest version, or in one that is named, and in none before it.
    New { version: Option<String> },
    /// What is torn in some runs and whole in others of the same version.
    Flaky { limit: usize },
    /// What was never torn in so many executions.
    Steady { executions: u64, limit: usize },
}

impl Question {
    /// How a page calls it.
    pub fn title(&self) -> String {
        match self {
            Self::Top { .. } => "Torn most".into(),
            Self::Trend { by_version: false } => "By day".into(),
            Self::Trend { by_version: true } => "By version".into(),
            Self::New { version: None } => "New in the newest version".into(),
            Self::New {
                version: Some(version),
            } => format!("New in version {version}"),
            Self::Flaky { .. } => "Torn in some runs only".into(),
            Self::Steady { executions, .. } => format!("Never torn in {executions} executions"),
        }
    }

    pub fn sql(&self) -> String {
        match self {
            Self::Top { limit } => format!(
                "SELECT {NAME} AS region, sum(g.torn) AS torn, sum(g.entered) AS entered,
                        count(*) AS runs, min(g.day) AS since,
                        first_value(r.version ORDER BY r.at) AS since_version,
                        string_agg(DISTINCT r.service, ', ') AS services
                 FROM runs r JOIN regions g ON g.run = r.run AND g.project = r.project
                 WHERE g.torn > 0
                 GROUP BY g.region, g.class, g.method, g.block
                 ORDER BY torn DESC, region LIMIT {limit}"
            ),
            Self::Trend { by_version } => trend(if *by_version {
                "coalesce(r.version, '(none)')"
            } else {
                "r.day"
            }),
            Self::New { version } => fresh(version.as_deref()),
            Self::Flaky { limit } => format!(
                "SELECT {NAME} AS region, r.version, count(*) AS runs,
                        sum(CASE WHEN g.torn > 0 THEN 1 ELSE 0 END) AS torn_in,
                        sum(g.torn) AS torn, sum(g.entered) AS entered
                 FROM runs r JOIN regions g ON g.run = r.run AND g.project = r.project
                 WHERE g.torn IS NOT NULL AND g.entered > 0
                 GROUP BY g.region, g.class, g.method, g.block, r.version
                 HAVING sum(CASE WHEN g.torn > 0 THEN 1 ELSE 0 END) BETWEEN 1 AND count(*) - 1
                 ORDER BY torn_in, runs DESC, region LIMIT {limit}"
            ),
            Self::Steady { executions, limit } => format!(
                "SELECT {NAME} AS region, sum(g.entered) AS entered, count(*) AS runs
                 FROM regions g
                 WHERE g.torn IS NOT NULL
                 GROUP BY g.region, g.class, g.method, g.block
                 HAVING sum(g.torn) = 0 AND sum(g.entered) >= {executions}
                 ORDER BY entered DESC, region LIMIT {limit}"
            ),
        }
    }

    /// What of the archive has to be looked at: what is new depends on all that was before.
    pub fn narrow(&self, asked: &Narrow) -> Narrow {
        match self {
            Self::New { .. } => Narrow {
                project: asked.project.clone(),
                ..Narrow::default()
            },
            _ => asked.clone(),
        }
    }
}

/// Runs, findings and what is found for the first time, by some property of runs.
fn trend(by: &str) -> String {
    format!(
        "WITH found AS (
             SELECT DISTINCT {by} AS part, f.fingerprint, r.at AS moment
             FROM runs r JOIN findings f ON f.run = r.run AND f.project = r.project
             WHERE f.rank <> 'low'),
         firsts AS (
             SELECT first_value(part ORDER BY moment) AS part, fingerprint
             FROM found GROUP BY fingerprint),
         ran AS (
             SELECT {by} AS part, count(*) AS runs, min(r.at) AS began,
                    sum(CASE WHEN r.observed > 0 THEN 1 ELSE 0 END) AS runs_torn
             FROM runs r GROUP BY {by}),
         counted AS (
             SELECT part, count(DISTINCT fingerprint) AS findings FROM found GROUP BY part),
         began AS (
             SELECT part, count(*) AS new FROM firsts GROUP BY part)
         SELECT ran.part, runs, runs_torn, coalesce(findings, 0) AS findings, coalesce(new, 0) AS new
         FROM ran LEFT JOIN counted ON ran.part = counted.part LEFT JOIN began ON ran.part = began.part
         ORDER BY ran.began, ran.part"
    )
}

/// Findings of a version that no run of an earlier one had; where versions were not said, days stand for them.
fn fresh(version: Option<&str>) -> String {
    let chosen = match version {
        // A quote is doubled, so that nothing but a text can come of it.
        Some(version) => format!("'{}'", version.replace('\'', "''")),
        None => {
            "(SELECT coalesce(version, day) FROM runs ORDER BY runs.at DESC LIMIT 1)".to_owned()
        }
    };
    format!(
        "WITH parts AS (SELECT run, project, runs.at AS moment, coalesce(version, day) AS part FROM runs),
         began AS (SELECT min(moment) AS moment FROM parts WHERE part = {chosen}),
         seen AS (
             SELECT f.fingerprint, f.class, f.method, f.verdict, f.rank, f.message, p.part, p.moment
             FROM parts p JOIN findings f ON f.run = p.run AND f.project = p.project),
         earlier AS (
             SELECT DISTINCT s.fingerprint FROM seen s CROSS JOIN began b
             WHERE s.moment < b.moment AND s.part <> {chosen})
         SELECT coalesce(s.class || '.', '') || s.method AS region, s.rank, s.verdict,
                count(*) AS runs, first_value(s.message ORDER BY s.moment) AS message
         FROM earlier e RIGHT JOIN seen s ON s.fingerprint = e.fingerprint
         WHERE s.part = {chosen} AND e.fingerprint IS NULL
         GROUP BY s.fingerprint, s.class, s.method, s.rank, s.verdict
         ORDER BY CASE s.rank WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, region"
    )
}
