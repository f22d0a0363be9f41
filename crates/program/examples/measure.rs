use rayon::prelude::*;
use std::time::Instant;
use untorn_program::classes::Loader;
use untorn_program::load::*;
use untorn_program::*;
fn main() {
    let mut assumptions = Assumptions::default();
    let path = ClassPath::open(
        &[],
        &[],
        &JdkChoice::Discover,
        None,
        Limits::default(),
        &mut assumptions,
    )
    .unwrap();
    let names: Vec<String> = path
        .jdk()
        .unwrap()
        .class_names()
        .iter()
        .map(|s| s.to_string())
        .collect();
    let mut loader = Loader::new(path, Limits::default(), assumptions);
    let t = Instant::now();
    let ids: Vec<_> = names.iter().map(|n| loader.class_named(n)).collect();
    loader.load(ids.iter().copied());
    println!("load {} classes {:?}", ids.len(), t.elapsed());
    let t = Instant::now();
    loader.link(&ids);
    println!("link {:?}", t.elapsed());
    let t = Instant::now();
    let c = &loader.classes;
    let methods: Vec<_> = (0..c.method_count())
        .map(MethodId::new)
        .filter(|m| c.method(*m).has_code)
        .collect();
    let r: Vec<_> = methods
        .par_iter()
        .map(|m| {
            (
                *m,
                ir::build_body(c, *m).map(|b| (b.instrs.len(), b.values.len(), b.blocks.len())),
            )
        })
        .collect();
    println!("bodies {} {:?}", methods.len(), t.elapsed());
    let mut sums = (0, 0, 0);
    for (m, r) in r {
        match r {
            Ok(s) => {
                sums.0 += s.0;
                sums.1 += s.1;
                sums.2 += s.2
            }
            Err(e) => println!("{}: {e}", c.describe_method(m)),
        }
    }
    println!("{sums:?}");
    for k in loader.assumptions.iter().take(30) {
        println!("{k:?}");
    }
}
