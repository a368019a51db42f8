//! The host's side: reads requests, runs the engine, writes replies and events.
//!
//! Threads: one runs the engine, which this one waits for, one reads the socket, one writes what the socket does not take at once, one takes signals. Whatever ends first, the
//! program is let go or ended before the process is: the engine's loop returns only after that.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;

use engine::{Input, Output};

use crate::outbox::Outbox;
use crate::wire::{self, FromHost, ToHost};

/// Runs a host on the socket that is this process's standard input, and ends the process when the session is over.
pub fn serve() -> io::Result<Infallible> {
    let stdin = io::stdin();
    let kind = rustix::fs::fstat(&stdin).map(|it| rustix::fs::FileType::from_raw_mode(it.st_mode));
    if kind != Ok(rustix::fs::FileType::Socket) {
        return Err(io::Error::other(
            "`ndbg host` is started by ndbg itself, with a connection as its standard input; \
             to debug a program use `ndbg debug`, `ndbg mcp` or `ndbg dap`",
        ));
    }
    let socket = UnixStream::from(stdin.as_fd().try_clone_to_owned()?);
    // The debuggee must not inherit the socket by any way, and nothing else here reads standard input.
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    engine::share_one_heap();
    engine::processes::sweep_semaphores();
    let (inbox, engine_inbox) = mpsc::channel();
    // Held by the writer until the engine has nothing more to say.
    let speaking = Arc::new(());
    let engine_speaks = Arc::downgrade(&speaking);
    let engine_still_speaks = engine_speaks.clone();
    let reader_socket = socket.try_clone()?;
    let to_engine = inbox.clone();
    thread::Builder::new()
        .name("reader".into())
        .spawn(move || {
            read(reader_socket, &to_engine);
            // The engine may have ended first.
            let _ = to_engine.send(Input::FrontEndGone);
            give_up_if_stuck(&engine_speaks);
        })?;
    let (outbox, writer) = Outbox::start(socket, speaking)?;
    outbox.say(&FromHost::Hello {
        version: wire::VERSION,
    });
    let mut signals = signal_hook::iterator::Signals::new([
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGHUP,
    ])?;
    let to_engine = inbox.clone();
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                tracing::info!(signal, "ending on a signal");
                let name = match signal {
                    signal_hook::consts::SIGTERM => "SIGTERM",
                    signal_hook::consts::SIGINT => "SIGINT",
                    _ => "SIGHUP",
                };
                if to_engine.send(Input::ToldToEnd(name)).is_err() {
                    return;
                }
                give_up_if_stuck(&engine_still_speaks);
            }
        })?;

    let say = move |output| {
        let is_stop = matches!(&output, Output::Event(engine::api::Event::Stopped(_)));
        let message = match output {
            Output::Reply { id, result } => FromHost::Reply { id, result },
            Output::Event(event) => FromHost::Event(event),
        };
        outbox.say(&message);
        if is_stop {
            crate::release_startup_code();
        }
    };
    let engine = thread::Builder::new()
        .name("engine".into())
        .stack_size(STACK)
        .spawn(move || engine::run(inbox, &engine_inbox, say))?;
    if let Err(panic) = engine.join() {
        std::panic::resume_unwind(panic);
    }
    // The engine dropped its end of the outbox: the last messages are written before we go.
    let _ = writer.join();
    // What was killed together with its host and its front end has nobody else to tidy up after it.
    engine::processes::sweep_temporary(&std::env::temp_dir());
    engine::end_process(0)
}

/// The stack of the engine's thread, of which only what is used is memory: an expression is a tree of up to
/// `syntax::MAX_HEIGHT` levels, each of which may take some ten kilobytes, and the user's own limit for stacks may be any.
const STACK: usize = 64 << 20;

/// How long the engine may take to end or let go of its program after the front end is gone.
const LEAVING: Duration = Duration::from_secs(8);

/// A call into the runtime's library can hang for ever when its target dies at the wrong moment. Then nothing is left
/// to do but to end this process, and what was launched with it.
fn give_up_if_stuck(engine_speaks: &Weak<()>) {
    thread::sleep(LEAVING);
    // Nothing more to say: the engine has ended, or guards a program that was let go.
    if engine_speaks.strong_count() > 0 {
        tracing::error!("the engine does not end; the process does");
        engine::processes::end_everything_below();
        engine::end_process(70);
    }
}

fn read(socket: UnixStream, inbox: &mpsc::Sender<Input>) {
    let mut receiver = wire::Receiver::new(socket);
    // The requests that the engine still has, each with how to tell it that nobody waits.
    let mut waiting: VecDeque<(u64, Weak<AtomicBool>)> = VecDeque::new();
    loop {
        let input = match receiver.next::<ToHost>() {
            Ok(Some((
                ToHost::Hello {
                    version: wire::VERSION,
                },
                _,
            ))) => continue,
            Ok(Some((ToHost::Hello { version }, _))) => {
                tracing::error!(version, "the front end speaks another version");
                return;
            }
            Ok(Some((ToHost::Request { id, request }, files))) => {
                let given_up = Arc::new(AtomicBool::new(false));
                waiting.retain(|(_, it)| it.strong_count() > 0);
                waiting.push_back((id, Arc::downgrade(&given_up)));
                Input::Command {
                    id,
                    request,
                    files,
                    given_up,
                }
            }
            Ok(Some((ToHost::GiveUp { id }, _))) => {
                let found = waiting.iter().find(|(it, _)| *it == id);
                if let Some(given_up) = found.and_then(|(_, it)| it.upgrade()) {
                    given_up.store(true, Ordering::Relaxed);
                }
                continue;
            }
            Ok(None) => return,
            Err(error) => {
                tracing::error!(%error, "reading from the front end");
                return;
            }
        };
        if inbox.send(input).is_err() {
            return;
        }
    }
}
