//! Archive, wheel and jar: each is installed and used.

use std::process::Command;

use super::{Dist, said};

const TORN: &str = "
package shop;
public class Main {
    static class Stock {
        private int left = 1_000;
        synchronized int left() { return left; }
        synchronized void setLeft(int to) { left = to; }
        void sell() { int now = left(); Thread.yield(); setLeft(now - 1); }
    }
    public static void main(String[] arguments) throws Exception {
        Stock stock = new Stock();
        var both = new java.util.concurrent.CyclicBarrier(2);
        Runnable till = () -> {
            for (int i = 0; i < 200; i++) {
                try { both.await(); } catch (Exception e) { throw new IllegalStateException(e); }
                stock.sell();
            }
        };
        Thread[] tills = { new Thread(till), new Thread(till) };
        for (Thread one : tills) one.start();
        for (Thread one : tills) one.join();
    }
}
";

#[test]
fn a_wheel_is_one_file_that_watches_programs_with_the_agent_inside_it() {
    let dist = Dist::get();
    let folder = tempfile::tempdir().unwrap();
    let installed = Command::new("python3")
        .args(["-m", "pip", "install", "--quiet", "--no-index", "--target"])
        .arg(folder.path().join("python"))
        .arg(dist.file(".whl"))
        .output()
        .unwrap();
    assert!(installed.status.success(), "{installed:?}");
    let source = folder.path().join("Main.java");
    std::fs::write(&source, TORN).unwrap();
    let mut watched = Command::new(folder.path().join("python/bin/untorn"));
    dist.at_home(&mut watched);
    let watched = watched
        .args(["run", "--include", "shop.**", "--", "java"])
        .arg(&source)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(watched.status.code(), Some(1), "{}", said(&watched));
    assert!(said(&watched).contains("Stock.sell"), "{}", said(&watched));
}

#[test]
fn the_archive_has_its_agent_beside_it_and_the_jar_starts_the_program() {
    let dist = Dist::get();
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar")
        .args(["--extract", "--gzip", "--strip-components=1", "--file"])
        .arg(dist.file(".tar.gz"))
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(unpacked.success());
    let asked = Command::new(folder.path().join("bin/untorn"))
        .args(["generate", "agent"])
        .env_remove("UNTORN_AGENT")
        .output()
        .unwrap();
    let agent = folder.path().join("lib/libuntorn_agent.so");
    assert_eq!(
        said(&asked).trim(),
        agent.canonicalize().unwrap().to_str().unwrap()
    );
    let archive = Command::new(folder.path().join("bin/untorn"))
        .args(["archive", "--help"])
        .output()
        .unwrap();
    assert!(
        archive.status.success() && said(&archive).contains("import"),
        "{}",
        said(&archive)
    );
    let bill = std::fs::read_to_string(folder.path().join("untorn.cdx.json")).unwrap();
    assert!(
        bill.contains("pkg:cargo/clap@")
            && bill.contains("pkg:cargo/datafusion@")
            && !bill.contains("snapbox"),
        "{bill}"
    );

    let jar = dist.path("maven/dev/untorn/untorn/0.1.0/untorn-0.1.0.jar");
    let mut java = Command::new("java");
    dist.at_home(&mut java);
    let version = java
        .arg("-jar")
        .arg(&jar)
        .arg("--version")
        .output()
        .unwrap();
    assert_eq!(
        said(&version).trim(),
        concat!("untorn ", env!("CARGO_PKG_VERSION"))
    );
    // Its status is the program's.
    let mut java = Command::new("java");
    dist.at_home(&mut java);
    let refused = java
        .arg("-jar")
        .arg(&jar)
        .arg("no-such-command")
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    let refused = Command::new("java")
        .args(["-Duntorn.executable=/no/such/untorn", "-jar"])
        .arg(&jar)
        .output()
        .unwrap();
    assert!(
        said(&refused).starts_with("untorn: /no/such/untorn is no program"),
        "{}",
        said(&refused)
    );
}
