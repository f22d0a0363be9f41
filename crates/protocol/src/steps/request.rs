//! `UntornEpoch`: coordination. A thread revokes what another one owns, and that one responds.

use super::Steps;
use crate::checks::Check;
use crate::state::{At, EPOCHS, Epoch, Point, Request, RequestAt, Respond, State, Store};

impl Steps<'_> {
    /// `UntornEpoch.respond`.
    pub(super) fn respond(&self, t: usize) {
        match self.from.threads[t].respond {
            Respond::Clear if !self.from.threads[t].has_room(1) => {}
            Respond::No => {}
            Respond::Clear => self.step(t, "respond: takes the poll back", |n| {
                let thread = &mut n.threads[t];
                thread.store(Store::Poll(false));
                thread.respond = if thread.held.is_some_and(|held| held.after.is_some()) {
                    Respond::Free
                } else {
                    Respond::LoadAsk
                };
            }),
            Respond::Free => self.fenced(t, "respond: frees its word", |n| {
                n.abandon(t, self.checks);
                n.threads[t].respond = Respond::LoadAsk;
            }),
            Respond::LoadAsk => {
                self.fenced_if(
                    Check::RespondFence,
                    t,
                    "respond: looks for a request",
                    |n| {
                        let thread = &mut n.threads[t];
                        let reads = thread.seen != 0 || thread.shares;
                        thread.respond = match thread.requested {
                            true if thread.unshares && reads => Respond::Forget,
                            true => Respond::Answer,
                            false => Respond::No,
                        };
                    },
                );
            }
            Respond::Forget => {
                let locked = self.checks.has(Check::ForgetUnderLock);
                if self.from.global.is_none() || !locked {
                    self.fenced(t, "forgetShared", |n| {
                        let thread = &mut n.threads[t];
                        (thread.seen, thread.shared_seen, thread.shares) = (0, 0, false);
                        thread.respond = Respond::Answer;
                    });
                }
            }
            Respond::Answer => self.fenced(t, "respond: responds", |n| {
                (n.threads[t].requested, n.threads[t].unshares) = (false, false);
                n.threads[t].respond = Respond::No;
            }),
        }
    }

    /// A thread that waits for another one passes a safe point.
    pub(super) fn wait(&self, t: usize) {
        if self.from.threads[t].is_polled() && self.checks.has(Check::WaitersPoll) {
            self.step(t, "poll: asked while it waits", |n| {
                n.threads[t].respond = Respond::Clear;
            });
        }
    }

    /// Whether a thread is where nobody waits for it.
    pub(super) fn is_lost(&self, u: usize) -> bool {
        let strayed = self.from.threads[u].at == At::Stray;
        (strayed || self.scenario.impatient) && self.checks.has(Check::Patience)
    }

    /// Whether somebody who looks finds a thread in native code or waiting for a monitor.
    pub(super) fn is_away(&self, u: usize) -> bool {
        let thread = &self.from.threads[u];
        let in_access = self.scenario.interpreted
            && matches!(thread.at, At::Record | At::Access)
            && !self.checks.has(Check::UnsafeIsNoSafePoint);
        thread.native || thread.entering || in_access || !thread.registered
    }

    /// `UntornEpoch.coordinate`.
    pub(super) fn request(&self, t: usize) {
        let Some(request) = self.from.threads[t].request else {
            return;
        };
        let (u, epoch) = (request.to as usize, request.epoch as usize);
        let other = &self.from.threads[u];
        let next = |n: &mut State, at| {
            n.threads[t].request = Some(Request { at, ..request });
        };
        match request.at {
            RequestAt::Gate => {
                if !other.request_lock {
                    let after = if epoch == 0 {
                        RequestAt::IsBlocked
                    } else {
                        RequestAt::Check
                    };
                    self.fenced(t, "coordinate: takes the request lock", |n| {
                        n.threads[u].request_lock = true;
                        next(n, after);
                    });
                } else if epoch != 0 && matches!(self.from.epochs[epoch], Epoch::Revoked(_)) {
                    self.step(t, "coordinate: another one has done it", |n| {
                        n.coordinated(t, true);
                    });
                }
                self.wait(t);
            }
            RequestAt::Check => {
                self.fenced(t, "coordinate: loads the epoch", |n| {
                    match n.epochs[epoch] {
                        Epoch::Revoked(_) => {
                            n.threads[u].request_lock = false;
                            n.coordinated(t, true);
                        }
                        Epoch::Unanswered(_)
                            if other.requested && !other.blocked && !self.is_away(u) =>
                        {
                            n.threads[u].request_lock = false;
                            n.coordinated(t, false);
                        }
                        _ => next(n, RequestAt::Issue),
                    }
                });
            }
            RequestAt::Issue => self.issue(t, request),
            RequestAt::Wear(number) => self.fenced(t, "renew: the epoch is known", |n| {
                n.epochs[number as usize] = Epoch::Current(u as u8);
                next(n, RequestAt::IsBlocked);
            }),
            RequestAt::IsBlocked => self.fenced(t, "coordinate: is it blocked?", |n| {
                let early = if self.checks.has(Check::PositionAfterResponse) {
                    0
                } else {
                    n.threads[u].position
                };
                let blocked = n.threads[u].blocked || !self.checks.has(Check::AwaitResponse);
                let at = if blocked {
                    RequestAt::Done(true)
                } else if self.checks.has(Check::AskBeforePoll) {
                    RequestAt::Ask
                } else {
                    RequestAt::Poll
                };
                n.threads[t].request = Some(Request {
                    at,
                    early,
                    ..request
                });
            }),
            RequestAt::Ask => self.fenced(t, "request: the request", |n| {
                (n.threads[u].requested, n.threads[u].unshares) = (true, epoch == 0);
                let first = self.checks.has(Check::AskBeforePoll);
                next(
                    n,
                    if first {
                        RequestAt::Poll
                    } else {
                        RequestAt::Await
                    },
                );
            }),
            RequestAt::Poll => self.fenced(t, "request: the poll", |n| {
                n.threads[u].poll = true;
                let first = self.checks.has(Check::AskBeforePoll);
                next(
                    n,
                    if first {
                        RequestAt::Await
                    } else {
                        RequestAt::Ask
                    },
                );
            }),
            RequestAt::Await => self.response(t, request),
            RequestAt::Barrier => self.step(t, "awaitResponse: looks at it", |n| {
                if self.is_away(u) {
                    (n.threads[u].requested, n.threads[u].unshares) = (false, false);
                    next(n, RequestAt::Done(true));
                } else {
                    next(n, RequestAt::Await);
                }
            }),
            RequestAt::Done(responded) => self.fenced(
                t,
                "coordinate: the epoch ends, releases the request lock",
                |n| {
                    if epoch != 0 {
                        let position = if self.checks.has(Check::PositionAfterResponse) {
                            n.threads[u].position
                        } else {
                            request.early
                        };
                        n.epochs[epoch] = if responded {
                            Epoch::Revoked(Point {
                                thread: u as u8,
                                position,
                            })
                        } else {
                            Epoch::Unanswered(u as u8)
                        };
                    }
                    n.threads[u].request_lock = false;
                    n.coordinated(t, responded);
                },
            ),
        }
    }

    /// `UntornEpoch.renew`: the other thread goes on under a new epoch.
    fn issue(&self, t: usize, request: Request) {
        let u = request.to as usize;
        self.fenced(t, "renew: a new epoch", |n| {
            let mut at = RequestAt::IsBlocked;
            if n.threads[u].mine == request.epoch {
                n.threads[u].mine = 0;
                if (n.issued as usize) < EPOCHS - 1 {
                    n.issued += 1;
                    n.threads[u].mine = n.issued;
                    if self.checks.has(Check::EpochKnownFirst) {
                        n.epochs[n.issued as usize] = Epoch::Current(u as u8);
                    } else {
                        at = RequestAt::Wear(n.issued);
                    }
                }
            }
            n.threads[t].request = Some(Request { at, ..request });
        });
    }

    /// `UntornEpoch.awaitResponse`.
    fn response(&self, t: usize, request: Request) {
        let u = request.to as usize;
        let other = &self.from.threads[u];
        let next = |n: &mut State, at| {
            n.threads[t].request = Some(Request { at, ..request });
        };
        if !other.requested || !other.registered {
            self.step(t, "awaitResponse: the response", |n| {
                next(n, RequestAt::Done(true));
            });
            return;
        }
        self.wait(t);
        if other.blocked {
            self.fenced(t, "awaitResponse: it has blocked", |n| {
                (n.threads[u].requested, n.threads[u].unshares) = (false, false);
                next(n, RequestAt::Done(true));
            });
        }
        if self.is_away(u) {
            self.fenced(t, "isAway: the barrier", |n| {
                if self.checks.has(Check::Membarrier) {
                    n.drain_all(u);
                }
                next(n, RequestAt::Barrier);
            });
        }
        if self.is_lost(u) {
            self.step(t, "awaitResponse: no patience left", |n| {
                next(n, RequestAt::Done(false));
            });
        }
    }
}

impl State {
    /// A request is over.
    fn coordinated(&mut self, t: usize, responded: bool) {
        let thread = &mut self.threads[t];
        thread.request = None;
        thread.at = match thread.at {
            At::UnshareMet(u) if responded => At::UnshareNext(u + 1),
            At::Requested if !responded => At::GiveUp,
            at => at,
        };
    }
}
