//! `ndbg dap`: the Debug Adapter Protocol server for editors.
//!
//! On standard input and output it serves the editor that started it. With `--listen` it serves one client after the
//! other; each connection debugs one program, and nothing of it is left when the client is gone.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use host::HostProgram;

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
        match self.listen {
            None => {
                ::dap::serve(HostProgram::default(), io::stdin(), io::stdout());
                Ok(())
            }
            Some(Listen::Port(address)) => {
                let listener = TcpListener::bind(address)?;
                announce(&listener.local_addr()?.to_string());
                for stream in listener.incoming() {
                    let stream = stream?;
                    if !is_own_user(&stream) {
                        tracing::warn!("a client of another user was turned away");
                        continue;
                    }
                    stream.set_nodelay(true)?;
                    ::dap::serve(HostProgram::default(), stream.try_clone()?, stream);
                }
                Ok(())
            }
            Some(Listen::Socket(path)) => {
                let listener = bind(&path)?;
                announce(&path.display().to_string());
                for stream in listener.incoming() {
                    let stream = stream?;
                    ::dap::serve(HostProgram::default(), stream.try_clone()?, stream);
                }
                Ok(())
            }
        }
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
