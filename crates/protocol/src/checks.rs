//! Every fence and every check that the protocol stands on, each of which can be taken out of the model.

/// What a mutation takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Check {
    /// `UntornEpoch.respond`: the poll is taken back before the request is looked for.
    RespondFence,
    /// `UntornEpoch.request`: the request is there before the poll.
    AskBeforePoll,
    /// `UntornEpoch.awaitResponse`: nobody takes a word before its owner has responded.
    AwaitResponse,
    /// `UntornEpoch.coordinate`: the position of a revoked epoch is read after the response.
    PositionAfterResponse,
    /// `UntornEpoch.renew`: an epoch is known before it is used.
    EpochKnownFirst,
    /// `UntornEpoch.unblocks`: being awake is seen before anything is read.
    WakeFence,
    /// `UntornNatives.isAway`: a thread that waits for a monitor is looked at after a barrier.
    Membarrier,
    /// `Jvmti::is_access`: native methods of `Unsafe` do not count as native code.
    UnsafeIsNoSafePoint,
    /// `UntornEpoch.coordinate`, `await`, `UntornShadow.contend`: a thread that waits polls.
    WaitersPoll,
    /// `UntornEpoch.PATIENCE`: a thread that does not respond costs its object.
    Patience,
    /// `UntornOwner.claim`: an edge from where the revoked epoch ended.
    EdgeFromEpoch,
    /// `UntornOwner.share`: an edge from the other reader.
    EdgeFromReader,
    /// `UntornOwner.share`: the other reader is told that it reads what is shared.
    SharesFlag,
    /// `UntornOwner.share`: the word is the one that the edge was drawn for.
    ShareIsCurrent,
    /// `UntornReadShared.catchUp`: an edge from the last transition to read-shared.
    EdgeFromShared,
    /// `UntornReadShared.see`: that this thread reads what is shared is seen before it looks at a word again.
    SeeFence,
    /// `UntornEpoch.coordinateWithAll`: who writes to what is shared waits for its readers.
    ReadersRespond,
    /// `UntornEdges.edgesFromAll`: edges from all of them.
    EdgesFromReaders,
    /// `UntornReadShared.forgetShared`: nobody is about to share what this thread reads while it forgets that.
    ForgetUnderLock,
    /// `UntornOwner.unshare`: the epoch that owns the word is the one after all responses.
    EpochAfterResponses,
    /// `UntornShadow.deferUnlock`: the thread asks itself to free the word.
    DeferredPoll,
    /// `UntornShadow.revoke`: the word is marked before its holder is looked at.
    RevokeMark,
    /// `UntornShadow.revoke`: the access is recorded before its thread is looked at.
    DeferredBeforeLook,
    /// `UntornShadow.abandon`: what is freed is not offered again.
    DeferredCleared,
    /// `UntornShadow.abandon`: a word whose next state is not known gets its old one back.
    RestoreWord,
    /// `UntornThread.end`: the exit is known before the context is gone.
    ExitBeforeGone,
}

impl Check {
    pub const ALL: [Self; 26] = [
        Self::RespondFence,
        Self::AskBeforePoll,
        Self::AwaitResponse,
        Self::PositionAfterResponse,
        Self::EpochKnownFirst,
        Self::WakeFence,
        Self::Membarrier,
        Self::UnsafeIsNoSafePoint,
        Self::WaitersPoll,
        Self::Patience,
        Self::EdgeFromEpoch,
        Self::EdgeFromReader,
        Self::SharesFlag,
        Self::ShareIsCurrent,
        Self::EdgeFromShared,
        Self::SeeFence,
        Self::ReadersRespond,
        Self::EdgesFromReaders,
        Self::ForgetUnderLock,
        Self::EpochAfterResponses,
        Self::DeferredPoll,
        Self::RevokeMark,
        Self::DeferredBeforeLook,
        Self::DeferredCleared,
        Self::RestoreWord,
        Self::ExitBeforeGone,
    ];
}

/// Those that are in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checks(u32);

impl Checks {
    pub const ALL: Self = Self(u32::MAX);

    pub const fn without(self, check: Check) -> Self {
        Self(self.0 & !(1 << check as u8))
    }

    pub const fn has(self, check: Check) -> bool {
        self.0 & 1 << check as u8 != 0
    }
}
