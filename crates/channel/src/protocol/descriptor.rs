//! Passing a file descriptor over a Unix socket, which the standard library cannot do yet.
#![allow(unsafe_code)]

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Room for one descriptor, aligned as the kernel wants its headers.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// One byte of data, which a descriptor must accompany.
fn header(byte: &mut libc::iovec, control: &mut Control) -> libc::msghdr {
    // SAFETY: all-zero is a valid `msghdr`.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = byte;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    message
}

pub(super) fn send(stream: &UnixStream, file: BorrowedFd<'_>) -> io::Result<()> {
    let mut data = [0u8];
    let mut byte = libc::iovec {
        iov_base: data.as_mut_ptr().cast(),
        iov_len: 1,
    };
    let mut control = Control([0; 64]);
    let mut message = header(&mut byte, &mut control);
    // SAFETY: the control buffer is larger than one header with one descriptor, and aligned for it.
    unsafe {
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        (*first).cmsg_level = libc::SOL_SOCKET;
        (*first).cmsg_type = libc::SCM_RIGHTS;
        (*first).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(first)
            .cast::<RawFd>()
            .write_unaligned(file.as_raw_fd());
    }
    loop {
        // SAFETY: the message points to live buffers.
        let sent =
            unsafe { libc::sendmsg(stream.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) };
        match sent {
            1 => return Ok(()),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
}

pub(super) fn receive(stream: &UnixStream) -> io::Result<OwnedFd> {
    let mut data = [0u8];
    let mut byte = libc::iovec {
        iov_base: data.as_mut_ptr().cast(),
        iov_len: 1,
    };
    let mut control = Control([0; 64]);
    let mut message = header(&mut byte, &mut control);
    message.msg_controllen = control.0.len() as _;
    loop {
        // SAFETY: the message points to live buffers with their true sizes.
        let received =
            unsafe { libc::recvmsg(stream.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        match received {
            1 => break,
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    // SAFETY: the kernel filled the control buffer and its length; the header is checked before its data is read, and the descriptor it carries is new and ours.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        if first.is_null()
            || (*first).cmsg_level != libc::SOL_SOCKET
            || (*first).cmsg_type != libc::SCM_RIGHTS
            || (*first).cmsg_len as usize != libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "no descriptor came with the answer",
            ));
        }
        let fd = libc::CMSG_DATA(first).cast::<RawFd>().read_unaligned();
        Ok(OwnedFd::from_raw_fd(fd))
    }
}
