//! `UntornOwner.share` and `unshare`, `UntornReadShared.share` and `catchUp`: objects that several threads read.

use super::Steps;
use crate::checks::Check;
use crate::state::{
    At, Epoch, Mode, Point, Request, RequestAt, Respond, State, Store, THREADS, Word,
};

impl Steps<'_> {
    /// `UntornReadShared.catchUp`: this thread follows all transitions so far.
    pub(super) fn catch_up(&self, t: usize) {
        if self.from.global.is_none() {
            self.fenced(t, "catchUp: an edge from the last transition", |n| {
                n.catch_up(t, self.checks.has(Check::EdgeFromShared));
                n.threads[t].to(At::CatchUpDone);
            });
        }
    }

    /// The end of `UntornReadShared.see`.
    pub(super) fn catch_up_done(&self, t: usize) {
        self.fenced_if(Check::SeeFence, t, "see: the fence", |n| {
            n.threads[t].to(At::Begin);
        });
    }

    /// `UntornOwner.share`: a second thread reads what another one reads.
    ///
    /// A thread that only reads is not asked.
    /// So nothing keeps the word as it is while the edge is drawn, and it may even come back to the same value:
    /// the edge, the number and the change of the word are one step for all others that share.
    pub(super) fn share(&self, t: usize, at: At) {
        let thread = &self.from.threads[t];
        let current = self.checks.has(Check::ShareIsCurrent);
        let Some(owner) = self.sharer(t) else {
            return;
        };
        match at {
            At::ShareEdge if current => {
                if self.from.global.is_none() {
                    self.fenced(t, "share: takes the global lock", |n| {
                        n.global = Some(t as u8);
                        n.threads[t].to(At::ShareSection);
                    });
                }
                self.nap(t, At::ShareNap);
            }
            At::ShareEdge if !thread.has_room(1) => {}
            At::ShareEdge => self.step(t, "share: an edge from the other reader", |n| {
                n.edge_from(t, owner);
                n.threads[t].to(At::ShareSection);
            }),
            At::ShareSection => {
                let stale = current && self.from.words[thread.object as usize] != thread.loaded;
                if stale {
                    self.step(t, "share: the word is another", |n| {
                        n.global = None;
                        n.threads[t].to(At::Begin);
                    });
                } else {
                    self.fenced(t, "share: the number of the transition", |n| {
                        if current && self.checks.has(Check::EdgeFromReader) {
                            n.edge_from(t, owner);
                        }
                        n.number(t);
                        n.threads[t].to(At::ShareSeen);
                    });
                    if !current {
                        self.nap(t, At::ShareNap);
                    }
                }
            }
            At::ShareNap => self.fenced(t, "share: is awake again", |n| {
                n.threads[t].blocked = false;
                n.threads[t].to(if current {
                    At::ShareEdge
                } else {
                    At::ShareSection
                });
            }),
            At::ShareSeen => self.fenced_if(Check::SeeFence, t, "see: the fence", |n| {
                if !current && n.threads[t].is_polled() {
                    n.threads[t].respond = Respond::Clear;
                    n.threads[t].to(At::Begin);
                } else {
                    n.threads[t].to(At::ShareMark);
                }
            }),
            At::ShareMark => self.fenced(t, "share: tells the other reader", |n| {
                n.threads[owner].shares |= self.checks.has(Check::SharesFlag);
                n.threads[t].to(At::ShareCas);
            }),
            At::ShareCas => self.fenced(t, "share: the word is read-shared", |n| {
                let (object, word) = (n.threads[t].object as usize, n.threads[t].loaded);
                let done = n.words[object] == word;
                if done {
                    n.words[object] = Word::Shared(n.threads[t].number);
                }
                n.threads[t].to(if done { At::Record } else { At::Begin });
                if current {
                    n.global = None;
                }
            }),
            _ => {}
        }
    }

    /// The thread that owns the word which is to be shared.
    fn sharer(&self, t: usize) -> Option<usize> {
        let Word::Owned(_, epoch) = self.from.threads[t].loaded else {
            return None;
        };
        match self.from.epochs[epoch as usize] {
            Epoch::Current(u) | Epoch::Unanswered(u) => Some(u as usize),
            Epoch::Revoked(point) => Some(point.thread as usize),
            Epoch::Unused => None,
        }
    }

    /// A short sleep while a lock of the runtime is not free.
    pub(super) fn nap(&self, t: usize, at: At) {
        if self.scenario.naps {
            self.fenced(t, "backOff: blocks", |n| {
                n.threads[t].blocked = true;
                n.threads[t].to(at);
            });
        }
    }

    /// `UntornOwner.unshare`: the word is locked, and every reader responds.
    pub(super) fn unshare(&self, t: usize, at: At) {
        match at {
            At::UnshareNext(u) if u as usize == THREADS => {
                self.step(t, "coordinateWithAll: all have responded", |n| {
                    n.threads[t].to(At::UnshareEdges);
                });
            }
            At::UnshareNext(u) => {
                self.step(t, "coordinateWithAll: does it read what is shared?", |n| {
                    let other = &n.threads[u as usize];
                    let reads = other.registered && (other.shared_seen != 0 || other.shares);
                    let asks = u as usize != t && reads && self.checks.has(Check::ReadersRespond);
                    n.threads[t].to(if asks {
                        At::UnshareMet(u)
                    } else {
                        At::UnshareNext(u + 1)
                    });
                    n.threads[t].request = asks.then_some(Request {
                        to: u,
                        epoch: 0,
                        at: RequestAt::Gate,
                        early: 0,
                    });
                });
            }
            At::UnshareMet(_) => self.fenced(t, "unshare: tracks the object no more", |n| {
                n.words[n.threads[t].object as usize] = Word::Untracked;
                n.threads[t].held = None;
                n.threads[t].advance();
            }),
            At::UnshareEdges => {
                let thread = &self.from.threads[t];
                let epoch = if self.checks.has(Check::EpochAfterResponses) {
                    thread.mine
                } else {
                    thread.worn
                };
                self.unshared(t, Word::Free(Mode::WrEx, t as u8));
                // If nobody had to respond; it would be as right if somebody had.
                if epoch != 0 {
                    self.unshared(t, Word::Owned(Mode::WrEx, epoch));
                }
            }
            _ => {}
        }
    }

    /// The word is the writer's, contended or not.
    fn unshared(&self, t: usize, after: Word) {
        self.fenced(t, "edgesFromAll", |n| {
            if self.checks.has(Check::EdgesFromReaders) {
                n.edges_from_all(t);
            }
            if let Some(held) = &mut n.threads[t].held {
                held.after = Some(after);
            }
            n.threads[t].to(At::Settle);
        });
    }
}

impl State {
    /// `UntornEdges.edgeFrom`.
    pub fn edge_from(&mut self, t: usize, u: usize) {
        let other = &self.threads[u];
        let from = if other.registered {
            Point {
                thread: u as u8,
                position: other.position,
            }
        } else {
            self.last_exit
        };
        self.edge(t, from);
    }

    /// `UntornEdges.edgesFromAll`.
    pub fn edges_from_all(&mut self, t: usize) {
        for u in 0..THREADS {
            if self.threads[u].registered {
                self.edge_from(t, u);
            }
        }
        self.edge(t, self.last_exit);
    }

    pub fn catch_up(&mut self, t: usize, ordered: bool) {
        if ordered {
            self.edge(t, self.last_shared);
        }
        self.see(t, self.shared_count);
    }

    /// `UntornReadShared.share`: the number of a transition to read-shared, which follows all earlier ones.
    pub fn number(&mut self, t: usize) {
        self.edge(t, self.last_shared);
        self.shared_count += 1;
        self.last_shared = Point {
            thread: t as u8,
            position: self.threads[t].written,
        };
        self.threads[t].number = self.shared_count;
        self.see(t, self.shared_count);
    }

    fn see(&mut self, t: usize, number: u8) {
        self.threads[t].seen = number;
        self.threads[t].store(Store::SharedSeen(number));
    }
}
