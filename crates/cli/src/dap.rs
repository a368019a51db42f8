//! `ndbg dap`: the Debug Adapter Protocol server for editors.
//!
//! On standard input and output it serves the editor that started it. With `--listen` it serves one client after the
//! other; each connection debugs one program, and nothing of it is left when the client is gone.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use ::dap::Ending;
use host::HostProgram;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit;

/// Arguments of `ndbg dap`.
#[derive(Debug, clap::Args)]
pub(crate) struct Dap {
    /// Serves clients on a loopback port (127.0.0.1:4711) or a unix socket (a path) instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Listen>,
    /// What netcoredbg's users have in their settings; it is how ndbg dap works anyway
    #[arg(long, hide = true, value_name = "NAME")]
    interpreter: Option<String>,
}

/// Where clients come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Listen {
    Port(SocketAddr),
    Socket(PathBuf),
}

impl std::str::FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Self::Socket(text.into()));
        }
        let address = match text.parse::<u16>() {
            Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
            Err(_) => text.replace("localhost:", "127.0.0.1:").parse().map_err(|_| {
                format!("{text} is neither an address such as 127.0.0.1:4711 nor the path of a socket")
            })?,
        };
        let is_loopback = match address.ip() {
            IpAddr::V4(ip) => ip.is_loopback(),
            IpAddr::V6(ip) => ip.is_loopback(),
        };
        if !is_loopback {
            return Err(format!(
                "{text} can be reached from other machines, and whoever connects can run any program; use 127.0.0.1"
            ));
        }
        Ok(Self::Port(address))
    }
}

impl Dap {
    /// Serves until the client is gone; a listener serves until it is ended.
    pub(crate) fn run(self) -> io::Result<()> {
        engine::share_one_heap();
        let ending = Ending::default();
        let asked = take_signals(ending.clone())?;
        match self.listen {
            None => {
                let served =
                    ::dap::serve(HostProgram::default(), io::stdin(), io::stdout(), &ending);
                end(&asked);
                served.map_err(io::Error::other)
            }
            Some(Listen::Port(address)) => {
                let listener = TcpListener::bind(address)
                    .map_err(|error| about(&error, &address.to_string()))?;
                announce(&listener.local_addr()?.to_string());
                let accept = move || {
                    let (stream, _) = listener.accept()?;
                    if !is_own_user(&stream) {
                        tracing::warn!("a client of another user was turned away");
                        return Ok(None);
                    }
                    stream.set_nodelay(true)?;
                    Ok(Some(Ends::of(stream.try_clone()?, stream)))
                };
                serve_all(accept, &ending, &asked)
            }
            Some(Listen::Socket(path)) => {
                let listener =
                    bind(&path).map_err(|error| about(&error, &path.display().to_string()))?;
                // There is one listener in a process.
                let _ = SOCKET.set(path.clone());
                announce(&path.display().to_string());
                let accept = move || {
                    let (stream, _) = listener.accept()?;
                    Ok(Some(Ends::of(stream.try_clone()?, stream)))
                };
                serve_all(accept, &ending, &asked)
            }
        }
    }
}

/// How long a client waits for the one before it to leave; editors give up later.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a client is told that has waited in vain.
const BUSY: &str = "another editor debugs here, and ndbg serves one at a time on an address: end that session first, or \
    start another `ndbg dap --listen` on an address of its own";

/// The socket that clients come to, which goes with this process.
static SOCKET: OnceLock<PathBuf> = OnceLock::new();

/// Both ends of a connection.
struct Ends(Box<dyn io::Read + Send>, Box<dyn io::Write + Send>);

impl Ends {
    fn of(input: impl io::Read + Send + 'static, output: impl io::Write + Send + 'static) -> Self {
        Self(Box::new(input), Box::new(output))
    }
}

/// Whether a client is being served.
#[derive(Default)]
struct Turn {
    taken: Mutex<bool>,
    free: Condvar,
}

impl Turn {
    /// Takes the turn; whether that was possible in time.
    fn take(&self) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.free.wait_timeout_while(taken, PATIENCE, |it| *it);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut *taken, true)
    }

    fn give_back(&self) {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.free.notify_one();
    }
}

/// Serves one client after the other. Those that come meanwhile wait a little, and are told why they are not served.
fn serve_all(
    mut accept: impl FnMut() -> io::Result<Option<Ends>> + Send + 'static,
    ending: &Ending,
    asked: &AtomicI32,
) -> io::Result<()> {
    let turn = Arc::new(Turn::default());
    let (next, clients) = mpsc::channel();
    let turns = turn.clone();
    let work = move || {
        loop {
            let ends = match accept() {
                Ok(Some(ends)) => ends,
                Ok(None) => continue,
                Err(error) => {
                    let _ = next.send(Err(error));
                    return;
                }
            };
            let (turn, next) = (turns.clone(), next.clone());
            let wait = move || {
                if turn.take() {
                    let _ = next.send(Ok(ends));
                } else {
                    tracing::warn!("a client was turned away: another one is being served");
                    ::dap::turn_away(ends.0, ends.1, BUSY);
                }
            };
            if let Err(error) = thread::Builder::new().name("waiting".into()).spawn(wait) {
                tracing::error!(%error, "no thread for a client");
            }
        }
    };
    thread::Builder::new().name("door".into()).spawn(work)?;
    for client in clients {
        let Ends(input, output) = client?;
        // What is wrong with one does not concern the others.
        if let Err(error) = ::dap::serve(HostProgram::default(), input, output, ending) {
            tracing::warn!(%error, "a client was turned away");
        }
        end(asked);
        turn.give_back();
    }
    Ok(())
}

/// An error with what it is about.
fn about(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}

/// Ends in order when a signal asks for it: nothing is left of a build or a program. A second one ends at once. The
/// signal that asked, or 0.
fn take_signals(ending: Ending) -> io::Result<Arc<AtomicI32>> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let asked = Arc::new(AtomicI32::new(0));
    let asks = asked.clone();
    let work = move || {
        for signal in signals.forever() {
            let before = asks.swap(signal, Ordering::SeqCst);
            if before != 0 || !ending.end() {
                end(&asks);
            }
        }
    };
    thread::Builder::new().name("signals".into()).spawn(work)?;
    Ok(asked)
}

/// Ends this process if a signal has asked for it.
fn end(asked: &AtomicI32) {
    let signal = asked.load(Ordering::SeqCst);
    if signal != 0 {
        if let Some(socket) = SOCKET.get() {
            // Somebody else may have taken it away.
            let _ = std::fs::remove_file(socket);
        }
        std::process::exit(i32::from(exit::SIGNALLED) + signal);
    }
}

/// Makes a socket that only this user can open; one that nobody listens on any more is replaced.
fn bind(path: &Path) -> io::Result<UnixListener> {
    let left_over = std::os::unix::net::UnixStream::connect(path)
        .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if left_over {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

fn announce(address: &str) {
    tracing::info!("listening on {address}");
    // For whoever started us and waits until clients can come; port 0 is chosen by the system.
    let _ = io::Write::write_all(
        &mut io::stderr(),
        format!("listening on {address}\n").as_bytes(),
    );
}

/// Whether the other end of a loopback connection is a process of this user, by the system's table of connections.
fn is_own_user(stream: &std::net::TcpStream) -> bool {
    let (Ok(ours), Ok(theirs)) = (stream.local_addr(), stream.peer_addr()) else {
        return false;
    };
    let table = if ours.is_ipv4() {
        "/proc/net/tcp"
    } else {
        "/proc/net/tcp6"
    };
    let Ok(table) = std::fs::read_to_string(table) else {
        return false;
    };
    let uid = rustix::process::geteuid().as_raw();
    table.lines().skip(1).any(|line| {
        let mut columns = line.split_ascii_whitespace();
        let (local, remote) = (columns.nth(1), columns.next());
        let owner = columns.nth(4).and_then(|text| text.parse::<u32>().ok());
        port_of(local) == Some(theirs.port())
            && port_of(remote) == Some(ours.port())
            && owner == Some(uid)
    })
}

fn port_of(address: Option<&str>) -> Option<u16> {
    let (_, port) = address?.rsplit_once(':')?;
    u16::from_str_radix(port, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_and_paths_are_listened_on() {
        let port = |text: &str| text.parse::<Listen>();
        assert_eq!(port("4711"), port("127.0.0.1:4711"));
        assert_eq!(port("localhost:4711"), port("127.0.0.1:4711"));
        assert!(matches!(port("[::1]:4711"), Ok(Listen::Port(_))));
        assert_eq!(port("./a.sock"), Ok(Listen::Socket("./a.sock".into())));
        assert!(port("0.0.0.0:4711").is_err_and(|why| why.contains("other machines")));
        assert!(port("nonsense").is_err());
    }

    #[test]
    fn connections_of_this_user_are_known() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its address");
        let _client = std::net::TcpStream::connect(address).expect("connects");
        let (server, _) = listener.accept().expect("accepts");
        assert!(is_own_user(&server));
    }
}
