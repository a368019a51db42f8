//! Finds the runtime inside a process and the debugger library that belongs to it.
//!
//! libmscordbi and libmscordaccore lie beside the target's libcoreclr and must be of the very same build; the library
//! talks through two named pipes in the target's temporary folder, whose name holds the target's pid and start time.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::callback::{self, Delivered, Passes};
use crate::com::{Com, HRESULT, IUnknown, Interface};
use crate::error::{Error, check, clr};
use crate::hresult::CORDBG_E_TIMEOUT;
use crate::pidfd::ProcessHandle;
use crate::process::Process;
use crate::{
    bindings::{ICorDebug, ICorDebugProcess},
    procfs,
};

/// The runtime library of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// The file.
    pub coreclr: PathBuf,
    /// Where it is mapped in the process.
    pub base: u64,
    /// Its version, such as `9.0.1`, if the folder or the file tells.
    pub version: Option<String>,
}

const CORECLR: &str = "libcoreclr.so";
const DEBUGGER_LIBRARY: &str = "libmscordbi.so";
const DATA_ACCESS_LIBRARY: &str = "libmscordaccore.so";

impl Runtime {
    /// The runtime of `pid`, if it has one loaded.
    pub fn of(pid: u32) -> Result<Self, Error> {
        let mapped =
            procfs::loaded_library(pid, CORECLR).map_err(|source| unreadable(pid, source))?;
        let mapped = mapped.ok_or(Error::NotDotnet { pid })?;
        let version = version_of(&mapped.path);
        Ok(Self {
            coreclr: mapped.path,
            base: mapped.base,
            version,
        })
    }

    /// The debugger library beside it; an error if it or its companion is missing.
    pub fn debugger_library(&self) -> Result<PathBuf, Error> {
        for name in [DEBUGGER_LIBRARY, DATA_ACCESS_LIBRARY] {
            let path = self.coreclr.with_file_name(name);
            if !path.is_file() {
                return Err(Error::LibraryMissing { path });
            }
        }
        Ok(self.coreclr.with_file_name(DEBUGGER_LIBRARY))
    }
}

/// Tells "gone" from "not allowed".
pub(crate) fn unreadable(pid: u32, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::NotFound => Error::NoSuchProcess { pid },
        _ if source.raw_os_error() == Some(libc::ESRCH) => Error::NoSuchProcess { pid },
        _ => Error::NotPermitted { pid, source },
    }
}

/// A shared runtime lies in a folder named after its version; a self-contained one tells in its data.
pub fn version_of(coreclr: &Path) -> Option<String> {
    let folder = coreclr.parent()?.file_name()?.to_str()?;
    if folder.split('.').count() >= 3 && folder.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(folder.to_owned());
    }
    let bytes = std::fs::read(coreclr).ok()?;
    let mark = b"@(#)Version ";
    let at = bytes
        .windows(mark.len())
        .position(|window| window == mark)?
        + mark.len();
    let text = bytes
        .get(at..)?
        .split(|byte| !byte.is_ascii_graphic())
        .next()?;
    String::from_utf8(text.get(..text.len().min(40))?.to_vec()).ok()
}

/// The folder where the target's runtime keeps its debugger pipes. A relative one is seen from the target's folder.
pub fn temporary_folder(pid: u32) -> Result<PathBuf, Error> {
    let value =
        procfs::environment_variable(pid, "TMPDIR").map_err(|source| unreadable(pid, source))?;
    Ok(match value {
        Some(folder) if !folder.is_empty() => {
            let folder = PathBuf::from(folder);
            match std::fs::read_link(format!("/proc/{pid}/cwd")) {
                Ok(current) if folder.is_relative() => current.join(folder),
                _ => folder,
            }
        }
        _ => PathBuf::from("/tmp"),
    })
}

/// The two pipes of a target: what the debugger writes and what it reads.
pub fn debugger_pipes(pid: u32) -> Result<[PathBuf; 2], Error> {
    let folder = temporary_folder(pid)?;
    let start_time = procfs::stat(pid)
        .map_err(|source| unreadable(pid, source))?
        .start_time;
    Ok(["in", "out"].map(|end| folder.join(format!("clr-debug-pipe-{pid}-{start_time}-{end}"))))
}

/// The loaded debugger library of one runtime build. A process can hold only one, and never unloads it.
#[derive(Debug)]
pub struct DebuggerLibrary {
    handle: *mut c_void,
    path: PathBuf,
}

/// Refuses a library, or its companion, that the system's loader would wait for or die of: one that is no regular file, or
/// that is cut off. What else may be wrong the loader tells.
fn check_files(library: &Path) -> Result<(), Error> {
    for name in [DEBUGGER_LIBRARY, DATA_ACCESS_LIBRARY] {
        let path = library.with_file_name(name);
        if let Some(reason) = fault(&path) {
            return Err(Error::LibraryBroken { path, reason });
        }
    }
    Ok(())
}

/// What is wrong with a library's file, as far as can be seen without loading it; nothing of one that is not there.
pub fn fault(library: &Path) -> Option<String> {
    let data = library.metadata().ok()?;
    if data.is_file() {
        missing_end(library, data.len())
    } else {
        Some("it is no regular file".to_owned())
    }
}

/// Says how much of an ELF file is missing: its last part is the table of its sections.
fn missing_end(path: &Path, length: u64) -> Option<String> {
    let mut head = [0; 64];
    let mut file = std::fs::File::open(path).ok()?;
    file.read_exact(&mut head).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let number = |at: usize, bytes: usize| {
        let bytes = head.iter().skip(at).take(bytes).rev();
        bytes.fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let end = number(0x28, 8).saturating_add(number(0x3a, 2) * number(0x3c, 2));
    (end > length).then(|| format!("it is cut off: it has {length} of {end} bytes"))
}

/// The libraries of a runtime that a process will most likely use, mapped and linked but not begun with.
///
/// That takes some milliseconds, in which the runtime would wait. If it turns out to be another one, they have to be gone
/// before the right ones are loaded: dropping this unloads them, unless [`DebuggerLibrary::load`] has taken them.
#[derive(Debug)]
pub struct Preloaded {
    handle: *mut c_void,
    coreclr: PathBuf,
}

impl Preloaded {
    /// Loads what lies in the folder of a runtime; `None` if that cannot be.
    pub fn from(folder: &Path) -> Option<Self> {
        let path = folder.join(DEBUGGER_LIBRARY);
        check_files(&path).ok()?;
        let file = CString::new(path.as_os_str().as_bytes()).ok()?;
        // SAFETY: `file` is a valid C string; the library's initialisers only set up its own data.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let coreclr = folder.join(CORECLR);
        // Made only if there is something to drop.
        (!handle.is_null()).then(|| Self { handle, coreclr })
    }

    /// Whether they are those of a runtime.
    pub fn belongs_to(&self, runtime: &Runtime) -> bool {
        self.coreclr == runtime.coreclr
    }
}

impl Drop for Preloaded {
    fn drop(&mut self) {
        // SAFETY: the handle came from dlopen, and nobody has taken anything from it: its `DllMain` was called only if
        // the library was loaded again, and then this takes back one of two references.
        unsafe { libc::dlclose(self.handle) };
    }
}

type DllMain = unsafe extern "C" fn(*mut c_void, u32, *mut c_void) -> c_int;
type CreateCordbObject3 = unsafe extern "C" fn(
    c_int,
    u32,
    *const u16,
    *const u16,
    *mut c_void,
    *mut *mut IUnknown,
) -> HRESULT;
type CreateCordbObject =
    unsafe extern "C" fn(c_int, u32, *mut c_void, *mut *mut IUnknown) -> HRESULT;

/// `CorDebugVersion_4_0`, the interface version that every CoreCLR speaks.
const INTERFACE_VERSION: c_int = 4;

impl DebuggerLibrary {
    /// Loads the library for the target `pid`, whose temporary folder becomes ours.
    pub fn load(path: &Path, pid: u32) -> Result<Self, Error> {
        adopt_temporary_folder(&temporary_folder(pid)?);
        let broken = |reason| Error::LibraryBroken {
            path: path.to_owned(),
            reason,
        };
        check_files(path)?;
        let file = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| broken("its path holds a zero byte".into()))?;
        // SAFETY: `file` is a valid C string; the library's initialisers are what this whole crate is for.
        let handle = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(broken(last_dl_error()));
        }
        let library = Self {
            handle,
            path: path.to_owned(),
        };
        // The platform layer's loader would have called this; without it the first real call crashes or hangs.
        if let Some(main) = library.symbol(c"DllMain") {
            // SAFETY: the export has this signature in every CoreCLR; 1 is DLL_PROCESS_ATTACH.
            let main = unsafe { std::mem::transmute::<*mut c_void, DllMain>(main) };
            // SAFETY: the handle is the library's own; called once, right after loading.
            if unsafe { main(handle, 1, std::ptr::null_mut()) } == 0 {
                return Err(Error::LibraryBroken {
                    path: library.path,
                    reason: "its DllMain refused to start".into(),
                });
            }
        }
        Ok(library)
    }

    /// Loads the data access component as well, which the library would do only when it attaches: then the runtime waits.
    pub fn load_component(&self) {
        let path = self.path.with_file_name(DATA_ACCESS_LIBRARY);
        if let Ok(file) = CString::new(path.as_os_str().as_bytes()) {
            // What is wrong with it is found, and told, by the library, which gets the same one.
            // SAFETY: as for the library itself, which loads the component in the same way.
            unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
        }
    }

    fn symbol(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle came from dlopen and is never closed; the name is a valid C string.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        (!symbol.is_null()).then_some(symbol)
    }

    /// Makes the library's root object for the runtime in `pid`, which may still be starting.
    pub fn debugger(&self, pid: u32, runtime: &Runtime) -> Result<Debugger, Error> {
        let base = runtime.base as *mut c_void;
        let mut unknown = std::ptr::null_mut();
        let code = if let Some(create) = self.symbol(c"CoreCLRCreateCordbObject3") {
            // SAFETY: the export has this signature since .NET 5.
            let create = unsafe { std::mem::transmute::<*mut c_void, CreateCordbObject3>(create) };
            // SAFETY: null strings mean "no container, the library's own folder"; `unknown` is a live local.
            unsafe {
                create(
                    INTERFACE_VERSION,
                    pid,
                    std::ptr::null(),
                    std::ptr::null(),
                    base,
                    &mut unknown,
                )
            }
        } else if let Some(create) = self.symbol(c"CoreCLRCreateCordbObject") {
            // SAFETY: the export has this signature in .NET Core 3.1.
            let create = unsafe { std::mem::transmute::<*mut c_void, CreateCordbObject>(create) };
            // SAFETY: `unknown` is a live local.
            unsafe { create(INTERFACE_VERSION, pid, base, &mut unknown) }
        } else {
            let reason = "it does not export CoreCLRCreateCordbObject".to_owned();
            return Err(Error::LibraryBroken {
                path: self.path.clone(),
                reason,
            });
        };
        check("CoreCLRCreateCordbObject", code)?;
        // SAFETY: the call succeeded and handed over one reference.
        let unknown = unsafe { Com::from_raw(unknown) };
        let cordebug: Com<ICorDebug> =
            unknown
                .and_then(|unknown| unknown.cast())
                .ok_or_else(|| Error::LibraryBroken {
                    path: self.path.clone(),
                    reason: "its object has no ICorDebug".into(),
                })?;
        clr!(cordebug, ICorDebug::Initialize())?;
        Ok(Debugger(cordebug))
    }
}

/// The library's root object.
///
/// It is never shut down (`ICorDebug::Terminate`): a host debugs one program, and the library crashes when it is shut
/// down while its own threads are still busy with the program's end.
#[derive(Debug)]
pub struct Debugger(Com<ICorDebug>);

impl Debugger {
    /// Attaches to `pid`, unless the process behind `program`, which is the same, ends first. From the first event on
    /// `sink` is called, on the library's thread, and `passes` for each module that is loaded.
    pub fn attach(
        &self,
        pid: u32,
        program: &ProcessHandle,
        sink: impl Fn(Delivered) + Send + Sync + 'static,
        passes: Option<Passes>,
    ) -> Result<Process, Error> {
        let handler = callback::handler(sink, passes);
        clr!(self.0, ICorDebug::SetManagedHandler(handler.as_raw()))?;
        let process = attach_elsewhere(&self.0, pid, program)?;
        Ok(Process::new(process))
    }
}

/// How often the end of a process is looked for while we attach to it.
const LOOK: Duration = Duration::from_millis(10);
/// The library gives up by itself after 10 s; this is for the case that it does not.
const ATTACHING: Duration = Duration::from_secs(30);

/// Attaches on a thread of its own: the library does not notice that the process ends meanwhile, and waits for its
/// answer for ten seconds. That thread is then left to itself.
fn attach_elsewhere(
    cordebug: &Com<ICorDebug>,
    pid: u32,
    program: &ProcessHandle,
) -> Result<Com<ICorDebugProcess>, Error> {
    crate::crash::outlive(program.as_fd());
    let (sender, attached) = mpsc::channel();
    let cordebug = Carried(cordebug.clone());
    let attach = move || {
        let cordebug = cordebug.receive();
        let process = crate::error::clr_out!(cordebug, ICorDebug::DebugActiveProcess(pid, 0));
        if let Err(late) = sender.send(process.map(Carried)) {
            // Nobody waits any more. What the library has of a dead process is better not touched again.
            std::mem::forget(late);
        }
    };
    thread::Builder::new()
        .name("attach".into())
        .spawn(attach)
        .map_err(|source| Error::System {
            what: "no thread to attach with",
            source,
        })?;
    let deadline = Instant::now() + ATTACHING;
    loop {
        match attached.recv_timeout(LOOK) {
            Ok(process) => return process.map(Carried::receive),
            Err(_) if program.ends_within(Duration::ZERO) => {
                return Err(Error::NoSuchProcess { pid });
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
            Err(_) => {
                return Err(Error::Clr {
                    call: "ICorDebug::DebugActiveProcess",
                    code: CORDBG_E_TIMEOUT,
                });
            }
        }
    }
}

/// Carries an object of the library from one thread to another.
struct Carried<I: Interface>(Com<I>);

// SAFETY: as for `callback::Delivered`: these objects count references atomically, take locks of their own and have no
// thread affinity.
unsafe impl<I: Interface> Send for Carried<I> {}

impl<I: Interface> Carried<I> {
    fn receive(self) -> Com<I> {
        self.0
    }
}

/// Has all threads of this process allocate from one pool: a pool per thread costs memory, and ours rarely allocate at
/// the same time.
pub fn share_one_heap() {
    // SAFETY: mallopt only sets a limit; both arguments are plain numbers.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
}

/// Ends this process without the libraries' exit handlers: their threads still run, and crash when they meet what the
/// handlers have destroyed.
pub fn end_process(code: i32) -> ! {
    // SAFETY: _exit has no precondition; what we write is written unbuffered.
    unsafe { libc::_exit(code) }
}

/// The library looks for the target's pipes in our `TMPDIR`, which must therefore be the target's.
fn adopt_temporary_folder(folder: &Path) {
    // SAFETY: no other thread of this process reads or writes the environment while a library is being loaded: the
    // threads we have by then only read sockets and pipes.
    unsafe { std::env::set_var("TMPDIR", folder) };
}

fn last_dl_error() -> String {
    // SAFETY: dlerror returns null or a C string that is valid until the next dl call on this thread.
    let text: *const c_char = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason given".into();
    }
    // SAFETY: not null, see above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_folders_name() {
        assert_eq!(
            version_of(Path::new(
                "/d/shared/Microsoft.NETCore.App/9.0.1/libcoreclr.so"
            ))
            .as_deref(),
            Some("9.0.1")
        );
        assert_eq!(
            version_of(Path::new("/d/10.0.0-rc.1.25451.107/libcoreclr.so")).as_deref(),
            Some("10.0.0-rc.1.25451.107")
        );
        assert_eq!(version_of(Path::new("/app/libcoreclr.so")), None);
    }

    #[test]
    fn this_process_is_not_a_net_program() {
        assert!(matches!(
            Runtime::of(std::process::id()),
            Err(Error::NotDotnet { .. })
        ));
        assert!(matches!(
            Runtime::of(u32::MAX - 1),
            Err(Error::NoSuchProcess { .. })
        ));
    }
}
