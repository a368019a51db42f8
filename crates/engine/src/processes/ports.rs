//! What a host that is killed while it follows the children of a program leaves: the folder and the socket of its
//! diagnostics port, and every process that would report there, whose runtimes would wait for ever.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use cordebug::diagnostics_port::{SOCKET, owner_of_port};
use cordebug::procfs;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::leftovers::{ABANDONED, is_there, nobody_listens, sweep_temporary};
use super::{DEATH, identity, kill_all};
use crate::api::ProcessId;

/// A host's process, noted while it is there by who will have to tidy up after it if it is killed.
#[derive(Debug)]
pub struct HostTraces {
    identity: Option<(ProcessId, u64)>,
    folder: PathBuf,
}

impl HostTraces {
    /// Of the host with this id, whose temporary folder is `folder`.
    pub fn of(host: ProcessId, folder: PathBuf) -> Self {
        let identity = identity(host);
        Self { identity, folder }
    }

    /// Ends every process that would report to the port of the host, which is gone.
    pub fn end_followed(&self) {
        let Some((ProcessId(host), start_time)) = self.identity else {
            return;
        };
        let deadline = Instant::now() + DEATH;
        loop {
            let mut all = procfs::all_pids().unwrap_or_default();
            all.retain(|pid| {
                owner_of_port(*pid) == Some((host, start_time)) && procfs::is_alive(*pid)
            });
            if all.is_empty() || Instant::now() > deadline {
                return;
            }
            // They may have started others meanwhile.
            kill_all(&all);
        }
    }

    /// Removes what the host left in its folder, and what runtimes that died with it did.
    pub fn remove(&self) {
        sweep_temporary(&self.folder);
    }
}

/// Removes the folder of a port if its owner is gone: only a folder of this user, made as ours are, with nothing in it but
/// a socket that nobody listens on.
pub(super) fn sweep(entry: &fs::DirEntry, (pid, start_time): (u32, u64), user: u32) {
    let Ok(data) = entry.metadata() else { return };
    let private = data.mode() & 0o777 == 0o700;
    if !data.is_dir() || data.uid() != user || !private || is_there(pid, Some(start_time)) {
        return;
    }
    let path = entry.path();
    // The number may mean a process of another container: nobody listening is the proof.
    let abandoned = match fs::symlink_metadata(path.join(SOCKET)) {
        Ok(socket) => socket.file_type().is_socket() && nobody_listens(&path.join(SOCKET)),
        Err(_) => {
            let age = data.modified().ok().and_then(|then| then.elapsed().ok());
            age.is_some_and(|age| age > ABANDONED)
        }
    };
    if !abandoned {
        return;
    }
    tracing::debug!(pid, "removing the port of a host that was killed");
    if let Err(error) = remove(&path, &data) {
        // Another host may sweep at the same moment.
        tracing::debug!(%error, folder = %path.display(), "the folder of a port stays");
    }
}

/// Removes the folder that was looked at, and no other that has come into its place.
fn remove(path: &Path, seen: &fs::Metadata) -> rustix::io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty())?;
    let found = rustix::fs::fstat(&folder)?;
    if (found.st_dev, found.st_ino) != (seen.dev(), seen.ino()) {
        return Err(rustix::io::Errno::STALE);
    }
    match rustix::fs::unlinkat(&folder, SOCKET, AtFlags::empty()) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => {}
        Err(error) => return Err(error),
    }
    // Takes empty folders only, and follows no link.
    rustix::fs::unlinkat(CWD, path, AtFlags::REMOVEDIR)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{DirBuilderExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_ports_of_ours_whose_owner_is_gone_are_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let me = std::process::id();
        let start = procfs::stat(me).expect("our own stat").start_time;
        let earlier = start.wrapping_sub(1);
        let make = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::DirBuilder::new()
                .mode(mode)
                .create(&path)
                .expect("a new folder");
            let listener = UnixListener::bind(path.join(SOCKET)).expect("a new socket");
            (path, listener)
        };
        let (gone, listener) = make(&format!("ndbg-{me}-{earlier}-0"), 0o700);
        drop(listener);
        let mut kept = Vec::new();
        // Of this process, which lives.
        kept.push(make(&format!("ndbg-{me}-{start}-0"), 0o700).0);
        // Of another container, where somebody listens.
        let (listening, _listener) = make(&format!("ndbg-{me}-{earlier}-1"), 0o700);
        kept.push(listening);
        // Not made by us.
        kept.push(make(&format!("ndbg-{me}-{earlier}-2"), 0o755).0);
        kept.push(make("ndbg-notes", 0o700).0);
        // With something of somebody's in it.
        let full = make(&format!("ndbg-{me}-{earlier}-3"), 0o700).0;
        fs::write(full.join("notes"), "").expect("a file");
        kept.push(full);
        // A link to such a folder, and a folder whose socket is a link.
        let aim = make("aim", 0o700).0;
        symlink(&aim, folder.path().join(format!("ndbg-{me}-{earlier}-4"))).expect("a link");
        let linked = make(&format!("ndbg-{me}-{earlier}-5"), 0o700).0;
        fs::remove_file(linked.join(SOCKET)).expect("its socket");
        symlink(aim.join(SOCKET), linked.join(SOCKET)).expect("a link");
        kept.extend([aim.join(SOCKET), linked.join(SOCKET)]);
        // One that is only being made.
        let begun = folder.path().join(format!("ndbg-{me}-{earlier}-6"));
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&begun)
            .expect("a new folder");
        kept.push(begun);
        sweep_temporary(folder.path());
        assert!(!gone.exists());
        for path in kept {
            assert!(path.symlink_metadata().is_ok(), "{}", path.display());
        }
    }
}
