//! Colour, on terminals only.

use anstyle::{AnsiColor, Style as Ansi};

/// The few styles of a report; each leaves text as it is when colour is off.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colour: bool,
}

impl Style {
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    fn paint(self, style: Ansi, text: &str) -> String {
        if self.colour {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    pub fn observed(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    pub fn suspected(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default().bold(), text)
    }

    pub fn strong(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }

    pub fn faint(self, text: &str) -> String {
        self.paint(Ansi::new().dimmed(), text)
    }
}
