//! The two ends of the socket understand each other, and notice when the other is gone.

#![allow(clippy::unwrap_used)]

use std::os::unix::net::UnixStream;
use std::thread;

use untorn_channel::protocol::{AgentEnd, BUILD, Message, ReaderEnd};
use untorn_channel::{Config, Declaration, SharedMemory, layout, pool};

#[test]
fn memory_and_declarations_arrive() {
    let (agent, reader) = UnixStream::pair().unwrap();
    let config = Config {
        include: vec!["bank.**".to_owned()],
        arrays: true,
        ..Config::default()
    };
    let wanted = config.clone();
    let agent = thread::spawn(move || {
        let (mut end, config, memory) = AgentEnd::greet(agent, "Bank").unwrap();
        assert_eq!(config, wanted);
        assert_eq!(pool::take(&memory), Some(0));
        memory.set_state(layout::STOPPED);
        let mut bytes = Vec::new();
        Declaration::Thread {
            id: 1,
            name: "main".to_owned(),
        }
        .encode(&mut bytes);
        end.declare(&bytes).unwrap();
        end.goodbye(&[("classes".to_owned(), 3)].into()).unwrap();
    });
    let (mut end, hello) = ReaderEnd::meet(reader).unwrap();
    assert_eq!(hello.program, "Bank");
    let memory = SharedMemory::create(4).unwrap();
    pool::grow(&memory, 0, 1).unwrap();
    end.welcome(&config, &memory).unwrap();
    let Some(Message::Declare(all)) = end.listen().unwrap() else {
        panic!("no declarations");
    };
    assert_eq!(all.len(), 1);
    let Some(Message::Goodbye(counts)) = end.listen().unwrap() else {
        panic!("no goodbye");
    };
    assert_eq!(counts["classes"], 3);
    assert_eq!(end.listen().unwrap(), None);
    agent.join().unwrap();
    // What the agent did to its mapping, it did to ours.
    assert_eq!(memory.state(), layout::STOPPED);
    assert_eq!(pool::take(&memory), None);
}

#[test]
fn an_agent_hears_that_the_reader_is_gone() {
    let (agent, reader) = UnixStream::pair().unwrap();
    let waiting = thread::spawn(move || {
        let (end, _, _) = AgentEnd::greet(agent, "").unwrap();
        end.watch().unwrap().wait();
    });
    let (mut end, _) = ReaderEnd::meet(reader).unwrap();
    end.welcome(&Config::default(), &SharedMemory::create(1).unwrap())
        .unwrap();
    drop(end);
    waiting.join().unwrap();
}

#[test]
fn a_stranger_is_an_error_and_not_a_panic() {
    let (mut agent, reader) = UnixStream::pair().unwrap();
    std::io::Write::write_all(&mut agent, b"GET / HTTP/1.1\r\n\r\n").unwrap();
    drop(agent);
    assert!(ReaderEnd::meet(reader).is_err());
}

#[test]
fn an_agent_that_cannot_work_says_why() {
    let (agent, reader) = UnixStream::pair().unwrap();
    AgentEnd::refuse(agent, "Bank", "it is too old").unwrap();
    let refused = ReaderEnd::meet(reader).unwrap_err().to_string();
    assert!(
        refused.contains("(Bank) ran unwatched: it is too old"),
        "{refused}"
    );

    let (agent, reader) = UnixStream::pair().unwrap();
    let agent = thread::spawn(move || {
        let (mut end, _, _) = AgentEnd::greet(agent, "Bank").unwrap();
        end.give_up("no memory").unwrap();
    });
    let (mut end, _) = ReaderEnd::meet(reader).unwrap();
    end.welcome(&Config::default(), &SharedMemory::create(1).unwrap())
        .unwrap();
    let heard = end.listen().unwrap();
    assert_eq!(heard, Some(Message::GaveUp("no memory".to_owned())));
    agent.join().unwrap();
}

/// What the reader says to an agent that greets with this.
fn said_to(hello: &str) -> String {
    let (mut agent, reader) = UnixStream::pair().unwrap();
    let length = u32::try_from(hello.len() + 1).unwrap();
    let mut message = length.to_le_bytes().to_vec();
    message.push(1);
    message.extend_from_slice(hello.as_bytes());
    std::io::Write::write_all(&mut agent, &message).unwrap();
    ReaderEnd::meet(reader).unwrap_err().to_string()
}

#[test]
fn an_agent_of_another_build_is_named_with_both_builds() {
    // What an agent said before there were builds, one of another build, and one that says something else altogether.
    for (hello, theirs) in [
        (
            r#"{"version":1,"pid":7,"program":"Bank"}"#,
            "of an older build",
        ),
        (r#"{"build":"0.1.0+0","pid":7,"program":"Bank"}"#, "0.1.0+0"),
        (r#"{"build":"9.0.0+1","process":{"id":7}}"#, "9.0.0+1"),
    ] {
        let said = said_to(hello);
        let expected = format!("the agent library is {theirs} and this untorn is {BUILD}");
        assert!(said.starts_with(&expected), "{said}");
    }
}

#[test]
fn an_agent_that_is_not_let_in_says_its_own_build() {
    let (agent, reader) = UnixStream::pair().unwrap();
    drop(reader);
    let said = AgentEnd::greet(agent, "").unwrap_err().to_string();
    // Closed before the greeting, or after it.
    let (agent, reader) = UnixStream::pair().unwrap();
    let closing = thread::spawn(move || drop(ReaderEnd::meet(reader).unwrap()));
    let after = AgentEnd::greet(agent, "").unwrap_err().to_string();
    closing.join().unwrap();
    assert!(said.contains("connection"), "{said}");
    assert!(after.contains("did not let this process in"), "{after}");
    assert!(after.contains(BUILD), "{after}");
}
