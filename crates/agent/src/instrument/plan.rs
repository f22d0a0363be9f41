//! What is instrumented, and how: the configuration, ready for use.

use untorn_channel::Config;
use untorn_channel::config::{Choice, ChosenRegion, Mode, Tracking, is_platform, is_scheduler};
use untorn_spec::{Pattern, PatternError, ReadError, Specification};

use super::known::Known;
use super::model::Models;
use super::platform::Platform;
use super::steer::Steered;

/// Decides for one JVM what the rewriter does.
#[derive(Debug)]
pub struct Plan {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    pub(super) spec: Specification,
    pub(super) arrays: bool,
    pub(super) stacks: bool,
    /// The reader wants the class files.
    pub(super) code: bool,
    /// Threads own objects: accesses test that first, and loops poll.
    pub(super) optimistic: bool,
    /// Objects that one thread alone has touched go unrecorded.
    pub(super) elides: bool,
    /// Nothing is recorded but which transactions depend on which.
    pub(super) is_first: bool,
    /// What a second run records; none if everything is.
    choice: Option<Choice>,
    /// Where threads are held up, in a steered run.
    pub steered: Option<Steered>,
    /// What was proved of the program, so that it need not be watched.
    pub known: Option<Known>,
    pub models: Models,
    pub platform: Platform,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("include or exclude: {0}")]
    Pattern(#[from] PatternError),
    #[error("specification: {0}")]
    Specification(#[from] ReadError),
}

impl Plan {
    pub fn new(config: &Config) -> Result<Self, PlanError> {
        let patterns = |texts: &[String]| {
            texts
                .iter()
                .map(|text| text.parse())
                .collect::<Result<Vec<Pattern>, _>>()
        };
        Ok(Self {
            include: patterns(&config.include)?,
            exclude: patterns(&config.exclude)?,
            spec: match &config.spec {
                Some(text) => Specification::from_toml(text)?,
                None => Specification::default(),
            },
            arrays: config.arrays,
            stacks: config.stacks,
            code: config.code,
            optimistic: config.tracking == Tracking::Optimistic,
            elides: config.tracking == Tracking::Optimistic && !config.keep_private,
            is_first: matches!(config.mode, Mode::First),
            choice: match &config.mode {
                Mode::Second(choice) => Some(choice.clone()),
                Mode::Single | Mode::First => None,
            },
            steered: config.steering.as_ref().map(Steered::new).transpose()?,
            known: config.facts.clone().map(Known::new),
            models: Models::builtin(),
            platform: Platform::builtin(),
        })
    }

    /// Whether nothing is a region in threads of this name.
    pub fn excludes_thread(&self, name: &str) -> bool {
        self.spec.excludes_thread(name)
    }

    /// Whether a second run records a region; if the class has changed since the choice was made, each of its regions.
    pub(super) fn chooses(&self, class: &str, hash: u64, region: &ChosenRegion) -> bool {
        let chosen = self.choice.as_ref().and_then(|it| it.classes.get(class));
        chosen.is_some_and(|class| class.is_stale(hash) || class.regions.contains(region))
    }

    /// Whether a first run found out that a region is not meant to be one step.
    pub(super) fn is_demoted(&self, class: &str, region: &ChosenRegion) -> bool {
        let demoted = self.choice.as_ref().and_then(|it| it.demoted.get(class));
        demoted.is_some_and(|demoted| demoted.contains(region))
    }

    /// Whether classes of this name (with dots) are watched.
    ///
    /// The name alone decides, also about the shadow field, so every site that is rewritten knows which classes have one.
    pub fn watches(&self, class: &str) -> bool {
        if is_platform(class) || self.include.is_empty() && is_scheduler(class) {
            return false;
        }
        // Code that is no region can be called from one that was chosen, so only if none was nothing can ever be recorded.
        if self.choice.as_ref().is_some_and(Choice::is_empty) {
            return false;
        }
        let named =
            |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches_name(class));
        (self.include.is_empty() || named(&self.include)) && !named(&self.exclude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(include: &[&str], exclude: &[&str]) -> Plan {
        let texts = |all: &[&str]| all.iter().map(|&text| text.to_owned()).collect();
        Plan::new(&Config {
            include: texts(include),
            exclude: texts(exclude),
            ..Config::default()
        })
        .unwrap()
    }

    #[test]
    fn everything_outside_the_platform_is_watched_by_default() {
        let plan = plan(&[], &[]);
        assert!(
            plan.watches("bank.Account") && plan.watches("Main") && plan.watches("javaagent.X")
        );
        for platform in ["java.util.HashMap", "sun.misc.Unsafe", "javax.swing.JFrame"] {
            assert!(!plan.watches(platform), "{platform}");
        }
    }

    #[test]
    fn schedulers_are_watched_only_when_they_are_named() {
        let all = plan(&[], &[]);
        assert!(!all.watches("kotlinx.coroutines.scheduling.CoroutineScheduler"));
        assert!(!all.watches("kotlinx.coroutines.sync.MutexImpl"));
        assert!(plan(&["kotlinx.coroutines.**"], &[]).watches("kotlinx.coroutines.JobSupport"));
    }

    #[test]
    fn patterns_choose_and_exclusion_is_stronger() {
        let plan = plan(&["bank.**", "java.util.**"], &["bank.gen.*"]);
        assert!(plan.watches("bank.Account") && plan.watches("bank.a.B"));
        assert!(!plan.watches("bank.gen.X") && !plan.watches("shop.Cart"));
        assert!(!plan.watches("java.util.HashMap"), "never the platform");
    }

    #[test]
    fn mistakes_are_told() {
        let config = Config {
            spec: Some("heuristic = \"bold\"".to_owned()),
            ..Config::default()
        };
        assert!(Plan::new(&config).unwrap_err().to_string().contains("bold"));
        let config = Config {
            include: vec!["a.B@x".to_owned()],
            ..Config::default()
        };
        assert!(
            Plan::new(&config)
                .unwrap_err()
                .to_string()
                .contains("a.B@x")
        );
    }
}
