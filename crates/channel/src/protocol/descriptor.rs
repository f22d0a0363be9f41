//! Passing a file descriptor over a Unix socket, which the standard library cannot do yet.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Room for one descriptor.
const ROOM: usize = rustix::cmsg_space!(ScmRights(1));

/// Sends it with one byte of data, which a descriptor must accompany.
pub(super) fn send(stream: &UnixStream, file: BorrowedFd<'_>) -> io::Result<()> {
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut control = SendAncillaryBuffer::new(&mut room);
    let files = [file];
    if !control.push(SendAncillaryMessage::ScmRights(&files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let data = [IoSlice::new(&[0])];
    retry_on_intr(|| rustix::net::sendmsg(stream, &data, &mut control, SendFlags::NOSIGNAL))?;
    Ok(())
}

pub(super) fn receive(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut room = [MaybeUninit::uninit(); ROOM];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    let received = retry_on_intr(|| {
        let mut data = [IoSliceMut::new(&mut byte)];
        rustix::net::recvmsg(stream, &mut data, &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    files.flatten().next().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "no descriptor came with the answer",
        )
    })
}
