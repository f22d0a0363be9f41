//! On structured code the graph engine gives exactly what the rules of Figures 3 to 5 give on the expression.

use crate::terms::{Term, World, terms};
use proptest::prelude::*;
use untorn_types::algebra::{Algebra, Atomicity, Test};
use untorn_types::basic::Basic;
use untorn_types::holding;
use untorn_types::input::{Discipline, Effect, Graph, Node, NodeId, RegionId, Site};
use untorn_types::locks::{Lock, Root};
use untorn_types::path::{self, Meaning};
use untorn_types::substitution::Substitution;

/// The expressions of AtomicJava that have an atomicity of their own.
#[derive(Clone, Debug)]
enum Expr {
    /// A field access or a call, whose atomicity may test the innermost variable instead of `this`.
    Step(Term, bool),
    Seq(Box<Expr>, Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    While(Box<Expr>, Box<Expr>),
    /// The lock is one of the world's, or the innermost variable.
    Sync(Option<usize>, Box<Expr>),
    AssertAtomic(Box<Expr>),
    /// `let x = e1 in e2`
    Let(Box<Expr>, Box<Expr>),
}

fn expressions() -> impl Strategy<Value = Expr> {
    // Mostly harmless steps, or every expression would be compound or an error.
    let harmless = terms(&[Basic::Const, Basic::Mover, Basic::Atomic], false);
    let step = (
        prop_oneof![6 => harmless, 1 => terms(&Basic::PAPER, true)],
        any::<bool>(),
    )
        .prop_map(|(term, variable)| Expr::Step(term, variable));
    step.prop_recursive(5, 24, 3, |inner| {
        let e = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (e(), e()).prop_map(|(a, b)| Expr::Seq(a, b)),
            (e(), e(), e()).prop_map(|(a, b, c)| Expr::If(a, b, c)),
            (e(), e()).prop_map(|(a, b)| Expr::While(a, b)),
            (proptest::option::of(0usize..5), e()).prop_map(|(l, a)| Expr::Sync(l, a)),
            e().prop_map(Expr::AssertAtomic),
            (e(), e()).prop_map(|(a, b)| Expr::Let(a, b)),
        ]
    })
}

fn variable(algebra: &mut Algebra, depth: u32) -> Option<Lock> {
    depth
        .checked_sub(1)
        .map(|local| algebra.locks.root(Root::Local(local)))
}

/// A step's atomicity, with the innermost variable in the place of `this` if it asks for that.
fn step(world: &mut World, term: &Term, use_variable: bool, depth: u32) -> Atomicity {
    let a = world.build(term);
    match variable(&mut world.algebra, depth) {
        Some(local) if use_variable => world
            .algebra
            .substitute(a, &Substitution::identity().with(Root::This, local)),
        _ => a,
    }
}

fn sync_lock(world: &mut World, lock: Option<usize>, depth: u32) -> Lock {
    let local = variable(&mut world.algebra, depth);
    lock.map(|i| world.locks[i])
        .or(local)
        .unwrap_or(world.locks[0])
}

/// The paper's rules.
fn type_of(world: &mut World, expr: &Expr, depth: u32) -> Atomicity {
    match expr {
        Expr::Step(term, use_variable) => step(world, term, *use_variable, depth),
        Expr::Seq(a, b) => {
            let (a, b) = (type_of(world, a, depth), type_of(world, b, depth));
            world.algebra.seq(a, b)
        }
        Expr::If(a, b, c) => {
            let [a, b, c] = [a, b, c].map(|e| type_of(world, e, depth));
            let branches = world.algebra.join(b, c);
            world.algebra.seq(a, branches)
        }
        Expr::While(a, b) => {
            let (a, b) = (type_of(world, a, depth), type_of(world, b, depth));
            let round = world.algebra.seq(b, a);
            let rounds = world.algebra.star(round);
            world.algebra.seq(a, rounds)
        }
        Expr::Sync(lock, body) => {
            let lock = sync_lock(world, *lock, depth);
            let body = type_of(world, body, depth);
            world.algebra.sync(lock, body)
        }
        Expr::AssertAtomic(body) => {
            let body = type_of(world, body, depth);
            world.algebra.asserted(body)
        }
        Expr::Let(value, body) => {
            let value = type_of(world, value, depth);
            let body = type_of(world, body, depth + 1);
            let local = world.algebra.locks.root(Root::Local(depth));
            let body = world.algebra.forget(body, local);
            world.algebra.seq(value, body)
        }
    }
}

/// Adds a node after each of `from` and returns it.
fn add(graph: &mut Graph, effect: Effect, from: &[NodeId]) -> NodeId {
    let id = NodeId(graph.nodes.len() as u32);
    graph.nodes.push(Node {
        effect,
        next: Vec::new(),
        site: Site(id.0),
    });
    for node in from {
        graph.nodes[node.index()].next.push(id);
    }
    id
}

/// Compiles to a graph, as javac would: acquire, body, release; loops as back edges.
fn compile(world: &mut World, graph: &mut Graph, expr: &Expr, depth: u32, from: NodeId) -> NodeId {
    match expr {
        Expr::Step(term, use_variable) => {
            let a = step(world, term, *use_variable, depth);
            add(graph, Effect::Does(a), &[from])
        }
        Expr::Seq(a, b) => {
            let middle = compile(world, graph, a, depth, from);
            compile(world, graph, b, depth, middle)
        }
        Expr::If(a, b, c) => {
            let fork = compile(world, graph, a, depth, from);
            let ends = [b, c].map(|e| compile(world, graph, e, depth, fork));
            add(graph, Effect::Skip, &ends)
        }
        Expr::While(a, b) => {
            let head = add(graph, Effect::Skip, &[from]);
            let exit = compile(world, graph, a, depth, head);
            let back = compile(world, graph, b, depth, exit);
            graph.nodes[back.index()].next.push(head);
            exit
        }
        Expr::Sync(lock, body) => {
            let lock = Some(sync_lock(world, *lock, depth));
            let entered = add(
                graph,
                Effect::Acquire {
                    lock,
                    protector: None,
                },
                &[from],
            );
            let end = compile(world, graph, body, depth, entered);
            add(
                graph,
                Effect::Release {
                    lock,
                    protector: None,
                },
                &[end],
            )
        }
        Expr::AssertAtomic(body) => {
            let begin = add(
                graph,
                Effect::Begin {
                    region: RegionId(from.0),
                    asserted: true,
                },
                &[from],
            );
            let end = compile(world, graph, body, depth, begin);
            add(graph, Effect::End, &[end])
        }
        Expr::Let(value, body) => {
            let value = compile(world, graph, value, depth, from);
            let bound = add(graph, Effect::Bind(depth), &[value]);
            compile(world, graph, body, depth + 1, bound)
        }
    }
}

fn engine(world: &mut World, expr: &Expr) -> Atomicity {
    let mut graph = Graph::default();
    let entry = add(&mut graph, Effect::Skip, &[]);
    compile(world, &mut graph, expr, 0, entry);
    let (holdings, net) = holding::holdings(&mut world.algebra.locks, &graph, &[], &[]);
    assert!(net.is_balanced());
    let discipline = Discipline::default();
    let meaning = Meaning {
        fields: &[],
        discipline: &discipline,
        methods: &[],
        nets: &[],
    };
    let paths = path::solve(&mut world.algebra, &graph, &holdings, &meaning);
    (0..8).fold(paths.whole, |a, local| {
        let local = world.algebra.locks.root(Root::Local(local));
        world.algebra.forget(a, local)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_graph_engine_agrees_with_the_rules(expr in expressions()) {
        let mut world = World::new();
        let typed = type_of(&mut world, &expr, 0);
        let found = engine(&mut world, &expr);
        prop_assert_eq!(found, typed);
    }
}

/// Two variables of one name are two objects: without the binding in between the two steps would seem never to be atomic both.
#[test]
fn a_binding_starts_a_new_variable() {
    let mut world = World::new();
    let held = Test::held(world.locks[0]);
    let term = |high, low| {
        let [high, low] = [high, low].map(|b| Box::new(Term::Basic(b)));
        Box::new(Expr::Step(Term::Cond(held, high, low), true))
    };
    let nothing = || Box::new(Expr::Step(Term::Basic(Basic::Const), false));
    let first = Expr::Let(nothing(), term(Basic::Atomic, Basic::Mover));
    let second = Expr::Let(nothing(), term(Basic::Mover, Basic::Atomic));
    let expr = Expr::Seq(Box::new(first), Box::new(second));
    assert_eq!(type_of(&mut world, &expr, 0), Atomicity::CMPD);
    assert_eq!(engine(&mut world, &expr), Atomicity::CMPD);
}
