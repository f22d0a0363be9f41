//! A document with every sort of evidence, as the analyses write them for the bundled bank.

use untorn_findings::{
    Document, Edge, EdgeKind, Evidence, Finding, GuardLoss, Interleaving, Kind, LockView,
    MethodViews, Place, Race, Reduction, Region, Step, Transaction, Typing, TypingPart, Verdict,
    View, ViewConflict, merge,
};
use untorn_report::{Excerpts, Listing};

pub fn place(class: &str, method: &str, line: u32) -> Place {
    let simple = class.rsplit('.').next().unwrap();
    Place {
        class: Some(class.to_owned()),
        method: Some(method.to_owned()),
        file: Some(format!("{simple}.java")),
        line: Some(line),
    }
}

pub fn region(class: &str, method: &str, line: u32) -> Region {
    Region {
        class: Some(class.to_owned()),
        method: method.to_owned(),
        descriptor: Some("(J)V".to_owned()),
        file: place(class, method, line).file,
        line: Some(line),
        ..Region::default()
    }
}

fn step(n: u32, thread: &str, op: &str, target: &str, place: Place, locks: &[&str]) -> Step {
    Step {
        n,
        thread: thread.to_owned(),
        event: Some(u64::from(n) * 10),
        op: op.to_owned(),
        target: target.to_owned(),
        place: Some(place),
        within: None,
        transaction: Some(u32::from(thread == "auditor")),
        locks: locks.iter().map(|&lock| lock.to_owned()).collect(),
        stack: vec![],
    }
}

fn edge(from: u32, to: u32, kind: EdgeKind) -> Edge {
    Edge {
        from,
        to,
        kind,
        approximate: false,
    }
}

fn transactions(first: &Region, other: &Region) -> Vec<Transaction> {
    let of = |thread: &str, region: &Region| Transaction {
        thread: thread.to_owned(),
        region: Some(region.clone()),
        begin: 5,
        end: Some(90),
    };
    vec![of("teller-1", first), of("auditor", other)]
}

fn torn_transfer() -> Finding {
    let transfer = region("bank.Bank", "transfer", 9);
    let total = region("bank.Bank", "total", 20);
    let (checking, savings) = ("bank.Account@7.balance", "bank.Account@8.balance");
    let steps = vec![
        step(
            1,
            "teller-1",
            "write",
            checking,
            place("bank.Account", "withdrawSafely", 39),
            &["bank.Account@7"],
        ),
        step(
            2,
            "auditor",
            "read",
            checking,
            place("bank.Account", "balance", 12),
            &["bank.Account@7", "bank.Account@8"],
        ),
        step(
            3,
            "auditor",
            "read",
            savings,
            place("bank.Account", "balance", 12),
            &["bank.Account@7", "bank.Account@8"],
        ),
        step(
            4,
            "teller-1",
            "write",
            savings,
            place("bank.Account", "deposit", 21),
            &["bank.Account@8"],
        ),
    ];
    let interleaving = Interleaving {
        analysis: "velodrome".into(),
        transactions: transactions(&transfer, &total),
        steps,
        edges: vec![
            edge(1, 2, EdgeKind::Data),
            edge(2, 3, EdgeKind::Program),
            edge(3, 4, EdgeKind::Data),
        ],
        torn: Some((1, 4)),
    };
    let mut finding = Finding::new(
        "velodrome",
        Kind::Torn,
        Verdict::Observed,
        transfer,
        "Bank.transfer is torn".into(),
        Evidence {
            interleavings: vec![interleaving],
            ..Evidence::default()
        },
    );
    finding.occurrences = 37;
    finding.analyses = vec!["aerodrome".into(), "atomizer".into(), "velodrome".into()];
    let mut enter = step(
        1,
        "teller-1",
        "begin",
        "Bank.transfer",
        place("bank.Bank", "transfer", 9),
        &[],
    );
    enter.stack = vec![place("bank.Main", "tell", 34)];
    let mut commit = step(
        2,
        "teller-1",
        "release",
        "bank.Account@7",
        place("bank.Bank", "transfer", 12),
        &["bank.Account@7"],
    );
    commit.stack = vec![
        place("bank.Bank", "transfer", 12),
        place("bank.Main", "tell", 34),
    ];
    let violation = step(
        3,
        "teller-1",
        "acquire",
        "bank.Account@8",
        place("bank.Bank", "transfer", 14),
        &[],
    );
    finding.evidence.reductions.push(Reduction {
        entry: enter,
        commit,
        violation,
        why: "it gives up lock bank.Account@7 at Bank.java:12 and has to have taken effect there, but then takes lock bank.Account@8 at Bank.java:14".into(),
    });
    finding
}

fn torn_price() -> Finding {
    let price = region("bank.PriceCache", "price", 19);
    let key = "java.util.HashMap@3[\"item7\"]";
    let lock = &["bank.PriceCache@2"];
    let interleaving = Interleaving {
        analysis: "aerodrome".into(),
        transactions: vec![
            Transaction {
                thread: "teller-1".into(),
                region: Some(price.clone()),
                begin: 3,
                end: Some(60),
            },
            Transaction {
                thread: "teller-2".into(),
                region: Some(price.clone()),
                begin: 8,
                end: Some(40),
            },
        ],
        steps: vec![
            step(
                1,
                "teller-1",
                "read",
                key,
                place("bank.PriceCache", "get", 11),
                lock,
            ),
            Step {
                transaction: Some(1),
                ..step(
                    2,
                    "teller-2",
                    "write",
                    key,
                    place("bank.PriceCache", "put", 15),
                    lock,
                )
            },
            step(
                3,
                "teller-1",
                "write",
                key,
                place("bank.PriceCache", "put", 15),
                lock,
            ),
        ],
        edges: vec![edge(1, 2, EdgeKind::Data), edge(2, 3, EdgeKind::Data)],
        torn: Some((1, 3)),
    };
    Finding::new(
        "aerodrome",
        Kind::Torn,
        Verdict::Observed,
        price,
        "PriceCache.price is torn".into(),
        Evidence {
            interleavings: vec![interleaving],
            enclosing: vec![region("bank.Main", "tell", 32)],
            ..Evidence::default()
        },
    )
}

fn views_of_place() -> Finding {
    let lock = "bank.OrderBook@5.lock";
    let view = |thread: &str, fields: &[&str], lines: &[u32], method: &str| View {
        thread: thread.into(),
        lock: lock.into(),
        fields: fields
            .iter()
            .map(|f| format!("bank.OrderBook@5.{f}"))
            .collect(),
        places: lines
            .iter()
            .map(|&line| place("bank.OrderBook", method, line))
            .collect(),
        region: Some(region("bank.OrderBook", method, lines[0])),
    };
    let conflict = ViewConflict {
        fields: vec![
            "bank.OrderBook@5.orders".into(),
            "bank.OrderBook@5.volume".into(),
        ],
        maximal: view("auditor", &["orders", "volume"], &[42], "average"),
        diverging: vec![
            view("teller-1", &["orders"], &[15], "place"),
            view("teller-1", &["volume"], &[22], "place"),
        ],
    };
    Finding::new(
        "views",
        Kind::ViewInconsistency,
        Verdict::Suspected,
        region("bank.OrderBook", "place", 12),
        "OrderBook.place uses orders, volume apart, which auditor uses as one under lock bank.OrderBook@5.lock".into(),
        Evidence { views: vec![conflict], ..Evidence::default() },
    )
}

fn methods_of_place() -> Finding {
    let other = LockView {
        method: region("bank.OrderBook", "average", 40),
        lock: "this.lock".into(),
        accesses: vec!["orders: read".into(), "volume: read".into()],
        places: vec![place("bank.OrderBook", "average", 42)],
        thread: "Main.audit".into(),
    };
    let own = |accesses: &str, line| LockView {
        method: region("bank.OrderBook", "place", 12),
        lock: "this.lock".into(),
        accesses: vec![accesses.into()],
        places: vec![place("bank.OrderBook", "place", line)],
        thread: "Main.tell".into(),
    };
    Finding::new(
        "consistency",
        Kind::MethodInconsistency,
        Verdict::Suspected,
        region("bank.OrderBook", "place", 12),
        "OrderBook.place divides orders and volume".into(),
        Evidence {
            method_views: vec![MethodViews {
                class: "bank.OrderBook".into(),
                library: false,
                view: vec!["orders: write".into(), "volume: write".into()],
                thread: "Main.tell".into(),
                sections: vec![own("orders: write", 15), own("volume: write", 22)],
                interfering: vec![other],
                allocated_at: vec![place("bank.Main", "main", 16)],
            }],
            ..Evidence::default()
        },
    )
}

fn typing_of_withdraw() -> Finding {
    let part = |what: &str, line| TypingPart {
        what: what.into(),
        atomicity: "atomic".into(),
        place: Some(place("bank.Account", "withdraw", line)),
    };
    let typing = Typing {
        atomicity: "cmpd".into(),
        parts: vec![
            part("call of balance()", 26),
            part("call of setBalance(long)", 30),
        ],
        released: Some(TypingPart {
            what: "this".into(),
            atomicity: "left".into(),
            place: Some(place("bank.Account", "balance", 13)),
        }),
        guards_lost: vec![],
    };
    Finding::new(
        "types",
        Kind::Untypable,
        Verdict::Suspected,
        region("bank.Account", "withdraw", 25),
        "Account.withdraw is not shown atomic: two calls that are each one step follow each other"
            .into(),
        Evidence {
            typings: vec![typing],
            ..Evidence::default()
        },
    )
}

fn race_and_guard() -> Vec<Finding> {
    let field = Region {
        class: Some("bank.Stats".into()),
        field: Some("hits".into()),
        ..Region::default()
    };
    let race = Race {
        variable: "bank.Stats@1.hits".into(),
        benign_candidate: true,
        accesses: vec![
            step(
                1,
                "teller-1",
                "write",
                "bank.Stats@1.hits",
                place("bank.Stats", "hit", 9),
                &["bank.Stats@1"],
            ),
            step(
                2,
                "auditor",
                "read",
                "bank.Stats@1.hits",
                place("bank.Stats", "hits", 13),
                &[],
            ),
        ],
    };
    let guard = Typing {
        atomicity: "cmpd".into(),
        parts: vec![],
        released: None,
        guards_lost: vec![GuardLoss {
            field: "hits".into(),
            candidate: Some("this".into()),
            held: Some(4),
            place: Some(place("bank.Stats", "hits", 13)),
            why: "read without the lock".into(),
        }],
    };
    vec![
        Finding::new(
            "lockset",
            Kind::Race,
            Verdict::Suspected,
            field,
            "hits is written under a lock and read without it".into(),
            Evidence {
                races: vec![race],
                ..Evidence::default()
            },
        ),
        Finding::new(
            "types",
            Kind::Untypable,
            Verdict::Suspected,
            region("bank.Stats", "rate", 16),
            "Stats.rate is not shown atomic".into(),
            Evidence {
                typings: vec![guard],
                ..Evidence::default()
            },
        ),
    ]
}

fn cycle() -> Finding {
    let (a, b) = (
        region("bank.Ledger", "open", 10),
        region("bank.Ledger", "close", 20),
    );
    let interleaving = Interleaving {
        analysis: "velodrome".into(),
        transactions: transactions(&a, &b),
        steps: vec![
            step(
                1,
                "teller-1",
                "write",
                "x",
                place("bank.Ledger", "open", 11),
                &[],
            ),
            step(
                2,
                "auditor",
                "read",
                "x",
                place("bank.Ledger", "close", 21),
                &[],
            ),
            step(
                3,
                "auditor",
                "write",
                "y",
                place("bank.Ledger", "close", 22),
                &[],
            ),
            step(
                4,
                "teller-1",
                "acquire",
                "m",
                place("bank.Ledger", "open", 12),
                &[],
            ),
        ],
        edges: vec![edge(1, 2, EdgeKind::Data), edge(3, 4, EdgeKind::Sync)],
        torn: None,
    };
    Finding::new(
        "velodrome",
        Kind::Cycle,
        Verdict::Suspected,
        a,
        "Ledger.open and Ledger.close have no serial order that keeps the conflicts of this run, though none is torn by itself".into(),
        Evidence {
            interleavings: vec![interleaving],
            notes: vec!["Nobody is blamed: each region is left only after the conflict by which the cycle enters it later.".into()],
            ..Evidence::default()
        },
    )
    .with_group(vec![b])
}

/// All of them, merged and ranked as a run would leave them.
pub fn document() -> Document {
    let mut document = Document::new(vec!["run.utr".into()]);
    let mut findings = vec![
        torn_transfer(),
        torn_price(),
        views_of_place(),
        methods_of_place(),
        typing_of_withdraw(),
        cycle(),
    ];
    findings.extend(race_and_guard());
    document.findings = merge(findings);
    document.proved = vec![
        region("bank.Account", "deposit", 20),
        region("bank.Bank", "total", 20),
    ];
    document.stats.insert("events".into(), 48_213.into());
    document.stats.insert(
        "velodrome".into(),
        serde_json::json!({"transactions": 311, "edges": 902}),
    );
    document
}

/// The sources of the bundled bank.
pub fn excerpts(document: &Document) -> Excerpts {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank/src/bank");
    Excerpts::collect(document, &mut |_, file| {
        let text = std::fs::read_to_string(format!("{root}/{file}")).ok()?;
        Some(Listing {
            path: format!("src/bank/{file}"),
            lines: text.lines().map(str::to_owned).collect(),
        })
    })
}
