//! What a host says to its front end: written at once where the socket takes it, else by a thread that may wait.
//!
//! Almost every message fits, and waking a thread for it would cost more than writing it.
//!
//! Invariant: messages are written whole and in order, and whoever says something never waits for the front end.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use crate::wire::{self, FromHost};

/// The way out. What waits is still written after it was dropped.
#[derive(Debug)]
pub(crate) struct Outbox {
    socket: UnixStream,
    queue: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Mutex<usize>>,
}

impl Outbox {
    /// A way out, and the thread that ends after everything was written; it drops `until_then` last.
    pub(crate) fn start<T: Send + 'static>(
        socket: UnixStream,
        until_then: T,
    ) -> io::Result<(Self, JoinHandle<()>)> {
        let (queue, messages) = mpsc::channel::<Vec<u8>>();
        let waiting = Arc::new(Mutex::new(0));
        let written = waiting.clone();
        let writer_socket = socket.try_clone()?;
        let writer = thread::Builder::new()
            .name("writer".into())
            .spawn(move || {
                for bytes in messages {
                    if let Err(error) = wire::send_bytes(&writer_socket, &bytes, &[]) {
                        told_nobody(&error);
                    }
                    *lock(&written) -= 1;
                }
                drop((writer_socket, until_then));
            })?;
        let outbox = Self {
            socket,
            queue,
            waiting,
        };
        Ok((outbox, writer))
    }

    /// Says something.
    pub(crate) fn say(&self, message: &FromHost) {
        let mut bytes = match wire::frame(message, &[]) {
            Ok(bytes) => bytes,
            Err(error) => {
                tracing::error!(%error, "a message cannot be written");
                return;
            }
        };
        let mut waiting = lock(&self.waiting);
        if *waiting == 0 {
            match wire::try_send(&self.socket, &bytes) {
                Ok(sent) => drop(bytes.drain(..sent)),
                Err(error) => return told_nobody(&error),
            }
        }
        if !bytes.is_empty() {
            *waiting += 1;
            // The writer lives as long as this does.
            let _ = self.queue.send(bytes);
        }
    }
}

fn lock(count: &Mutex<usize>) -> MutexGuard<'_, usize> {
    count.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The front end is gone; the engine learns of that through its inbox.
fn told_nobody(error: &io::Error) {
    tracing::debug!(%error, "writing to the front end");
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::api::Error;
    use engine::api::ErrorCode;

    #[test]
    fn messages_arrive_whole_and_in_order_and_nobody_waits_for_a_reader_that_is_late() {
        let (socket, theirs) = UnixStream::pair().expect("a socketpair");
        let (outbox, writer) = Outbox::start(socket, ()).expect("a thread");
        let long = "x".repeat(100_000);
        // More than any socket takes: nobody reads yet.
        const MESSAGES: u64 = 200;
        for id in 0..MESSAGES {
            let text = if id % 3 == 0 { long.as_str() } else { "short" };
            let result = Err(Error::new(ErrorCode::Internal, text));
            outbox.say(&FromHost::Reply { id, result });
        }
        drop(outbox);
        let mut receiver = wire::Receiver::new(theirs);
        for expected in 0..MESSAGES {
            let message = receiver.next().expect("readable");
            let Some((FromHost::Reply { id, result }, _)) = message else {
                panic!("message {expected} is missing");
            };
            let length = result.expect_err("an error").message.len();
            assert_eq!(id, expected);
            assert_eq!(length, if id % 3 == 0 { 100_000 } else { 5 });
        }
        writer.join().expect("the writer");
        assert!(receiver.next::<FromHost>().expect("readable").is_none());
    }
}
