//! Types for atomicity: proves methods atomic by reduction, from locks that protect fields.
//!
//! After *Types for Atomicity: Static Checking and Inference for Java* (Flanagan, Freund, Lifshin, Qadeer).
//!
//! ## What it says
//! A region is *proved* if types show it atomic in every schedule and for every client.
//! A region is *suspected* if two accesses of it are known and a method, by name and line, that can come in between; the finding shows them, the lock given back between them, and the access that took a guard away.
//! Every other region is *unproved*: nobody found a conflict, and the entry shows what is missing, such as a call whose code is neither analyzed nor modelled; `--stats` lists the calls that stop most proofs.
//! `--explain Class.method` prints the inferred type, `untorn infer` writes guards and types into a copy of the sources.
//!
//! ## How it can be wrong
//! Nothing that is proved can be torn as long as what the proofs take for granted holds: clients of a library call methods, access no fields but public ones of public classes, extend no class but abstract ones, and pass as locks what excludes others; an application loads nothing else; reflection by names that are no constants, native code and deserialization access no fields.
//! Whatever reaches clients or the platform may be called at any time, on any thread, the methods that serialization calls and those that method handles were made for included; code that the program model cannot follow counts as called by anybody.
//! Proofs that rest on a race on plain fields need sequential consistency besides, and are listed apart.
//! It proves less than is true: order that comes from elsewhere than locks, harmless races, and what unknown objects do are not seen.
//!
//! ## Where it differs from the paper
//! - Control-flow graphs of bytecode are typed instead of expressions, with left and right movers, so that explicit locks, `tryLock` and read-write locks fit in.
//! - Objects that no other thread knows yet are found by an escape analysis, which replaces the constructor flag.
//! - Ghosts are inferred: classes that are related by inheritance have one, the lock that owns their objects, protects their locks (7.3), or is `always_held` for classes that are synchronized internally (7.4).
//! - Arrays and unsynchronized collections are content of the field that owns them.
//! - Library code is known by models, or typed by its bytecode with `--analyze-jdk`.
//!
//! ## In the code
//! [`basic`] and [`algebra`] are section 4, [`path`] its rules over control-flow graphs, [`infer`] section 6, [`guards`] the part called Rcc/Sat, [`notation`] the way of writing types; [`analysis`] puts them together.
//! [`front`] makes the input of the program model, [`annotations`] puts in what programmers declare, [`report`] makes findings of the verdicts, and [`facts`] what a run may take for granted.
//!
//! *Architecture invariant.* Everything but [`front`], [`annotations`], [`report`] and [`facts`] knows programs only as [`input::Program`]; nothing here reads files or prints.

pub mod algebra;
pub mod analysis;
pub mod annotations;
pub mod basic;
pub mod facts;
pub mod front;
pub mod guards;
pub mod holding;
pub mod infer;
pub mod input;
pub mod locks;
pub mod notation;
pub mod ought;
pub mod path;
pub mod report;
pub mod substitution;
