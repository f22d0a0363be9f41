//! Method consistency: methods whose variables the locks of a program take apart, found without running it.
//!
//! Paper: von Praun and Gross, "Static Detection of Atomicity Violations in Object-Oriented Programs", whole.
//! Guarantee: none in either direction, as in the paper.
//! Differences from the paper: `execution` (contexts, re-entrant locks, large circles of calls), `section` (a filter of ours, on by default) and `report` (what *smallest* and *lowest* compare).
//! What concurrent collections hold is a variable of its own, as if their fields could be seen; the paper has only fields.
//! What ordinary collections, string builders and calendars hold counts as a field of the class whose field refers to them, so that Figure 4 of the paper comes out.
//! Fields of no concurrent use (all accesses by one thread that exists once) are left out like unshared objects.
//!
//! *Invariant.* The domain, the per-method analysis and the whole-program report are three parts: `domain`, `execution`, `report`.
//!
//! ## What it finds
//! A *method view* is the set of fields a method accesses, with all it calls.
//! A *lock view* is what is accessed while a lock is held: a field with *write* if it is written there, else with *read*.
//! A method is inconsistent if the lock views that share fields with its view do not form a chain, that is, if two of them are not one within the other and at least one is of a thread that can run beside the method.
//!
//! ```java
//! class Account {
//!     private int balance;
//!     synchronized int read() { return balance; }      // lock view {balance: read}
//!     void update(int amount) {                        // method view {balance}
//!         int before = read();
//!         synchronized (this) {                        // lock view {balance: write}
//!             balance = before + amount;
//!         }
//!     }
//! }
//! ```
//! `{balance: read}` and `{balance: write}` are not one within the other: another thread may update the balance between the two critical sections of `update`.
//! The same holds where the parts of a pair are read one by one while others set both.
//!
//! Locks are `synchronized` methods and blocks and the locks of `java.util.concurrent`, read and write locks told apart, stamped locks included.
//! Methods of one's own that take such a lock and keep it for their caller count as taking it there; so does a class that implements `Lock`, whatever it does inside.
//! `wait` and `await` give their lock up and take it again, so what follows is another critical section.
//!
//! A call of a concurrent collection is a critical section of its own, on the content of the field that refers to it:
//! ```java
//! if (!cache.containsKey(key)) {          // {content of cache: read}
//!     cache.put(key, compute(key));       // {content of cache: write}
//! }
//! ```
//! Atomic variables are treated likewise with `--no-filter volatile`, since they are to other fields what volatile ones are.
//!
//! ## Applications and libraries
//! With `--main` the program starts there: threads and tasks are found where they are started, and only objects that several threads reach count.
//! Without it, any number of threads may call every exported method of each class on one shared instance.
//! In large programs threads of which any number may run are looked at together, as if they were one kind of thread; a finding then names the first and counts the others.
//!
//! ## Causes
//! Wrappers that may wrap each other as far as their types tell do not: what a wrapper passes on to its like is followed from the one that it ends at.
//! Methods that reach the critical sections of a class only through other classes are one finding about that class, with all of them as affected.
//!
//! ## What it misses
//! - Critical sections that all write the same fields: `int i = c.inc(0); c.inc(i);` has only the lock view `{i: write}`.
//! - Volatile fields and atomic variables, unless the filter `volatile` is switched off.
//! - A concurrent collection used under a lock here and without it there: what is under one lock counts as whole.
//! - What an ordinary collection holds, where it is not used through the field that refers to it, unless its own fields are seen.
//! - Locks made of other things, such as a flag and `wait`, or a compare-and-set loop in a class that does not say it is a `Lock`.
//! - Helpers that wait, or keep a lock, where a call may run several methods that do not do the same.
//! - Accesses without any lock: those are races, which other analyses look for.
//! - What the program model does not reach: native code, and reflection whose names are no constants (`--stats` counts both).
//! - Arguments declared as `Object` in library mode: what a client compares with is not known to be of the same class.
//! - In circles of more than 32 methods that call each other, what happens further round the circle.
//!
//! ## What it over-reports
//! - Order that comes from elsewhere: a lock on an enclosing object, initialization before use, start and join.
//! - A collection that is asked and then changed, where the change makes the answer irrelevant, other than by `putIfAbsent`, `compareAndSet` and their kind.
//! - Lazy initialization: `init()` writes under the lock once, `get()` reads under it; whoever calls both is reported.
//! - Two objects of one class: views speak of fields, not of objects, so `right.set(left.get())` is reported.
//! - Methods that were never meant to be atomic, such as the main loop of a worker, with `--no-filter specified`.
//!   A note says so where the specification does not ask for atomicity.
//!
//! ## Filters
//! Each can be switched on with `--filter` and off with `--no-filter`; all but `escaping-values` and `concurrent` are on.
//!
//! | filter | leaves out |
//! |---|---|
//! | `partition` | comparisons of fields of different classes |
//! | `initializers` | accesses through `this` while its constructor runs |
//! | `final`, `volatile`, `read-only` | such fields; atomic variables go with volatile fields; read-only is what nothing writes once it is initialized |
//! | `concurrent` | what concurrent collections hold: ours, not the paper's |
//! | `io` | fields of library classes for input and output |
//! | `subordinate` | methods that use no lock on the fields in question; their callers do |
//! | `smallest` | methods with more fields than another inconsistent one, which names them in a note |
//! | `lowest` | callers of inconsistent methods, which are listed there as torn with it |
//! | `escaping-values` | reads whose value does not leave the lock: a value that is only tested there |
//! | `one-section` | methods that are one critical section on any of their paths: ours, not the paper's; waiting in a loop that only reads before, and reads again after, counts as part of it |
//! | `specified` | methods that the specification does not ask to be atomic, unless it asks for an inconsistent caller: ours |
//!
//! `--arrays` counts the elements of the arrays that a field holds as one variable.

mod domain;
mod evidence;
mod execution;
mod groups;
mod options;
mod report;
mod section;

pub use options::Options;
pub use report::{Outcome, Stats, check};
