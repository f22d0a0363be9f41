#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(broken) = untorn_trace::exercise::utr(bytes) {
        panic!("{broken}");
    }
});
