//! The specification that held in all runs: what was torn or demoted in one of them is taken out.

use std::process::ExitCode;

use arrow::array::{Array, AsArray};
use arrow::datatypes::Int32Type;
use untorn_spec::{Pattern, Specification};

use crate::answer::deliver;
use crate::args::Refine;
use crate::{Failure, complain, open};

/// Every region that some run tore or found too long to be meant as one step.
const TAKEN_OUT: &str = "
    SELECT class, method, descriptor, block
    FROM regions
    WHERE (torn > 0 OR state IN ('torn', 'demoted')) AND class IS NOT NULL AND descriptor IS NOT NULL
    GROUP BY class, method, descriptor, block
    ORDER BY class, method, descriptor, block";

pub fn run(args: &Refine) -> Result<ExitCode, Failure> {
    let mut spec = match &args.spec {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).map_err(|error| Failure::file(path, &error))?;
            Specification::from_toml(&text).map_err(|error| Failure::file(path, &error))?
        }
        None => Specification::default(),
    };
    let archive = open(&args.narrow.place)?;
    let answer = archive.ask(TAKEN_OUT, &args.narrow.narrow())?;
    let mut taken = 0;
    for batch in &answer.rows {
        let [class, method, descriptor] = [0, 1, 2].map(|at| {
            arrow::compute::cast(batch.column(at), &arrow::datatypes::DataType::Utf8)
                .map_err(|error| Failure::Said(error.to_string()))
        });
        let (class, method, descriptor) = (class?, method?, descriptor?);
        let (class, method, descriptor) = (
            class.as_string::<i32>(),
            method.as_string::<i32>(),
            descriptor.as_string::<i32>(),
        );
        let block = batch.column(3).as_primitive::<Int32Type>();
        for row in 0..batch.num_rows() {
            let block = (!block.is_null(row)).then(|| block.value(row).unsigned_abs());
            let (class, method) = (class.value(row), method.value(row));
            let pattern = Pattern::exact(class, method, descriptor.value(row), block);
            if !spec.exclude.contains(&pattern) {
                spec.exclude.push(pattern);
                taken += 1;
            }
        }
    }
    let text = spec
        .to_toml()
        .map_err(|error| Failure::Said(error.to_string()))?;
    deliver(&text, args.output.as_deref())?;
    eprintln!("untorn: {taken} regions were torn or too long in some run and are taken out");
    Ok(complain(&answer.complaints))
}
