//! What is left out of views and reports: the paper's filters, each a switch, and ours.

/// The switches; the default is the paper's setting, and `one_section` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Overlap and chain are decided among fields of one class at a time (section 4).
    pub partition: bool,
    /// Accesses through `this` in the scope of a constructor are left out (section 4); those of class initializers always are.
    pub initializers: bool,
    /// Final fields are left out (section 3.3).
    pub final_fields: bool,
    /// Volatile fields are left out (section 3.3), and what atomic variables hold.
    pub volatile_fields: bool,
    /// Fields that nothing writes, initialization aside, are left out (section 3.3).
    pub read_only_fields: bool,
    /// Ours: what concurrent collections hold is left out.
    pub concurrent: bool,
    /// Fields of library classes for input and output are left out (section 4).
    pub io: bool,
    /// Only methods with a subordinate lock view on the fields in question are reported (section 4).
    pub subordinate: bool,
    /// Of inconsistent method views only the smallest are reported (section 4).
    pub smallest: bool,
    /// Callers of a reported method are not reported (section 4).
    pub lowest: bool,
    /// A read enters a lock view only if its value leaves the lock (section 4, an experiment there: off).
    pub escaping_values: bool,
    /// Ours: a method whose whole view lies in one critical section is not reported.
    pub one_section: bool,
    /// Ours: a method is reported only if the specification asks that it, or an inconsistent caller of it, be atomic.
    pub specified: bool,
    /// The elements of an array are one variable; else they are none, as in the paper.
    pub arrays: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            partition: true,
            initializers: true,
            final_fields: true,
            volatile_fields: true,
            read_only_fields: true,
            concurrent: false,
            io: true,
            subordinate: true,
            smallest: true,
            lowest: true,
            escaping_values: false,
            one_section: true,
            specified: false,
            arrays: false,
        }
    }
}
