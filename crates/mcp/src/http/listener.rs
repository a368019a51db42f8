//! Where the HTTP door is: a port of this machine, or a socket in the file system.
//!
//! Invariant: a socket's file is made for this user only, replaces nothing but a socket that nobody serves, and is
//! removed at the end if it is still ours.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::gate::PATH;

/// An address for the HTTP door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An address and a port; 0 lets the system choose.
    Port(SocketAddr),
    /// The path of a socket.
    Socket(PathBuf),
}

impl Address {
    /// Whether other machines can reach it.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Port(address) if !address.ip().is_loopback())
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err("unix: needs the path of a socket".into()),
                path => Ok(Self::Socket(path.into())),
            };
        }
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Self::Port(SocketAddr::from(([127, 0, 0, 1], port))));
        }
        let literal = match text.strip_prefix("localhost:") {
            Some(port) => format!("127.0.0.1:{port}"),
            None => text.to_owned(),
        };
        literal.parse().map(Self::Port).map_err(|_| {
            format!("{text} is neither an address such as 127.0.0.1:7415, a port, nor unix:PATH")
        })
    }
}

/// The open door.
#[derive(Debug)]
pub(super) enum Listener {
    Port(TcpListener),
    Socket(UnixListener, SocketFile),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> io::Result<Self> {
        let explained = |what: String| {
            move |error: io::Error| {
                io::Error::new(error.kind(), format!("cannot listen on {what}: {error}"))
            }
        };
        match address {
            Address::Port(port) => {
                let listener = TcpListener::bind(port).map_err(explained(port.to_string()))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Port(listener))
            }
            Address::Socket(path) => {
                let (listener, file) =
                    bind_socket(path).map_err(explained(path.display().to_string()))?;
                Ok(Self::Socket(listener, file))
            }
        }
    }

    /// What a client connects to.
    pub(super) fn url(&self) -> io::Result<String> {
        match self {
            Self::Port(listener) => Ok(format!("http://{}{PATH}", listener.local_addr()?)),
            Self::Socket(_, file) => Ok(format!(
                "unix:{} (http://localhost{PATH})",
                file.path.display()
            )),
        }
    }
}

fn bind_socket(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    if let Ok(found) = std::fs::symlink_metadata(path) {
        let taken = |why| Err(io::Error::new(io::ErrorKind::AddrInUse, why));
        if !found.file_type().is_socket() {
            return taken("there is a file that is not a socket");
        }
        match UnixStream::connect(path) {
            Ok(_) => return taken("another server is listening there"),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path)?;
            }
            Err(error) => return Err(error),
        }
    }
    let listener = UnixListener::bind(path)?;
    let made = std::fs::symlink_metadata(path)?;
    // From here on dropping removes it.
    let file = SocketFile {
        path: std::path::absolute(path)?,
        identity: (made.dev(), made.ino()),
    };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok((listener, file))
}

/// The file of a socket, removed when this is dropped.
#[derive(Debug)]
pub(super) struct SocketFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let is_ours = std::fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.identity);
        if is_ours && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "the socket cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| text.parse::<Address>();
        assert_eq!(read("7415"), read("127.0.0.1:7415"));
        assert_eq!(read("localhost:7415"), read("127.0.0.1:7415"));
        assert!(read("[::1]:0").is_ok_and(|address| !address.is_remote()));
        assert!(read("0.0.0.0:80").is_ok_and(|address| address.is_remote()));
        assert!(read("[::]:80").is_ok_and(|address| address.is_remote()));
        assert_eq!(read("unix:/tmp/a"), Ok(Address::Socket("/tmp/a".into())));
        for wrong in [
            "",
            "unix:",
            "example.com:80",
            "127.0.0.1",
            "99999",
            "localhost:",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sockets_are_private_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mcp.sock");
        let address = Address::Socket(path.clone());
        let bound = Listener::bind(&address).expect("bound");
        let mode = std::fs::metadata(&path)
            .expect("there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let why = Listener::bind(&address).expect_err("taken").to_string();
        assert!(why.contains("another server"), "{why}");
        drop(bound);
        assert!(!path.exists());

        // What a killed server left is replaced; a file of the user is not.
        drop(UnixListener::bind(&path).expect("bound"));
        drop(Listener::bind(&address).expect("replaced"));
        assert!(!path.exists());
        std::fs::write(&path, "mine").expect("written");
        Listener::bind(&address).expect_err("a file is there");
        assert_eq!(std::fs::read_to_string(&path).expect("still there"), "mine");
    }

    #[test]
    fn a_socket_of_somebody_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("mcp.sock");
        let bound = Listener::bind(&Address::Socket(path.clone())).expect("bound");
        std::fs::remove_file(&path).expect("removed");
        let _other = UnixListener::bind(&path).expect("bound by another");
        drop(bound);
        assert!(path.exists());
    }
}
