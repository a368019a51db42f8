//! Messages between a front end and its host: a length, a number of files, then JSON; the files travel beside them.
//!
//! The kernel may hand over the bytes of several messages at once, with the files of the last: the number says whose
//! they are.
//!
//! Both ends are the same executable, so the version word only guards against a program that was replaced while it
//! ran. A length beyond [`MAX_FRAME`] or bytes that are no message end the connection: nothing is guessed.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use engine::api::{Error, Event, Reply, Request};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Changes with every change of the messages.
pub(crate) const VERSION: u32 = 3;

/// The largest message that is accepted.
const MAX_FRAME: usize = 64 << 20;

/// Bytes before the JSON: its length, and how many files belong to it.
const HEAD: usize = 5;

/// Bytes that are read at a time.
const CHUNK: usize = 16 << 10;

/// The most files that may travel with one message.
const MAX_FILES: usize = 3;

/// From a front end.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToHost {
    /// Must come first.
    Hello { version: u32 },
    /// A request with a number that its reply repeats.
    Request { id: u64, request: Request },
    /// Nobody waits for the answer to a request any more: it is not to be begun.
    GiveUp { id: u64 },
}

/// From a host.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromHost {
    /// Comes first.
    Hello { version: u32 },
    /// Answers a request.
    Reply {
        id: u64,
        result: Result<Reply, Error>,
    },
    /// Something happened.
    Event(Event),
}

/// Writes one message, with files if it has any.
pub(crate) fn send(
    stream: &UnixStream,
    message: &impl Serialize,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    send_bytes(stream, &frame(message, files)?, files)
}

/// The bytes of a message.
pub(crate) fn frame(message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; HEAD];
    serde_json::to_writer(&mut frame, message)?;
    let length =
        u32::try_from(frame.len() - HEAD).map_err(|_| io::Error::other("message too long"))?;
    let n_files = u8::try_from(files.len())
        .map_err(|_| io::Error::other("too many files for one message"))?;
    if let Some(head) = frame.first_chunk_mut::<HEAD>() {
        let [a, b, c, d] = length.to_le_bytes();
        *head = [a, b, c, d, n_files];
    }
    Ok(frame)
}

/// Writes bytes without waiting; how many were taken.
pub(crate) fn try_send(stream: &UnixStream, bytes: &[u8]) -> io::Result<usize> {
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    match rustix::net::send(stream, bytes, flags) {
        Ok(sent) => Ok(sent),
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

/// Writes bytes, the files beside the first.
pub(crate) fn send_bytes(
    stream: &UnixStream,
    bytes: &[u8],
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut rest = bytes;
    let mut files = files;
    while !rest.is_empty() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
            return Err(io::Error::other("too many files for one message"));
        }
        match rustix::net::sendmsg(
            stream,
            &[IoSlice::new(rest)],
            &mut ancillary,
            SendFlags::NOSIGNAL,
        ) {
            Ok(sent) => {
                rest = rest.get(sent..).unwrap_or_default();
                files = &[];
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Reads messages from a stream.
#[derive(Debug)]
pub(crate) struct Receiver {
    stream: UnixStream,
    buffer: Vec<u8>,
    /// What is read at a time.
    chunk: Box<[u8]>,
    files: Vec<OwnedFd>,
}

impl Receiver {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
            chunk: vec![0; CHUNK].into(),
            files: Vec::new(),
        }
    }

    /// The next message and the files that came with it; `None` at the end of the stream.
    pub(crate) fn next<T: DeserializeOwned>(&mut self) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
        loop {
            if let Some([a, b, c, d, n_files]) = self.buffer.first_chunk::<HEAD>() {
                let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                if length > MAX_FRAME {
                    return Err(io::Error::other(format!(
                        "a message of {length} bytes is refused"
                    )));
                }
                // They came with the first byte of their message, so all of them are here.
                let n_files = usize::from(*n_files).min(self.files.len());
                if let Some(body) = self.buffer.get(HEAD..HEAD + length) {
                    let message = serde_json::from_slice(body)?;
                    self.buffer.drain(..HEAD + length);
                    return Ok(Some((message, self.files.drain(..n_files).collect())));
                }
            }
            if !self.fill()? {
                return if self.buffer.is_empty() {
                    Ok(None)
                } else {
                    Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the connection ended inside a message",
                    ))
                };
            }
        }
    }

    /// Reads what is there; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = loop {
            let slices = &mut [IoSliceMut::new(&mut self.chunk)];
            match rustix::net::recvmsg(
                self.stream.as_fd(),
                slices,
                &mut ancillary,
                RecvFlags::CMSG_CLOEXEC,
            ) {
                Ok(received) => break received,
                Err(rustix::io::Errno::INTR) => {}
                // A killed peer resets the connection.
                Err(rustix::io::Errno::CONNRESET) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files.extend(files);
            }
        }
        self.buffer
            .extend_from_slice(self.chunk.get(..received.bytes).unwrap_or_default());
        Ok(received.bytes > 0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn messages_and_files_arrive_as_sent() {
        let (left, right) = UnixStream::pair().expect("a socketpair");
        let (mut reader, writer) = io::pipe().expect("a pipe");
        let message = ToHost::Request {
            id: 7,
            request: Request::Input {
                text: "x".repeat(100_000),
                close: false,
            },
        };
        let sender = std::thread::spawn(move || {
            send(&left, &ToHost::Hello { version: VERSION }, &[]).expect("sent");
            send(&left, &message, &[writer.as_fd()]).expect("sent");
        });
        let mut receiver = Receiver::new(right);
        let (hello, files) = receiver
            .next::<ToHost>()
            .expect("readable")
            .expect("a message");
        assert!(matches!(hello, ToHost::Hello { version: VERSION }) && files.is_empty());
        let (request, mut files) = receiver
            .next::<ToHost>()
            .expect("readable")
            .expect("a message");
        assert!(
            matches!(request, ToHost::Request { id: 7, request: Request::Input { text, .. } } if text.len() == 100_000)
        );
        sender.join().expect("sender");
        let file = files.pop().expect("one file came along");
        io::PipeWriter::from(file)
            .write_all(b"hi")
            .expect("writable");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("readable");
        assert_eq!(text, "hi");
        assert!(receiver.next::<ToHost>().expect("readable").is_none());
    }

    #[test]
    fn files_belong_to_their_message_even_if_it_arrives_with_others() {
        let (left, right) = UnixStream::pair().expect("a socketpair");
        let hello = ToHost::Hello { version: VERSION };
        let (_reader, writer) = io::pipe().expect("a pipe");
        send(&left, &hello, &[]).expect("sent");
        send(&left, &hello, &[writer.as_fd(), writer.as_fd()]).expect("sent");
        send(&left, &hello, &[]).expect("sent");
        let mut receiver = Receiver::new(right);
        let mut n_files = || {
            let message = receiver.next::<ToHost>().expect("readable");
            message.expect("a message").1.len()
        };
        assert_eq!([n_files(), n_files(), n_files()], [0, 2, 0]);
    }

    #[test]
    fn nonsense_is_refused_and_a_cut_message_is_an_error() {
        let refused = |bytes: &[u8]| {
            let (mut left, right) = UnixStream::pair().expect("a socketpair");
            left.write_all(bytes).expect("written");
            drop(left);
            Receiver::new(right)
                .next::<ToHost>()
                .expect_err("refused")
                .to_string()
        };
        assert_eq!(
            refused(&[0xff; 8]),
            "a message of 4294967295 bytes is refused"
        );
        assert_eq!(
            refused(&[9, 0, 0, 0, 0, b'{']),
            "the connection ended inside a message"
        );
        assert!(refused(&[2, 0, 0, 0, 0, b'{', b'}']).contains("expected value"));
    }
}
