//! The modes that are measured, and what they may cost.

/// A mode of `untorn run`.
#[derive(Debug)]
pub struct Mode {
    pub name: &'static str,
    pub options: &'static [&'static str],
    /// The largest geometric mean of the program's own slowdown that is aimed at, for drivers and kernels.
    pub drivers: Option<f64>,
    pub kernels: Option<f64>,
    /// What the papers measured, on their machines and programs.
    pub paper: &'static str,
    /// What the profile of a first run is for here.
    pub profile: Profile,
    /// A check is made first, which is not measured, and what it proved is not watched.
    pub facts: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    None,
    Write,
    /// A first run is made for it, which is not measured.
    Read,
}

/// Where the mode with DoubleChecker alone is in the list.
pub const SINGLE: usize = 1;

pub const MODES: [Mode; 6] = [
    Mode {
        name: "first",
        options: &["--mode", "first"],
        drivers: Some(1.6),
        kernels: Some(2.0),
        paper: "DoubleChecker 1.9×",
        profile: Profile::Write,
        facts: false,
    },
    Mode {
        name: "single",
        options: &["--fast"],
        drivers: Some(3.0),
        kernels: Some(4.0),
        paper: "DoubleChecker 3.6×",
        profile: Profile::None,
        facts: false,
    },
    Mode {
        name: "facts",
        options: &["--fast"],
        drivers: None,
        kernels: None,
        paper: "",
        profile: Profile::None,
        facts: true,
    },
    Mode {
        name: "second",
        options: &["--mode", "second"],
        drivers: Some(2.0),
        kernels: Some(2.5),
        paper: "DoubleChecker 2.4×",
        profile: Profile::Read,
        facts: false,
    },
    Mode {
        name: "default",
        options: &[],
        drivers: Some(6.0),
        kernels: Some(10.0),
        paper: "Atomizer 20–40×",
        profile: Profile::None,
        facts: false,
    },
    Mode {
        name: "velodrome",
        options: &["--with", "velodrome"],
        drivers: None,
        kernels: None,
        paper: "Velodrome 6.1×",
        profile: Profile::None,
        facts: false,
    },
];
