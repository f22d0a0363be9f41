//! What the types say of classes of the JDK.

use std::path::{Path, PathBuf};

use untorn_jdk::Jdk;
use untorn_program::load::JdkChoice;
use untorn_program::{LoadPlan, Program};
use untorn_types::front::Options;
use untorn_types::report::{Outcome, Typed, signature};

/// The releases that the page speaks of.
pub const RELEASES: [u16; 2] = [17, 25];

/// The classes that the page speaks of, in its order.
pub const CLASSES: [&str; 10] = [
    "java.lang.StringBuffer",
    "java.lang.String",
    "java.util.Vector",
    "java.util.Hashtable",
    "java.util.Collections$SynchronizedList",
    "java.util.zip.Inflater",
    "java.util.zip.Deflater",
    "java.util.Observable",
    "java.io.PrintWriter",
    "java.net.URL",
];

/// The verdicts on the exported methods of a class.
pub struct Verdicts {
    pub class: &'static str,
    /// Those that are proved.
    pub proved: usize,
    /// Those among them that access plain fields in a race.
    pub racy: usize,
    /// Those that are proved if value methods of unseen objects are harmless.
    pub if_pure: usize,
    /// The signatures of the others, each with the reason in words.
    pub unproved: Vec<(String, String)>,
}

impl Verdicts {
    pub fn share(&self) -> String {
        format!("{} of {}", self.proved, self.proved + self.unproved.len())
    }
}

/// The JDKs of the wanted releases.
pub fn installed() -> Vec<(u16, PathBuf)> {
    let jdks = Jdk::for_tests();
    let of = |release: &u16| {
        let jdk = jdks.iter().find(|jdk| jdk.major() == u32::from(*release))?;
        Some((*release, jdk.home().to_owned()))
    };
    RELEASES.iter().filter_map(of).collect()
}

fn outcome(program: &Program, options: Options) -> Outcome {
    let classes = program.classes();
    let mut typed = Typed::with(program, options).unwrap();
    typed.outcome(&|method, block| {
        block.is_none()
            && classes.is_exported(method)
            && program.is_input(classes.method(method).class)
    })
}

/// Types one class of a JDK as a library.
pub fn verdicts(home: &Path, class: &'static str) -> Verdicts {
    let plan = LoadPlan {
        jdk_classes: vec![class.to_owned()],
        jdk: JdkChoice::Home(home.to_owned()),
        ..LoadPlan::default()
    };
    let program = Program::load(&plan).unwrap();
    let found = outcome(&program, Options::default());
    let pure = Options {
        pure_values: true,
        ..Options::default()
    };
    let if_pure = outcome(&program, pure);
    let mut unproved: Vec<(String, String)> = found
        .findings
        .iter()
        .map(|finding| {
            let region = &finding.region;
            let descriptor = region.descriptor.as_deref().unwrap();
            let method = signature("", &region.method, descriptor);
            (method[1..].to_owned(), in_short(&finding.message))
        })
        .collect();
    unproved.sort();
    Verdicts {
        class,
        proved: found.proved.len() + found.proved_if_sequential.len(),
        racy: found.proved_if_sequential.len(),
        if_pure: if_pure.proved.len() + if_pure.proved_if_sequential.len(),
        unproved,
    }
}

/// The end of the chain of calls, without the lines, which every build of a JDK has its own.
fn in_short(message: &str) -> String {
    let said = message.split_once(": it ").map_or("", |(_, said)| said);
    let mut text = String::new();
    let mut rest = said;
    while let Some(at) = rest.find("line ") {
        let digits = rest[at + 5..].find(|c: char| !c.is_ascii_digit());
        let end = digits.map_or(rest.len(), |n| at + 5 + n);
        let (mut before, after) = (&rest[..at], &rest[end..]);
        let after = match before.strip_suffix(" (") {
            Some(stripped) => {
                before = stripped;
                after.strip_prefix(')').unwrap_or(after)
            }
            None => {
                before = before.trim_end_matches(" at ").trim_end();
                after
            }
        };
        text.push_str(before);
        rest = after;
    }
    text.push_str(rest);
    let mut last = text.as_str();
    let verbs = [
        "calls ", "reads ", "writes ", "takes ", "gives ", "turns ", "runs ",
    ];
    while let Some((_, after)) = last.split_once(", which ") {
        let goes_on = verbs.iter().any(|verb| after.starts_with(verb));
        if !goes_on {
            break;
        }
        last = after;
    }
    last.replace(", which is not one step", "")
        .replace("; others can come in between", "")
        .replace('|', "\\|")
}
