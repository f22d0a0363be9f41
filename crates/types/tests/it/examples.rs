//! The programs that the paper discusses, retold as abstract input, each with its type printed exactly.

use crate::builder::{Builder, Code, ON_THIS, call, does, read, sync, this_is, write};
use untorn_types::algebra::Atomicity;
use untorn_types::basic::Basic;
use untorn_types::guards::Reason;
use untorn_types::infer::Violation;
use untorn_types::input::{
    Actuals, Allocation, Arg, Effect, Flow, Guard, NodeId, Overrides, Site, ThreadStart,
};
use untorn_types::locks::{Locks, Root};
use untorn_types::path::Fault;

const THIS: untorn_types::locks::Lock = Locks::THIS;

/// Section 1: both methods are atomic, their sequence is not.
#[test]
fn account() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let balance = b.field(class, &[THIS]);
    let get = b.method(&[], Some(sync(THIS, vec![read(balance, &ON_THIS)])));
    let set = b.method(&[], Some(sync(THIS, vec![write(balance, &ON_THIS)])));
    let deposit = b.method(&[], Some(vec![call(get, &ON_THIS), call(set, &ON_THIS)]));
    let safe = b.method(
        &[],
        Some(sync(THIS, vec![call(get, &ON_THIS), call(set, &ON_THIS)])),
    );
    let asserted = vec![Code::Region(
        true,
        vec![call(get, &ON_THIS), call(set, &ON_THIS)],
    )];
    let asserted = b.method(&[], Some(asserted));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(balance), "guarded_by this");
    assert_eq!(typed.type_of(get), "this ? mover : atomic");
    assert_eq!(typed.type_of(set), "this ? mover : atomic");
    assert_eq!(typed.type_of(deposit), "this ? mover : cmpd");
    assert_eq!(typed.type_of(safe), "this ? mover : atomic");
    assert_eq!(typed.type_of(asserted), "this ? mover : error");

    let fault = typed.inferred.explain(
        &mut typed.algebra,
        &typed.program,
        &typed.guarded.discipline,
        deposit,
        Atomicity::ATOMIC,
    );
    let Some(Fault::Torn(tear)) = fault else {
        unreachable!("{fault:?}")
    };
    assert_eq!(
        (tear.first.node, tear.first.atomicity),
        (NodeId(1), Basic::Atomic)
    );
    assert_eq!(
        (tear.second.node, tear.second.atomicity),
        (NodeId(2), Basic::Atomic)
    );
    assert_eq!(tear.trail, [NodeId(0), NodeId(1), NodeId(2)]);
    assert!(tear.situation.held().is_empty());
}

/// Section 2: a bare pair of critical sections, explained by the release between them.
#[test]
fn two_critical_sections() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let x = b.field(class, &[THIS]);
    let inc = sync(THIS, vec![read(x, &ON_THIS), write(x, &ON_THIS)]);
    let once = b.method(&[], Some(inc.clone()));
    let twice = b.method(&[], Some([inc.clone(), inc].concat()));
    let mut typed = b.infer();
    assert_eq!(typed.type_of(once), "this ? mover : atomic");
    assert_eq!(typed.type_of(twice), "this ? mover : cmpd");
    let fault = typed.inferred.explain(
        &mut typed.algebra,
        &typed.program,
        &typed.guarded.discipline,
        twice,
        Atomicity::ATOMIC,
    );
    let Some(Fault::Torn(tear)) = fault else {
        unreachable!("{fault:?}")
    };
    assert_eq!(tear.released, Some((NodeId(4), Some(THIS))));
    assert_eq!(tear.first.node, NodeId(4));
    assert_eq!(
        (tear.second.node, tear.second.atomicity),
        (NodeId(5), Basic::Right)
    );
}

/// Figures 2 and 6: the list's lock protects the elements through a ghost.
#[test]
fn list_and_element_with_ghost_lock() {
    let mut b = Builder::default();
    let (ghost, x) = b.ghost("x");
    let elem = b.class(&[ghost], false);
    let list = b.class(&[], false);
    let num = b.field(elem, &[THIS, x]);
    let next = b.field(elem, &[THIS, x]);
    let elems = b.field(list, &[THIS]);
    let elems_arg = b.slot(&[THIS], false);
    let next_arg = b.slot(&[x, THIS], false);
    let new_arg = b.slot(&[THIS], false);
    let element = b.local(0);

    let own = [
        (Root::This, Arg::Lock(THIS)),
        (Root::Ghost(ghost), Arg::Lock(x)),
    ];
    let elem_get = b.inner_method(&[ghost], &[x, THIS], vec![read(num, &own)]);
    // The tail is handed on, so that the type of `next` matters.
    let of_tail = [
        (Root::This, Arg::Unknown),
        (Root::Ghost(ghost), Arg::Slot(next_arg)),
    ];
    let elem_last = b.inner_method(
        &[ghost],
        &[x, THIS],
        vec![read(next, &own), call(elem_get, &of_tail)],
    );
    let add = vec![read(elems, &ON_THIS), write(elems, &ON_THIS)];
    let add = b.method(&[], Some(sync(THIS, add)));
    let add_pair = b.method(&[], Some(vec![call(add, &ON_THIS), call(add, &ON_THIS)]));
    let of_elem = [
        (Root::This, Arg::Lock(element)),
        (Root::Ghost(ghost), Arg::Slot(elems_arg)),
    ];
    let bind = Code::Step(Effect::Bind(0));
    let get = vec![
        read(elems, &ON_THIS),
        bind.clone(),
        call(elem_get, &of_elem),
    ];
    let get = b.method(&[], Some(sync(THIS, get)));
    let last = vec![read(elems, &ON_THIS), bind, call(elem_last, &of_elem)];
    let last = b.method(&[], Some(sync(THIS, last)));
    b.program.allocations.push(Allocation {
        classes: vec![(
            elem,
            Actuals(vec![(Root::Ghost(ghost), Arg::Slot(new_arg))]),
        )],
    });
    // this.elems = new ListElem(v, this.elems)
    let in_list = Actuals(ON_THIS.to_vec());
    b.program.flows.push(Flow {
        from: Arg::Slot(new_arg),
        actuals: in_list,
        to: Arg::Slot(elems_arg),
    });
    let in_new = Actuals(vec![
        (Root::This, Arg::Unknown),
        (Root::Ghost(ghost), Arg::Slot(new_arg)),
    ]);
    b.program.flows.push(Flow {
        from: Arg::Slot(next_arg),
        actuals: in_new,
        to: Arg::Slot(elems_arg),
    });

    let mut typed = b.infer();
    assert_eq!(typed.guard_of(num), "guarded_by x");
    assert_eq!(typed.guard_of(next), "guarded_by x");
    assert_eq!(typed.guard_of(elems), "guarded_by this");
    assert_eq!(typed.slot_of(elems_arg), "this");
    assert_eq!(typed.slot_of(next_arg), "x");
    assert_eq!(typed.guarded.holds[elem_get.index()], [x]);
    assert_eq!(typed.type_of(elem_get), "x ? mover : error");
    assert_eq!(typed.type_of(add), "this ? mover : atomic");
    assert_eq!(typed.type_of(add_pair), "this ? mover : cmpd");
    assert_eq!(typed.type_of(get), "this ? mover : atomic");
    assert_eq!(typed.type_of(last), "this ? mover : atomic");
}

/// Section 5: the argument's length is stale when its characters are copied.
#[test]
fn buffer_append() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let count = b.field(class, &[THIS]);
    let sb = b.param(0);
    let length = b.method(&[], Some(sync(THIS, vec![read(count, &ON_THIS)])));
    let get_chars = b.method(&[], Some(sync(THIS, vec![read(count, &ON_THIS)])));
    let body = vec![
        call(length, &this_is(sb)),
        read(count, &ON_THIS),
        call(get_chars, &this_is(sb)),
        write(count, &ON_THIS),
    ];
    let append = b.method(&[], Some(sync(THIS, body)));
    b.program.methods[append.index()].declared = Some(Atomicity::ATOMIC);
    let mut typed = b.infer();
    assert_eq!(typed.type_of(length), "this ? mover : atomic");
    let body = typed.inferred.bodies[append.index()];
    let printed =
        untorn_types::notation::print_atomicity(&mut typed.algebra, body, &["sb".to_owned()]);
    assert_eq!(printed, "this ? (sb ? mover : cmpd) : (sb ? atomic : cmpd)");
    assert_eq!(typed.inferred.violations, [Violation::Body(append)]);
}

/// Section 5: one property checked in one critical section and used in the next; and a racy cache.
#[test]
fn string_compare_and_hash() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let sb = b.param(0);
    let count = b.field(class, &[THIS]);
    let buffer_count = b.field(class, &[THIS]);
    b.program.fields[count.index()].fixed = Some(Guard::Final);
    let hash = b.field(class, &[THIS]);
    let get = b.method(&[], Some(sync(THIS, vec![read(buffer_count, &ON_THIS)])));
    let calls = vec![
        call(get, &this_is(sb)),
        read(count, &ON_THIS),
        call(get, &this_is(sb)),
    ];
    let equals = b.method(&[], Some(calls.clone()));
    let repaired = b.method(&[], Some(sync(sb, calls)));
    let cache = vec![Code::If(vec![write(hash, &ON_THIS)], vec![])];
    let hash_code = b.method(&[], Some([vec![read(hash, &ON_THIS)], cache].concat()));
    let mut typed = b.infer();
    assert_eq!(typed.type_of(equals), "p ? mover : cmpd");
    assert_eq!(typed.type_of(repaired), "p ? mover : atomic");
    assert_eq!(typed.guard_of(hash), "no_guard");
    assert_eq!(typed.type_of(hash_code), "cmpd");
    let broken = typed
        .guarded
        .broken
        .iter()
        .find(|broken| broken.field == hash)
        .unwrap();
    let expected = Reason::Access {
        method: hash_code,
        node: NodeId(2),
        through: Vec::new(),
    };
    assert_eq!((broken.candidate, &broken.reason), (Some(THIS), &expected));
}

/// Section 5: a synchronized method calls two synchronized methods of the same object.
#[test]
fn vector() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let data = b.field(class, &[THIS]);
    let c = b.param(0);
    let index_of = b.method(&[], Some(sync(THIS, vec![read(data, &ON_THIS)])));
    let remove_at = b.method(&[], Some(sync(THIS, vec![write(data, &ON_THIS)])));
    let then = vec![call(remove_at, &ON_THIS)];
    let body = vec![call(index_of, &ON_THIS), Code::If(then, vec![])];
    let remove = b.method(&[], Some(sync(THIS, body)));
    // The constructor from a collection: two calls on the argument; its own fields are confined.
    let size = b.method(&[], None);
    let declared = b.algebra.held(THIS, Atomicity::MOVER, Atomicity::ATOMIC);
    b.program.methods[size.index()].declared = Some(declared);
    let store = Effect::Access {
        field: data,
        actuals: Actuals(ON_THIS.to_vec()),
        write: true,
        confined: true,
    };
    let on_c = this_is(c);
    let body = vec![call(size, &on_c), Code::Step(store), call(size, &on_c)];
    let constructor = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(data), "guarded_by this");
    assert_eq!(typed.type_of(index_of), "this ? mover : atomic");
    assert_eq!(typed.type_of(remove), "this ? mover : atomic");
    assert_eq!(typed.type_of(constructor), "p ? mover : cmpd");
}

/// Figure 15: the same constructor for collections of either kind.
#[test]
fn vector_from_either_kind_of_collection() {
    let mut b = Builder::default();
    let (x_ghost, x) = b.ghost("x");
    let (y_ghost, y) = b.ghost("y");
    let inner = b.algebra.held(x, Atomicity::MOVER, Atomicity::ERROR);
    let declared = b.algebra.is_always_held(x, Atomicity::ATOMIC, inner);
    let [size, to_array] = [0, 1].map(|_| {
        let method = b.method(&[x_ghost], None);
        b.program.methods[method.index()].declared = Some(declared);
        method
    });
    let c = b.param(0);
    let on_c = [
        (Root::This, Arg::Lock(c)),
        (Root::Ghost(x_ghost), Arg::Lock(y)),
    ];
    let body = vec![call(size, &on_c), call(to_array, &on_c)];
    let constructor = b.method(&[y_ghost], Some(body));
    let mut typed = b.infer();
    assert_eq!(
        typed.type_of(size),
        "(x = always_held) ? atomic : (x ? mover : error)"
    );
    assert_eq!(
        typed.type_of(constructor),
        "(y = always_held) ? cmpd : (y ? mover : error)"
    );
}

/// Figure 13: with and without the observable's lock protecting the vector's lock.
#[test]
fn observable_with_protected_vector_lock() {
    for protecting in [false, true] {
        let mut b = Builder::default();
        let (ghost, x) = b.ghost("x");
        let vector = b.class(&[ghost], protecting);
        let observable = b.class(&[], false);
        let data = b.field(vector, &[THIS]);
        let protector = protecting.then_some(Arg::Lock(x));
        let own = [
            (Root::This, Arg::Lock(THIS)),
            (Root::Ghost(ghost), Arg::Lock(x)),
        ];
        let synchronized = |code| Some(vec![Code::Sync(THIS, protector, vec![code])]);
        let add = b.method(&[ghost], synchronized(write(data, &own)));
        let contains = b.method(&[ghost], synchronized(read(data, &own)));
        let obs = b.path(THIS, &["obs"]);
        let obs_field = b.field(observable, &[]);
        b.program.fields[obs_field.index()].fixed = Some(Guard::Final);
        let obs_arg = b.slot(&[THIS], protecting);
        let on_obs = [
            (Root::This, Arg::Lock(obs)),
            (Root::Ghost(ghost), Arg::Slot(obs_arg)),
        ];
        let body = vec![
            read(obs_field, &ON_THIS),
            call(contains, &on_obs),
            Code::If(vec![call(add, &on_obs)], vec![]),
        ];
        let add_observer = b.method(&[], Some(sync(THIS, body)));
        let mut typed = b.infer();
        if protecting {
            let expected = "(x = none) ? (this ? mover : atomic) : (x ? mover : error)";
            assert_eq!(typed.type_of(add), expected);
            assert_eq!(typed.type_of(contains), expected);
            assert_eq!(typed.slot_of(obs_arg), "this");
            assert_eq!(typed.type_of(add_observer), "this ? mover : atomic");
        } else {
            assert_eq!(typed.type_of(add), "this ? mover : atomic");
            let expected = "this.obs ? (this ? mover : atomic) : cmpd";
            assert_eq!(typed.type_of(add_observer), expected);
        }
    }
}

/// Figure 14: one interface for a counter that needs its client's lock and one that locks itself.
#[test]
fn synchronized_wrapper_counter() {
    let mut b = Builder::default();
    let (g1, lock1) = b.ghost("lock1");
    let (g2, lock2) = b.ghost("lock2");
    let counter = b.class(&[g1], false);
    let unsync = b.class(&[g2], false);
    let wrapper = b.class(&[], false);
    let num = b.field(unsync, &[lock2, THIS]);
    let inner = b.field(wrapper, &[THIS]);
    let inner_arg = b.slot(&[THIS], false);
    let new_arg = b.slot(&[Locks::ALWAYS_HELD, THIS], false);
    let inc = b.method(&[g1], None);
    b.program.methods[inc.index()].open = false;
    b.program.methods[inc.index()].may_hold = vec![lock1];
    let own = [
        (Root::This, Arg::Lock(THIS)),
        (Root::Ghost(g2), Arg::Lock(lock2)),
    ];
    let unsync_inc = b.inner_method(
        &[g2],
        &[lock2, THIS],
        vec![read(num, &own), write(num, &own)],
    );
    b.program.methods[unsync_inc.index()].overrides = vec![Overrides {
        method: inc,
        ghosts: Actuals(vec![(Root::Ghost(g1), Arg::Lock(lock2))]),
    }];
    let c = b.local(0);
    let on_c = [
        (Root::This, Arg::Lock(c)),
        (Root::Ghost(g1), Arg::Slot(inner_arg)),
    ];
    let body = vec![
        read(inner, &ON_THIS),
        Code::Step(Effect::Bind(0)),
        call(inc, &on_c),
    ];
    let sync_inc = b.method(&[], Some(sync(THIS, body)));
    b.program.methods[sync_inc.index()].overrides = vec![Overrides {
        method: inc,
        ghosts: Actuals(vec![(Root::Ghost(g1), Arg::Lock(Locks::ALWAYS_HELD))]),
    }];
    b.program.allocations.push(Allocation {
        classes: vec![
            (unsync, Actuals(vec![(Root::Ghost(g2), Arg::Slot(new_arg))])),
            (
                counter,
                Actuals(vec![(Root::Ghost(g1), Arg::Slot(new_arg))]),
            ),
        ],
    });
    let paper = {
        let unsynchronized = b.algebra.held(lock1, Atomicity::MOVER, Atomicity::ERROR);
        b.algebra
            .is_always_held(lock1, Atomicity::ATOMIC, unsynchronized)
    };
    let mut declared = Builder {
        algebra: b.algebra.clone(),
        program: b.program.clone(),
    };
    declared.program.methods[inc.index()].declared = Some(paper);

    let mut typed = b.infer();
    assert_eq!(typed.guard_of(num), "guarded_by lock2");
    assert_eq!(typed.guard_of(inner), "guarded_by this");
    assert_eq!(typed.slot_of(inner_arg), "this");
    assert_eq!(
        typed.slot_of(new_arg),
        "this",
        "a guard is never always_held"
    );
    assert_eq!(typed.type_of(unsync_inc), "lock2 ? mover : error");
    assert_eq!(typed.type_of(sync_inc), "this ? mover : atomic");
    // A little more precise than what the paper declares.
    let inferred = "(lock1 = always_held) ? (this ? mover : atomic) : (lock1 ? mover : error)";
    assert_eq!(typed.type_of(inc), inferred);
    let mut typed = declared.infer();
    assert_eq!(typed.inferred.violations, []);
    let expected = "(lock1 = always_held) ? atomic : (lock1 ? mover : error)";
    assert_eq!(typed.type_of(inc), expected);
    assert_eq!(typed.type_of(sync_inc), "this ? mover : atomic");
}

/// Section 5: the print writer does not hold the lock of the writer below it.
#[test]
fn print_writer() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let lock = b.path(THIS, &["lock"]);
    let out = b.path(THIS, &["out"]);
    let buffer = b.field(class, &[THIS, lock]);
    let write_string = b.method(&[], Some(sync(lock, vec![write(buffer, &ON_THIS)])));
    let print = b.method(
        &[],
        Some(sync(lock, vec![call(write_string, &this_is(out))])),
    );
    let line = b.method(
        &[],
        Some(sync(lock, vec![call(write_string, &this_is(out))])),
    );
    let println = b.method(
        &[],
        Some(sync(
            lock,
            vec![call(print, &ON_THIS), call(line, &ON_THIS)],
        )),
    );
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(buffer), "guarded_by this.lock");
    assert_eq!(typed.type_of(write_string), "this.lock ? mover : atomic");
    assert_eq!(
        typed.type_of(print),
        "this.out.lock ? (this.lock ? mover : atomic) : atomic"
    );
    assert_eq!(
        typed.type_of(println),
        "this.out.lock ? (this.lock ? mover : atomic) : cmpd"
    );
}

/// Section 5: an unprotected static cache; section 8.3: a search over many locks.
#[test]
fn cached_permission_and_alloc_loop() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let name = b.algebra.locks.class("Url");
    let url = b.algebra.locks.root(Root::Class(name));
    let permission = b.field(class, &[url]);
    let init = Code::If(vec![write(permission, &[])], vec![]);
    let check = b.method(
        &[],
        Some(vec![read(permission, &[]), init, read(permission, &[])]),
    );
    let element_lock = b.local(0);
    let body = vec![
        Code::Step(Effect::Bind(0)),
        Code::Sync(element_lock, None, vec![does(Atomicity::MOVER)]),
    ];
    let alloc = b.method(&[], Some(vec![Code::While(body.clone())]));
    let one = b.method(&[], Some(body));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(permission), "no_guard");
    assert_eq!(typed.type_of(check), "cmpd");
    assert_eq!(typed.type_of(alloc), "cmpd");
    assert_eq!(typed.type_of(one), "atomic");
}

/// `[EXP REF]` and `[EXP ASSIGN]` for write-guarded and 64-bit fields.
#[test]
fn write_guarded_and_wide_fields() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let flag = b.field(class, &[THIS]);
    let wide = b.field(class, &[THIS]);
    b.program.fields[wide.index()].wide = true;
    let volatile = b.field(class, &[]);
    let get = b.method(&[], Some(vec![read(flag, &ON_THIS)]));
    let set = b.method(
        &[],
        Some(sync(
            THIS,
            vec![read(flag, &ON_THIS), write(flag, &ON_THIS)],
        )),
    );
    let get_wide = b.method(&[], Some(vec![read(wide, &ON_THIS)]));
    let set_wide = b.method(&[], Some(vec![write(wide, &ON_THIS)]));
    let poll = b.method(&[], Some(vec![read(volatile, &ON_THIS)]));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(flag), "write_guarded_by this");
    assert_eq!(typed.type_of(get), "this ? mover : atomic");
    assert_eq!(typed.type_of(set), "atomic");
    assert_eq!(typed.guard_of(wide), "no_guard");
    assert_eq!(typed.type_of(get_wide), "cmpd");
    assert_eq!(typed.type_of(set_wide), "cmpd");
    assert_eq!(typed.type_of(poll), "atomic");
}

/// Readers share, writers exclude.
#[test]
fn read_write_lock() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let rw = b.path(THIS, &["rw"]);
    let shared = b.algebra.locks.shared(rw);
    let value = b.field(class, &[THIS, rw]);
    let get = b.method(&[], Some(sync(shared, vec![read(value, &ON_THIS)])));
    let set = b.method(&[], Some(sync(rw, vec![write(value, &ON_THIS)])));
    let update = b.method(
        &[],
        Some(sync(rw, vec![call(get, &ON_THIS), call(set, &ON_THIS)])),
    );
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(value), "guarded_by this.rw");
    assert_eq!(typed.type_of(get), "this.rw.readLock() ? mover : atomic");
    assert_eq!(typed.type_of(set), "this.rw ? mover : atomic");
    assert_eq!(typed.type_of(update), "this.rw ? mover : atomic");
}

/// A write under the read side alone breaks the guard.
#[test]
fn a_read_lock_does_not_guard_writes() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let rw = b.path(THIS, &["rw"]);
    let shared = b.algebra.locks.shared(rw);
    let value = b.field(class, &[rw]);
    let bad = b.method(&[], Some(sync(shared, vec![write(value, &ON_THIS)])));
    let mut typed = b.infer();
    assert_eq!(typed.guard_of(value), "no_guard");
    assert_eq!(typed.type_of(bad), "atomic");
}

/// `[EXP FORK]`: thread-local data is fine, a lock that nobody holds is not.
#[test]
fn started_threads() {
    let mut b = Builder::default();
    let class = b.class(&[], false);
    let local = b.field(class, &[]);
    b.program.fields[local.index()].fixed = Some(Guard::GuardedBy(Locks::TLL));
    let shared = b.field(class, &[]);
    b.program.fields[shared.index()].fixed = Some(Guard::GuardedBy(THIS));
    let good = b.method(
        &[],
        Some(vec![write(local, &ON_THIS), does(Atomicity::CMPD)]),
    );
    let bad = b.method(&[], Some(vec![write(shared, &ON_THIS)]));
    for run in [good, bad] {
        b.program.threads.push(ThreadStart {
            run,
            site: Site(run.0),
        });
    }
    let mut typed = b.infer();
    assert_eq!(typed.type_of(good), "tll ? cmpd : error");
    assert_eq!(typed.type_of(bad), "this ? mover : error");
    let expected = [
        Violation::Thread(bad, Site(bad.0)),
        Violation::Undisciplined(bad),
    ];
    assert_eq!(typed.inferred.violations, expected);
    assert_eq!(typed.guarded.broken.len(), 1);
    assert_eq!(typed.guarded.broken[0].field, shared);
    assert_eq!(
        typed.guarded.proven().guards[shared.index()],
        Guard::NoGuard
    );
}
