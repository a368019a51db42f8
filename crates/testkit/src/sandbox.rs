//! The surroundings of one live test, and the check that the test leaves nothing behind.
//!
//! Every process that is started through a sandbox carries its mark in the environment, and has a temporary folder of
//! its own, so tests that run at the same time cannot blame each other.
//!
//! Invariant: when a sandbox is dropped, no process with its mark lives, its temporary folder is empty, and no
//! semaphore, pipe or socket of a process it knew is left. Otherwise the test fails and says what was left.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use host::HostProgram;
use host::api::{Attach, Error, ErrorCode, ProcessId};
use tempfile::TempDir;

use crate::bare::BareBuilder;
use crate::debuggee::{Debuggee, LaunchBuilder};
use crate::fixtures::{self, Fixture};
use crate::procfs::{self, Identity};

/// Carried by every process of a test.
const TEST_MARK: &str = "NDBG_TEST_MARK";
/// Carried by every process of one session.
const SESSION_MARK: &str = "NDBG_TEST_SESSION";

/// The surroundings of one test. Make it first, so that it is dropped last.
#[derive(Debug)]
pub struct Sandbox {
    mark: String,
    folder: TempDir,
    own_tmp: bool,
    sessions: AtomicU32,
    known: Mutex<BTreeSet<Identity>>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// A sandbox whose programs use a temporary folder of their own.
    pub fn new() -> Self {
        Self::build(true)
    }

    /// A sandbox whose programs use `/tmp`, as most programs do.
    pub fn with_default_tmp() -> Self {
        Self::build(false)
    }

    fn build(own_tmp: bool) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = tempfile::Builder::new()
            .prefix("ndbg-test-")
            .tempdir_in("/tmp")
            .expect("a test can make a folder in /tmp");
        std::fs::create_dir(folder.path().join("tmp")).expect("a new folder takes another");
        Self {
            mark: format!("{}-{count}", std::process::id()),
            folder,
            own_tmp,
            sessions: AtomicU32::new(0),
            known: Mutex::default(),
        }
    }

    /// A folder for the test's own files; it may be left full.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The temporary folder of the sandbox's programs.
    pub fn tmp(&self) -> PathBuf {
        if self.own_tmp {
            self.folder().join("tmp")
        } else {
            "/tmp".into()
        }
    }

    /// The variables that make a process part of this sandbox.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let mark = (TEST_MARK.into(), self.mark.clone().into());
        vec![mark, ("TMPDIR".into(), self.tmp().into())]
    }

    /// The host under test, and the mark by which its session's processes are found.
    pub(crate) fn host_program(&self) -> (HostProgram, String) {
        let session = self.sessions.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{session}", self.mark);
        let mut env = self.environment();
        env.push((SESSION_MARK.into(), mark.clone().into()));
        let host = HostProgram {
            path: fixtures::ndbg(),
            args: vec!["host".into()],
            env,
        };
        (host, format!("{SESSION_MARK}={mark}"))
    }

    /// Prepares a launch of a fixture's dll.
    #[track_caller]
    pub fn launch(&self, fixture: &str) -> LaunchBuilder<'_> {
        self.launch_fixture(&Fixture::named(fixture))
    }

    /// Prepares a launch of a fixture's dll.
    pub fn launch_fixture(&self, fixture: &Fixture) -> LaunchBuilder<'_> {
        LaunchBuilder::new(self, fixture)
    }

    /// Prepares a run of a fixture without a debugger.
    #[track_caller]
    pub fn bare(&self, fixture: &str) -> BareBuilder<'_> {
        self.bare_fixture(&Fixture::named(fixture))
    }

    /// Prepares a run of a fixture without a debugger.
    pub fn bare_fixture(&self, fixture: &Fixture) -> BareBuilder<'_> {
        BareBuilder::new(self, fixture)
    }

    /// Makes a command part of this sandbox.
    pub fn adopt(&self, command: &mut Command) {
        command.envs(self.environment());
    }

    /// Attaches to a process.
    #[track_caller]
    pub fn attach(&self, pid: u32) -> Debuggee<'_> {
        match self.try_attach(pid) {
            Ok(debuggee) => debuggee,
            Err(error) => panic!("attaching to {pid} failed: {error:?}"),
        }
    }

    /// Attaches to a process that may refuse.
    pub fn try_attach(&self, pid: u32) -> Result<Debuggee<'_>, Error> {
        self.note(pid);
        let debuggee = Debuggee::start(self)?;
        let attach = host::api::Request::Attach(Attach::to(ProcessId(pid)));
        debuggee.request(attach)?;
        Ok(debuggee)
    }

    /// The code of the error with which attaching fails.
    #[track_caller]
    pub fn attach_refused(&self, pid: u32) -> (ErrorCode, Error) {
        match self.try_attach(pid) {
            Ok(debuggee) => panic!("attached to {pid}: {:?}", debuggee.status()),
            Err(error) => (error.code, error),
        }
    }

    /// Remembers a living process whose leftovers are looked for at the end.
    pub fn note(&self, pid: u32) {
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(Identity::of(pid));
    }

    /// The sandbox's living processes.
    pub fn processes(&self) -> Vec<procfs::Process> {
        let found = procfs::marked(&format!("{TEST_MARK}={}", self.mark));
        for process in &found {
            self.note(process.pid);
        }
        found
    }

    /// What is left of the test at this moment, for people.
    pub fn left_behind(&self) -> Vec<String> {
        let processes = self.processes().into_iter();
        let mut left: Vec<_> = processes.map(|it| format!("{it:?}")).collect();
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut files: Vec<_> = known
            .iter()
            .flat_map(|process| process.leftovers(Path::new("/tmp")))
            .collect();
        let own = self.folder().join("tmp");
        let entries = std::fs::read_dir(own).into_iter().flatten().flatten();
        files.extend(entries.map(|entry| entry.path()));
        left.extend(files.iter().map(|file| file.display().to_string()));
        left
    }

    /// Waits until nothing is left of the test; for checks in the middle of one.
    #[track_caller]
    pub fn assert_clean(&self) {
        if let Err(left) = self.wait_clean() {
            panic!("left behind:\n{left}");
        }
    }

    fn wait_clean(&self) -> Result<(), String> {
        crate::eventually(|| match self.left_behind() {
            left if left.is_empty() => Ok(()),
            left => Err(left.join("\n")),
        })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let failed_already = std::thread::panicking();
        let clean = if failed_already {
            Ok(())
        } else {
            self.wait_clean()
        };
        // Whatever happened, nothing of this test may disturb the next.
        for process in self.processes() {
            procfs::signal(process.pid, rustix::process::Signal::KILL);
        }
        if let Err(left) = clean {
            panic!("left behind:\n{left}");
        }
    }
}
