//! Java sources, compiled by javac and typed: every verdict is expected by name.

#![allow(clippy::unwrap_used)]

mod support;

use support::{Fixture, jdk};
use untorn_findings::Verdict;

#[test]
fn account_is_atomic_where_it_holds_its_lock_throughout() {
    let fixture = Fixture::of("Account.java");
    let mut typed = fixture.types("bank/Account");
    typed.expect("read", "this ? mover : atomic", true);
    typed.expect("set", "this ? mover : atomic", true);
    typed.expect("add", "this ? mover : atomic", true);
    typed.expect("deposit2", "this ? mover : atomic", true);
    typed.expect("deposit", "this ? mover : cmpd", false);
    typed.expect(
        "take",
        "this ? (arg0 ? mover : cmpd) : (arg0 ? atomic : cmpd)",
        false,
    );
    typed.guard("balance", false, "guarded_by this");
}

#[test]
fn buffer_that_appends_another_tears() {
    let fixture = Fixture::of("Buffer.java");
    let mut typed = fixture.types("text/Buffer");
    typed.guard("count", false, "guarded_by this");
    typed.guard("value", true, "guarded_by this");
    typed.expect("length", "this ? mover : atomic", true);
    typed.expect("charAt", "this ? mover : atomic", true);
    typed.expect("clear", "this ? mover : atomic", true);
    typed.prove("append(C)V", true);
    typed.prove("append(Ltext/Buffer;)V", false);
    // The target belongs to the caller, and nobody knows its lock.
    typed.prove("getChars", false);
}

#[test]
fn half_of_a_long_is_a_step() {
    let fixture = Fixture::of("Wide.java");
    let mut typed = fixture.types("wide/Wide");
    typed.expect("readPlain", "cmpd", false);
    typed.expect("writePlain", "cmpd", false);
    typed.expect("readWhole", "atomic", true);
    typed.expect("writeWhole", "atomic", true);
    typed.expect("readNarrow", "atomic", true);
    typed.expect("bump", "cmpd", false);
}

#[test]
fn explicit_locks_guard_and_read_locks_do_not() {
    let fixture = Fixture::of("Explicit.java");
    let mut typed = fixture.types("explicit/Explicit");
    typed.guard("guarded", false, "guarded_by this.lock");
    typed.guard("shared", false, "guarded_by this.both");
    typed.guard("fooled", false, "no_guard");
    for (method, proved) in [
        ("add", true),
        ("tryAdd", true),
        ("get", true),
        ("put", true),
        ("fool", false),
    ] {
        typed.prove(method, proved);
    }
}

#[test]
fn what_others_may_know_has_no_guard() {
    let fixture = Fixture::of("Leaky.java");
    let mut typed = fixture.types("leaky/Leaky");
    // The constructor published the object before it wrote the field.
    typed.guard("count", false, "no_guard");
    typed.guard("own", true, "guarded_by this");
    for (method, proved) in [
        ("both", false),
        ("fill", false),
        ("fillOwn", true),
        ("twice", false),
        ("onLock", false),
        ("calls", false),
    ] {
        typed.prove(method, proved);
    }
}

#[test]
fn more_programs_of_the_paper() {
    let fixture = Fixture::of("Paper.java");
    let mut typed = fixture.types("paper/Vec");
    typed.prove("add", true);
    typed.prove("size", true);
    // The caller's two calls are two critical sections, unless it holds the vector's lock.
    let mut typed = fixture.types("paper/Watched");
    typed.prove("watch", false);
    typed.prove("watchLocked", true);
    let mut typed = fixture.types("paper/Permission");
    // Two reads and a write of a field without a lock.
    typed.prove("hash", false);
    typed.prove("hashLocked", true);
    let mut typed = fixture.types("paper/Pool");
    // Each round of the loop is a critical section of its own.
    typed.prove("alloc", false);
    typed.prove("tryAlloc", true);
    let mut typed = fixture.types("paper/Names");
    typed.expect("compare", "const", true);
}

#[test]
fn objects_are_confined_until_they_leak() {
    let fixture = Fixture::of("Fresh.java");
    let mut typed = fixture.types("fresh/Fresh");
    typed.guard("count", false, "guarded_by this");
    typed.guard("data", true, "guarded_by this");
    typed.prove("copy", true);
    typed.prove("grow", true);
    let mut typed = fixture.types("fresh/Shallow");
    // The copy shares the array, so two locks guard it.
    typed.prove("put", false);
    let mut typed = fixture.types("fresh/Swapped");
    // The array of one is put in another.
    typed.prove("put", false);
}

#[test]
fn another_name_is_no_hiding_place() {
    let fixture = Fixture::of("Aliases.java");
    let mut typed = fixture.types("aliases/Aliases");
    typed.prove("throughResult", false);
    typed.prove("throughStart", false);
    typed.prove("alone", true);
}

#[test]
fn string_buffer_can_tear_where_it_reads_another() {
    let program = jdk(&["java.lang.StringBuffer"]);
    let mut typed = program.types("java/lang/StringBuffer");
    for torn in [
        "append(Ljava/lang/StringBuffer;)Ljava/lang/StringBuffer;",
        "append(Ljava/lang/CharSequence;)Ljava/lang/StringBuffer;",
    ] {
        typed.prove(torn, false);
    }
    for fine in ["length", "capacity"] {
        typed.prove(fine, true);
    }
}

#[test]
fn vector_counts_modifications_outside_its_lock() {
    let program = jdk(&["java.util.Vector"]);
    let mut typed = program.types("java/util/Vector");
    for fine in [
        "size",
        "capacity",
        "isEmpty",
        "get",
        "elementAt(I)Ljava/lang/Object;",
    ] {
        typed.prove(fine, true);
    }
    typed.prove("addAll(Ljava/util/Collection;)Z", false);
    typed.prove("removeAll", false);
}

#[test]
fn what_is_inside_has_the_lock_of_its_owner() {
    let fixture = Fixture::application("Owned.java", "owned.Owned");
    let mut typed = fixture.types("owned/ListElem");
    typed.guard("num", false, "guarded_by owner");
    typed.expect("get", "owner ? mover : error", true);
    let mut typed = fixture.types("owned/List");
    typed.guard("elems", false, "guarded_by this");
    typed.expect("add", "this ? mover : atomic", true);
    typed.expect("get", "this ? mover : atomic", true);
    typed.expect("raise", "this ? mover : atomic", true);
    typed.expect("addPair", "this ? mover : cmpd", false);
    let mut typed = fixture.types("owned/Cell");
    typed.guard("value", false, "no_guard");
    typed.prove("bump", false);
    let mut typed = fixture.types("owned/Leaky");
    typed.prove("bump", false);
}

#[test]
fn a_lock_may_protect_the_lock_inside() {
    let fixture = Fixture::application("Owned.java", "owned.Owned");
    let mut typed = fixture.types("owned/Vec");
    typed.guard("count", false, "guarded_by this");
    typed.expect(
        "add",
        "(owner = none) ? (this ? mover : atomic) : (owner ? mover : error)",
        true,
    );
    let mut typed = fixture.types("owned/Observable");
    typed.expect("addObserver", "this ? mover : atomic", true);
    typed.expect("addTwice", "this ? mover : cmpd", false);
}

#[test]
fn a_wrapper_keeps_the_lock_for_what_it_wraps() {
    let fixture = Fixture::application("Owned.java", "owned.Owned");
    let mut typed = fixture.types("owned/UnsyncCounter");
    typed.guard("num", false, "guarded_by owner");
    typed.expect("inc", "owner ? mover : error", true);
    // It is synchronized internally, so that no owner protects its lock.
    let mut typed = fixture.types("owned/SyncCounter");
    typed.expect("inc", "this ? mover : atomic", true);
}

#[test]
fn internally_synchronized_classes_stand_beside_others() {
    let fixture = Fixture::application("Counters.java", "counters.Counters");
    let mut typed = fixture.types("counters/UnsyncCounter");
    typed.guard("num", false, "guarded_by owner");
    typed.expect("inc", "owner ? mover : error", true);
    let mut typed = fixture.types("counters/SyncCounter");
    typed.expect("inc", "this ? mover : atomic", true);
    let mut typed = fixture.types("counters/Summed");
    // Figure 15: two calls are compound for the wrapper, and a mover for who holds the owner's lock.
    typed.expect(
        "twice",
        "(owner_of_arg0 = always_held) ? (arg0 ? mover : cmpd) : (owner_of_arg0 ? mover : error)",
        false,
    );
    typed.expect("mineOk", "this ? mover : atomic", true);
    typed.expect("sharedBad", "counters.Summed.SHARED ? mover : cmpd", false);
    typed.expect("onceOk", "counters.Summed.SHARED ? mover : atomic", true);
    let fixture = Fixture::application("Counters.java", "counters.Loose");
    let typed = fixture.types("counters/UnsyncCounter");
    typed.guard("num", false, "no_guard");
}

#[test]
fn a_printer_does_not_hold_the_lock_of_its_writer() {
    let fixture = Fixture::application("Owned.java", "owned.Owned");
    let mut typed = fixture.types("owned/Writer");
    typed.expect("write", "this.lock ? mover : atomic", true);
    let mut typed = fixture.types("owned/Printer");
    typed.expect(
        "print",
        "this.out.lock ? (this.lock ? mover : atomic) : atomic",
        true,
    );
    typed.expect(
        "println",
        "this.out.lock ? (this.lock ? mover : atomic) : cmpd",
        false,
    );
}

#[test]
fn a_volatile_field_may_be_guarded_for_its_writes() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Counted");
    typed.guard("count", false, "write_guarded_by this");
    typed.guard("loose", false, "no_guard");
    typed.expect("add", "atomic", true);
    typed.expect("peek", "this ? mover : atomic", true);
    typed.expect("addLoose", "cmpd", false);
}

#[test]
fn arrays_are_accounted_for_by_who_passes_them() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Filled");
    typed.guard("own", true, "guarded_by this");
    typed.expect("fillOwn", "this ? mover : atomic", true);
    typed.expect("fill", "cmpd", false);
    typed.expect("fillTheirs", "cmpd", false);
}

#[test]
fn a_call_runs_one_of_its_callees() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Either");
    typed.expect("get", "atomic", true);
    typed.expect("getTwice", "cmpd", false);
}

#[test]
fn a_library_method_may_ask_its_operand() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Letters");
    typed.expect("held", "this ? mover : atomic", true);
    typed.expect("loose", "this ? mover : cmpd", false);
    typed.expect("anybodys", "cmpd", false);
}

#[test]
fn what_is_new_on_every_branch_is_new() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Renewed");
    typed.expect("renew", "this ? mover : atomic", true);
    typed.expect("pickOne", "cmpd", false);
}

#[test]
fn a_block_that_is_not_proved_says_why() {
    let fixture = Fixture::of("Precise.java");
    let mut typed = fixture.types("precise/Blocks");
    typed.prove("size", true);
    let messages = typed.messages();
    let said = |start: &str| {
        let message = messages.iter().find(|message| message.starts_with(start));
        message.unwrap_or_else(|| panic!("{start}: {messages:?}"))
    };
    assert_eq!(
        said("Blocks.block block 1"),
        "Blocks.block block 1 is not shown atomic: it calls Runnable.run(), of which not every implementation is known (line 100), which is not one step."
    );
    assert_eq!(
        said("Blocks.racy block 1"),
        "Blocks.racy block 1 is not shown atomic: it writes Blocks.b (line 105), and then writes Blocks.b (line 105); others can come in between. No lock guards every access to Blocks.b: Blocks.racy() comes at line 106 without this. Between where it writes Blocks.b (line 105) and where it writes Blocks.b (line 105), Blocks.racy() reads Blocks.b (line 106)."
    );
}

#[test]
fn a_finding_names_the_access_that_took_the_guard() {
    let program = jdk(&["java.lang.StringBuffer"]);
    let mut typed = program.types("java/lang/StringBuffer");
    let messages = typed.messages();
    let reverse = messages
        .iter()
        .find(|message| message.starts_with("StringBuffer.reverse"))
        .unwrap();
    assert!(
        reverse.contains("No lock guards every access to what AbstractStringBuilder.value holds: AbstractStringBuilder.lambda$codePoints$1() comes")
            && reverse.contains("without this, and so do 7 more accesses"),
        "{reverse}"
    );
    // The call is followed with the locks that are held there.
    let compare = messages
        .iter()
        .find(|message| message.starts_with("StringBuffer.compareTo"))
        .unwrap();
    assert!(
        compare.contains("which reads AbstractStringBuilder.value")
            && compare.contains("and then reads AbstractStringBuilder.c"),
        "{compare}"
    );
}

#[test]
fn what_clients_get_hold_of_they_run_without_a_lock() {
    let fixture = Fixture::of("Escaping.java");
    for class in [
        "Lambda",
        "Reference",
        "Anonymous",
        "Inner",
        "Registered",
        "Handed",
        "Thrown",
        "Platform",
        "Sorted",
        "Hub",
        "Casting",
    ] {
        let mut typed = fixture.types(&format!("escaping/{class}"));
        assert!(!typed.is_proved("twice"), "{class}");
    }
    fixture.types("escaping/Careful").prove("twice", true);
}

#[test]
fn values_are_not_lost_in_the_platform() {
    let fixture = Fixture::application("Lost.java", "lost.Lost");
    for class in [
        "Copied", "Mapped", "Entered", "Streamed", "Drained", "Written", "Executed", "Current",
    ] {
        let mut typed = fixture.types(&format!("lost/Lost${class}"));
        assert!(!typed.is_proved("twice"), "{class}");
    }
    fixture.types("lost/Lost$Kept").prove("twice", true);
}

#[test]
fn what_is_put_where_nobody_looks_is_found_again() {
    let fixture = Fixture::application("Put.java", "put.Put");
    let mut types = fixture.types("put/Put$Kept");
    let classes = [
        "ReflMethod",
        "Handles",
        "Futures",
        "Properties1",
        "Local",
        "Weak",
        "Opt",
        "Exch",
        "Exc",
        "Handler",
        "Merge",
        "Compute",
        "ReplaceAll",
        "EntrySet",
        "EntryIt",
        "PutAll",
        "SyncMap",
        "CheckedMap",
        "SubMap",
        "Desc",
        "AddAll",
        "CAddAll",
        "Collect",
        "ForEach",
        "Drain",
        "CtorQ",
        "CowSet",
        "CowListIt",
        "CollFill",
        "CollCopy",
        "ARef",
        "ARefAcc",
        "ARefCas",
        "AMark",
        "AArr",
        "AArrCtor",
        "Fu",
        "Vh",
        "VhArr",
        "ArrSet",
        "ArrClone",
        "ArrCopyOf",
        "ArrCopy",
        "ArrFill",
        "ArrSetAll",
        "ArrAsList",
        "ArrAsListRA",
        "ArrToArray",
        "ArrStream",
        "ArrObj",
        "ArrRefl",
        "ArrProps",
        "ArrTl",
        "ArrInMap",
        "ArrInMapS",
        "ArrHandle",
        "Arr2",
        "FieldLost",
        "OwnList",
        "OwnListSort",
        "Timed",
        "Beans",
        "CompIfAbsList",
        "ServiceProxy",
        "SupplierField",
        "UnaryChain",
        "Callables",
        "FJ",
        "FJ2",
        "Scheduled",
        "CompletionService",
        "Iterates",
        "Splits",
        "Bifunction",
        "Clone",
    ];
    let proved: Vec<&str> = (classes.into_iter())
        .filter(|class| types.at(&format!("put/Put${class}")).is_proved("take"))
        .collect();
    assert!(proved.is_empty(), "{proved:?}");
    types.at("put/Put$Kept").prove("take", true);
}

#[test]
fn clients_fill_what_they_get_hold_of() {
    let fixture = Fixture::of("Filled.java");
    let mut types = fixture.types("filled/Filled$Kept");
    let classes = [
        "Getter",
        "PubField",
        "OptGet",
        "Sup",
        "Cb",
        "Thrown",
        "Entries",
        "EntrySet",
        "EntryStream",
        "EntryCb",
        "ReplaceCb",
        "ComputeCb",
        "PutAll",
        "Put",
        "PutObj",
        "PutArr",
        "PutSup",
        "PutIt",
        "PutStream",
        "PutFuture",
        "PutTl",
        "Nested",
        "Holder",
        "HolderGet",
        "Inner",
        "PrivInner",
        "StaticReg",
        "CtorKeep",
        "SetKeep",
        "ArrGet",
        "ArrObj",
        "ArrList",
        "ArrCb",
        "ArrFill",
        "ArrCopy",
        "ArrSup",
        "ArrSetAll",
        "ArrMap",
        "Ref",
        "RefUp",
        "Queued",
        "QueueAddAll",
        "Drain",
        "CollInto",
        "Vol",
        "VolIn",
        "VolBox",
        "VolBox2",
        "VolBox3",
        "VolBox4",
        "Tl",
        "Gen",
        "Own",
        "Static",
        "Proxied",
    ];
    let proved: Vec<&str> = (classes.into_iter())
        .filter(|class| {
            types
                .at(&format!("filled/Filled${class}"))
                .is_proved("take")
        })
        .collect();
    assert!(proved.is_empty(), "{proved:?}");
    types.at("filled/Filled$Kept").prove("take", true);
    types.at("filled/Filled$Inside").prove("take", true);
}

#[test]
fn library_methods_that_run_code_of_their_operands_are_no_constants() {
    let fixture = Fixture::of("Hooks.java");
    let mut typed = fixture.types("hooks/Hooks");
    for (class, method, proved) in [
        ("hooks/Hooks", "wrapBad", false),
        ("hooks/Hooks", "wrapStateBad", false),
        ("hooks/Hooks", "wrapIoBad", false),
        ("hooks/Hooks", "wrapOk", true),
        ("hooks/Hooks", "messageOk", true),
        ("hooks/Hooks$Recent", "sameBad", false),
        ("hooks/Hooks$Locked", "sameOk", true),
        ("hooks/Hooks$Locked", "putOk", true),
        ("hooks/Hooks$Lines", "lineOk", true),
    ] {
        typed.at(class).prove(method, proved);
    }
    let fixture = Fixture::of("Eldest.java");
    fixture.types("eldest/Eldest").prove("putBad", false);
}

#[test]
fn what_nobody_can_see_is_unproved_and_what_a_method_can_come_between_is_suspected() {
    let fixture = Fixture::of("Unseen.java");
    let mut typed = fixture.types("unseen/Unseen");
    let said = typed.claims();
    let of = |name: &str| said.iter().find(|f| f.region.method == name).unwrap();
    assert_eq!(of("ask").verdict, Verdict::Unproved);
    let bump = of("bump");
    assert_eq!(bump.verdict, Verdict::Suspected);
    assert!(
        bump.message.ends_with(
            " Between where it reads Unseen.c (line 31) and where it writes Unseen.c (line 31), Unseen.bump() writes Unseen.c (line 31)."
        ),
        "{}",
        bump.message
    );
    let timed = of("timed");
    assert_eq!(timed.verdict, Verdict::Suspected);
    assert!(timed.message.contains("Unseen.c"), "{}", timed.message);
    let block = said.iter().find(|f| f.region.block.is_some()).unwrap();
    assert_eq!(block.verdict, Verdict::Unproved, "{}", block.message);
    let once = of("addOnce");
    assert_eq!(once.verdict, Verdict::Suspected);
    assert!(
        once.message.contains("what Unseen.names holds"),
        "{}",
        once.message
    );
}

/// Every method of the fixture is atomic; fewer proofs than these are a loss.
#[test]
fn most_atomic_methods_of_many_kinds_are_proved() {
    let fixture = Fixture::of("Whole.java");
    let (proved, unproved) = fixture.proved_of_all("Ok");
    assert_eq!(proved.len() + unproved.len(), 88);
    assert!(
        proved.len() >= 68,
        "{} proved, not {unproved:?}",
        proved.len()
    );
}

/// What a class of the library does is one entry of its model.
#[test]
fn a_queue_by_priority_is_walked_through_under_the_lock_of_its_owner() {
    let fixture = Fixture::of("Library.java");
    let (wrong, _) = fixture.proved_of_all("Bad");
    assert!(wrong.is_empty(), "{wrong:?}");
    let (_, lost) = fixture.proved_of_all("Ok");
    assert!(lost.is_empty(), "{lost:?}");
}

/// Code that the platform runs inside of a call, and collections that get out by another face.
#[test]
fn code_that_the_platform_runs_is_counted_where_it_runs() {
    let fixture = Fixture::of("Callbacks.java");
    let (wrong, _) = fixture.proved_of_all("Bad");
    assert!(wrong.is_empty(), "{wrong:?}");
    let (_, lost) = fixture.proved_of_all("Ok");
    assert!(lost.is_empty(), "{lost:?}");
}

/// What is completed outside the analyzed classes runs what they give it, and a view that some implementations give is one for all.
#[test]
fn what_clients_complete_runs_what_it_inherits() {
    let fixture = Fixture::of("Completed.java");
    let (wrong, _) = fixture.proved_of_all("Bad");
    assert!(wrong.is_empty(), "{wrong:?}");
    let (_, lost) = fixture.proved_of_all("Ok");
    assert!(lost.is_empty(), "{lost:?}");
}

/// Kinds of methods that are atomic, of which some were looked at while the rules were made and some were not.
#[test]
fn atomic_methods_of_ten_kinds_are_proved() {
    for (file, all, least) in [("Varied.java", 36, 25), ("Reserve.java", 35, 27)] {
        let fixture = Fixture::of(file);
        let (proved, unproved) = fixture.proved_of_all("Ok");
        println!(
            "{file}: {} of {}, not {unproved:#?}",
            proved.len(),
            proved.len() + unproved.len()
        );
        assert_eq!(proved.len() + unproved.len(), all, "{file}");
        assert!(
            proved.len() >= least,
            "{file}: {} not {unproved:?}",
            proved.len()
        );
    }
}
