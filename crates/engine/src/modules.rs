//! The modules of the program, with their metadata and symbols.
//!
//! Nothing is read when a module loads; metadata and symbols are opened when first needed and then kept. A module that
//! cannot be read says why, and costs only what depends on it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cordebug::bindings::ICorDebugBreakpoint;
use cordebug::com::Com;
use cordebug::file::MappedFile;
use cordebug::hresult::CORDBG_E_UNABLE_TO_SET_BREAKPOINT;
use cordebug::module::{Breakpoint, Module};
use cordebug::process::Process;
use metadata::pe::ImageKind;
use metadata::{Bytes, IlOffset, Metadata, PdbLocation, Symbols, Token};

use crate::api::Event;
use crate::breakpoints::{CodeLocation, TypeNames};
use crate::engine::Engine;
use crate::source_files::SourceFiles;
use crate::stack::resuming;
use crate::stepping::awaiters::PROMISE;
use crate::stepping::il;

/// An image in memory larger than this is not copied.
const MAX_IMAGE: u32 = 256 << 20;
/// Places that a method may begin at, at most.
const MAX_ENTRIES: usize = 32;

/// The loaded modules.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    loaded: Vec<LoadedModule>,
    source_files: SourceFiles,
}

/// Where the symbols of a module were found.
#[derive(Debug)]
pub(crate) enum SymbolsOrigin {
    /// In the module itself, or in a file.
    Found(PdbLocation),
    /// The program gave them together with the module.
    Given,
}

/// One module.
#[derive(Debug)]
pub(crate) struct LoadedModule {
    pub(crate) module: Module,
    /// Its path, or a bare name if it is not a file.
    pub(crate) path: PathBuf,
    metadata: OnceCell<Result<metadata::Module, String>>,
    is_emitted: OnceCell<bool>,
    /// What was emitted into it, when that was asked for last.
    emitted: OnceCell<Result<metadata::Module, String>>,
    symbols: OnceCell<Result<(Symbols, SymbolsOrigin), String>>,
    type_names: OnceCell<TypeNames>,
    /// For methods that were named: the local functions that they are written in.
    local_functions: RefCell<HashMap<Token, Rc<[Token]>>>,
    source_files: SourceFiles,
    optimized: OnceCell<bool>,
    as_shipped: OnceCell<bool>,
}

impl Modules {
    pub(crate) fn new(source_files: SourceFiles) -> Self {
        Self {
            loaded: Vec::new(),
            source_files,
        }
    }

    /// The entry for a module, made if this is the first we hear of it.
    pub(crate) fn entry(&mut self, module: &Module) -> &LoadedModule {
        let known = self
            .loaded
            .iter()
            .position(|it| it.module.identity() == module.identity());
        let index = known.unwrap_or_else(|| {
            let files = self.source_files.clone();
            self.loaded.push(LoadedModule::new(module.clone(), files));
            self.loaded.len() - 1
        });
        // The index was just found or made.
        self.loaded
            .get(index)
            .unwrap_or_else(|| unreachable!("module {index} is in the list"))
    }

    /// Takes a module in whose path is known.
    pub(crate) fn add(&mut self, module: Module, path: &str) {
        if self.get(module.identity()).is_none() {
            let files = self.source_files.clone();
            self.loaded
                .push(LoadedModule::at(path.into(), module, files));
        }
    }

    /// Gives a module the symbols that came after it; whether it needed them.
    fn set_symbols(&mut self, identity: usize, symbols: Symbols) -> bool {
        let Some(module) = self.loaded.iter_mut().find(|it| it.identity() == identity) else {
            return false;
        };
        if module.symbols.get().is_some_and(Result::is_ok) {
            return false;
        }
        module.symbols = OnceCell::from(Ok((symbols, SymbolsOrigin::Given)));
        module.local_functions.take();
        true
    }

    /// The entry with that identity.
    pub(crate) fn get(&self, identity: usize) -> Option<&LoadedModule> {
        self.loaded.iter().find(|it| it.identity() == identity)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &LoadedModule> {
        self.loaded.iter()
    }

    /// Sets a breakpoint in the code of a loaded module.
    pub(crate) fn set_breakpoint(&self, at: CodeLocation) -> Result<Breakpoint, String> {
        let module = self.get(at.module).ok_or("its module is gone")?;
        let function = module.module.function(at.method.0);
        function
            .and_then(|it| it.break_at(at.offset.0))
            .map_err(|error| match error.code() {
                Some(CORDBG_E_UNABLE_TO_SET_BREAKPOINT) => {
                    "the optimiser has left no code of its own here: set it on a statement before or behind it".into()
                }
                _ => error.to_string(),
            })
    }

    pub(crate) fn unloaded(&mut self, module: &Module) {
        self.loaded
            .retain(|it| it.module.identity() != module.identity());
    }
}

impl LoadedModule {
    fn new(module: Module, source_files: SourceFiles) -> Self {
        let path = module.name().unwrap_or_default().into();
        Self::at(path, module, source_files)
    }

    fn at(path: PathBuf, module: Module, source_files: SourceFiles) -> Self {
        Self {
            module,
            path,
            metadata: OnceCell::new(),
            is_emitted: OnceCell::new(),
            emitted: OnceCell::new(),
            symbols: OnceCell::new(),
            type_names: OnceCell::new(),
            local_functions: RefCell::default(),
            source_files,
            optimized: OnceCell::new(),
            as_shipped: OnceCell::new(),
        }
    }

    /// Equal for the same module, and for no other while it is loaded.
    pub(crate) fn identity(&self) -> usize {
        self.module.identity()
    }

    /// A method as a person writes it.
    pub(crate) fn method_name(&self, process: &Process, method: Token) -> String {
        let Ok(metadata) = self.metadata(process) else {
            return format!("0x{:08x}", method.0);
        };
        let declared = crate::names::declared(self, process, method);
        let around = self.local_functions_around(process, method);
        crate::names::method(metadata.metadata(), method, (declared, &around), &[])
    }

    /// The local functions that a local function or lambda is written in, the outermost first.
    pub(crate) fn local_functions_around(&self, process: &Process, method: Token) -> Rc<[Token]> {
        if let Some(known) = self.local_functions.borrow().get(&method) {
            return known.clone();
        }
        let (Ok(metadata), Ok(symbols)) = (self.metadata(process), self.symbols(process)) else {
            return Rc::default();
        };
        let around = symbols.local_functions_around(metadata.metadata(), method);
        let around: Rc<[Token]> = around.into();
        let mut known = self.local_functions.borrow_mut();
        known.insert(method, around.clone());
        around
    }

    /// Whether the runtime compiles its code without regard for debuggers; decided when it was loaded. `None` if nobody has asked
    /// before and the program runs: the runtime answers only while it is stopped.
    pub(crate) fn is_optimized(&self) -> Option<bool> {
        if self.optimized.get().is_none()
            && let Ok(optimized) = self.module.is_optimized()
        {
            return Some(*self.optimized.get_or_init(|| optimized));
        }
        self.optimized.get().copied()
    }

    /// Its file name.
    pub(crate) fn file_name(&self) -> String {
        file_name(&self.path)
    }

    /// Whether it is one of the shared frameworks' that came with the runtime.
    pub(crate) fn is_framework(&self) -> bool {
        is_framework(&self.path)
    }

    /// Whether it is a part of the framework as that ships, without symbols beside it. Programs load hundreds of these:
    /// that they are nobody's code is told without opening them.
    pub(crate) fn is_framework_as_shipped(&self) -> bool {
        *self
            .as_shipped
            .get_or_init(|| is_framework_as_shipped(&self.path))
    }

    /// Whether it may be the user's: it has symbols, and is no part of the framework as that ships.
    pub(crate) fn is_users(&self, process: &Process) -> bool {
        !self.is_framework_as_shipped() && self.symbols(process).is_ok()
    }

    /// Whether it is a part of somebody's test framework as that ships: some have symbols, and are not the user's code for
    /// that. One that was compiled for debugging is being worked on, and is.
    pub(crate) fn is_test_framework(&self) -> bool {
        is_test_framework(&self.file_name()) && self.is_optimized() == Some(true)
    }

    /// What is known of source files.
    pub(crate) fn source_files(&self) -> &SourceFiles {
        &self.source_files
    }

    /// The path of a document as it is shown.
    pub(crate) fn source_path(&self, recorded: &str) -> PathBuf {
        self.source_files.here(recorded)
    }

    /// Its metadata, or why it cannot be read.
    pub(crate) fn metadata(&self, process: &Process) -> Result<&metadata::Module, &str> {
        self.metadata
            .get_or_init(|| self.open_metadata(process))
            .as_ref()
            .map_err(String::as_str)
    }

    /// The names of its types; `metadata` is its own.
    pub(crate) fn type_names(&self, metadata: Metadata<'_>) -> &TypeNames {
        self.type_names.get_or_init(|| TypeNames::of(metadata))
    }

    /// Whether it is emitted while the program runs.
    pub(crate) fn is_emitted(&self) -> bool {
        *self
            .is_emitted
            .get_or_init(|| self.module.is_dynamic().unwrap_or(false))
    }

    /// More was emitted into it: what was read of it before is not all.
    fn grew(&mut self) {
        self.emitted.take();
    }

    /// Its metadata, also if it is emitted while the program runs: as far as it has come.
    pub(crate) fn described(&self, process: &Process) -> Result<&metadata::Module, &str> {
        if !self.is_emitted() {
            return self.metadata(process);
        }
        let open = || {
            let emitted = self.module.emitted().and_then(|it| it.metadata());
            let emitted = emitted.map_err(|error| error.to_string())?;
            metadata::Module::open_bare(&emitted).map_err(|error| error.to_string())
        };
        let opened = self.emitted.get_or_init(open);
        opened.as_ref().map_err(String::as_str)
    }

    fn open_metadata(&self, process: &Process) -> Result<metadata::Module, String> {
        if self.is_emitted() {
            return Err("its code is emitted while the program runs".into());
        }
        let in_memory = self.module.is_in_memory().unwrap_or(false);
        if !in_memory && self.path.is_absolute() {
            let file = MappedFile::open(&self.path)
                .map_err(|error| format!("{}: {error}", self.path.display()))?;
            return metadata::Module::open(Bytes::new(file)).map_err(|error| error.to_string());
        }
        let (address, size) = match (self.module.base_address(), self.module.size()) {
            (Ok(address), Ok(size)) if address != 0 && size <= MAX_IMAGE => (address, size),
            _ => return Err("its image in memory cannot be found".into()),
        };
        let mut bytes = vec![0; size as usize];
        let read = process
            .read_memory(address, &mut bytes)
            .map_err(|error| error.to_string())?;
        bytes.truncate(read);
        // A module that was loaded from bytes lies as in its file; one that the loader mapped lies by addresses.
        let bytes = Bytes::from(bytes);
        metadata::Module::open_as(bytes.clone(), ImageKind::File)
            .or_else(|_| metadata::Module::open_as(bytes, ImageKind::Loaded))
            .map_err(|error| error.to_string())
    }

    /// Its symbols, or why there are none.
    pub(crate) fn symbols(&self, process: &Process) -> Result<&Symbols, &str> {
        self.found_symbols(process).map(|(symbols, _)| symbols)
    }

    /// Where its symbols are, or why there are none.
    pub(crate) fn symbols_origin(&self, process: &Process) -> Result<&SymbolsOrigin, &str> {
        self.found_symbols(process).map(|(_, origin)| origin)
    }

    fn found_symbols(&self, process: &Process) -> Result<&(Symbols, SymbolsOrigin), &str> {
        self.symbols
            .get_or_init(|| self.open_symbols(process))
            .as_ref()
            .map_err(String::as_str)
    }

    fn open_symbols(&self, process: &Process) -> Result<(Symbols, SymbolsOrigin), String> {
        let module = self.metadata(process)?;
        let path = self.path.is_absolute().then_some(self.path.as_path());
        let read = |path: &Path| MappedFile::open(path).ok().map(Bytes::new);
        let search = module
            .find_symbols(path, read)
            .map_err(|error| error.to_string())?;
        let mut tried = search.tried;
        if let Some(symbols) = search.symbols
            && let Some((location, _)) = tried.pop()
        {
            return Ok((symbols, SymbolsOrigin::Found(location)));
        }
        Err(match tried.as_slice() {
            [] => "it was compiled without debug information".into(),
            tried => {
                let tried = tried
                    .iter()
                    .map(|(location, verdict)| format!("{location}: {verdict}"));
                tried.collect::<Vec<_>>().join("; ")
            }
        })
    }

    /// Whether the runtime itself suspends a method: breakpoints and steps in it would end the program.
    pub(crate) fn is_runtime_async(&self, process: &Process, method: Token) -> bool {
        self.metadata(process).is_ok_and(|metadata| {
            let method = metadata.metadata().method(method);
            method.is_ok_and(|method| method.impl_flags().is_runtime_async())
        })
    }

    /// The first place with source text in a method: offset, path, line, column.
    pub(crate) fn first_point(
        &self,
        process: &Process,
        method: Token,
    ) -> Option<(IlOffset, PathBuf, u32, u32)> {
        let symbols = self.symbols(process).ok()?;
        let pdb = symbols.pdb();
        let mut points = symbols.sequence_points(method).ok()?;
        let point = points.find(|point| point.span.is_some())?;
        let span = point.span?;
        let path = pdb.document(point.document).ok()?.path().ok()?;
        Some((
            point.offset,
            self.source_path(&path),
            span.start_line,
            span.start_column,
        ))
    }

    /// Sets breakpoints at places of a method.
    fn break_at_each(
        &self,
        method: Token,
        offsets: &[IlOffset],
    ) -> Result<Vec<Breakpoint>, cordebug::Error> {
        let function = self.module.function(method.0)?;
        offsets.iter().map(|it| function.break_at(it.0)).collect()
    }

    /// The places with source text that a call of a method may come to first, one of them in each call, and none of them again
    /// later. Where there are no such places it is the beginning of the code, and the text that is nearest to it.
    pub(crate) fn entries(
        &self,
        process: &Process,
        method: Token,
    ) -> Vec<(IlOffset, PathBuf, u32, u32)> {
        let first = self.first_point(process, method);
        self.entered(process, method)
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| first.into_iter().collect())
    }

    /// The same of a method of an optimised build that does not begin with text, if that can be told.
    pub(crate) fn entered(
        &self,
        process: &Process,
        method: Token,
    ) -> Option<Vec<(IlOffset, PathBuf, u32, u32)>> {
        let opened = self.metadata(process).ok()?;
        let symbols = self.symbols(process).ok()?;
        let pdb = symbols.pdb();
        // A Debug build has a place at the beginning.
        if opened.metadata().is_optimized() != Some(true) {
            return None;
        }
        let points: Vec<_> = symbols.sequence_points(method).ok()?.collect();
        let visible = points.iter().filter(|it| it.span.is_some());
        let offsets: BTreeSet<IlOffset> = visible.map(|it| it.offset).collect();
        if offsets.first() == Some(&IlOffset(0)) {
            return None;
        }
        let body = opened.body(method).ok()??;
        // A state machine begins where its state says.
        let begins = match pdb.kickoff_method(method).ok()?.is_some() {
            true => {
                let state = self.first_state(process, method)?;
                resuming::begins_at(opened.metadata(), body.code, state, &offsets)?
            }
            false => (IlOffset(0), None),
        };
        let entries = il::entries(body.code, begins, &offsets)?;
        let described = |offset: IlOffset| {
            let point = points.iter().find(|it| it.offset == offset)?;
            let span = point.span?;
            let path = pdb.document(point.document).ok()?.path().ok()?;
            let path = self.source_path(&path);
            Some((offset, path, span.start_line, span.start_column))
        };
        let mut all: Vec<_> = entries.first.into_iter().filter_map(described).collect();
        if entries.again || all.len() > MAX_ENTRIES {
            let beginning = match begins {
                (IlOffset(0), None) => IlOffset(0),
                // Code that is optimised once more may have no place there.
                _ if self.is_optimized() == Some(true) => return None,
                (_, before) => before?,
            };
            all.sort_by_key(|(_, _, line, column)| (*line, *column));
            all.truncate(1);
            for it in &mut all {
                it.0 = beginning;
            }
        }
        Some(all)
    }

    /// The state in which the compiler lets the state machine begin whose body a method is.
    fn first_state(&self, process: &Process, method: Token) -> Option<i32> {
        const ASYNC: i32 = -1;
        const ITERATOR: i32 = 0;
        const ASYNC_ITERATOR: i32 = -3;
        let metadata = self.metadata(process).ok()?.metadata();
        let pdb = self.symbols(process).ok()?.pdb();
        if pdb.async_stepping(method).ok()?.is_none() {
            return Some(ITERATOR);
        }
        let class = metadata.method(method).ok()?.declaring_type().ok()?;
        let fields = metadata.type_def(class).ok()?.fields().flatten();
        let mut names = fields.filter_map(|it| it.name().ok());
        Some(match names.any(|it| it == PROMISE) {
            true => ASYNC_ITERATOR,
            false => ASYNC,
        })
    }

    /// Where the user's `Main` begins, if this module has one: method and IL offsets, one of which each call comes to first.
    fn entry_point(&self, process: &Process) -> Option<(Token, Vec<IlOffset>)> {
        let user = self.metadata(process).ok()?.user_entry_point().ok()??;
        // The text of an async method is compiled into its state machine.
        let pdb = self.symbols(process).ok().map(Symbols::pdb);
        let body = pdb
            .and_then(|pdb| pdb.move_next_method(user).ok().flatten())
            .unwrap_or(user);
        let entries = self.entries(process, body).into_iter();
        let mut offsets: Vec<_> = entries.map(|(offset, ..)| offset).collect();
        if offsets.is_empty() {
            offsets.push(IlOffset(0));
        }
        Some((body, offsets))
    }
}

/// The name of a module's file.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn is_framework(path: &Path) -> bool {
    let mut parts = path
        .components()
        .map(|it| it.as_os_str().as_encoded_bytes());
    parts.any(|it| it == b"shared") && parts.next().is_some_and(|it| it.starts_with(b"Microsoft."))
}

/// See [`LoadedModule::is_framework_as_shipped`].
pub(crate) fn is_framework_as_shipped(path: &Path) -> bool {
    is_framework(path) && !path.with_extension("pdb").exists()
}

/// The wait for the first line of `Main`.
#[derive(Debug)]
pub(crate) struct Entry {
    wanted: bool,
    /// One of them is reached.
    breakpoints: Vec<Breakpoint>,
}

impl Entry {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            breakpoints: Vec::new(),
        }
    }

    /// Whether a callback's breakpoint is the one at the entry, which is then removed.
    pub(crate) fn reached(&mut self, breakpoint: &Com<ICorDebugBreakpoint>) -> bool {
        let reached = self.breakpoints.iter().any(|it| it.is(breakpoint));
        if reached {
            self.forget();
        }
        reached
    }

    /// Waits for the first line of `Main`, of a module that may be loaded later.
    pub(crate) fn want(&mut self, modules: &Modules, process: &Process) {
        if !self.breakpoints.is_empty() {
            return;
        }
        self.wanted = true;
        let mut loaded = modules.iter();
        let set = loaded.find_map(|module| {
            let (method, offsets) = module.entry_point(process)?;
            if module.is_runtime_async(process, method) {
                return None;
            }
            module.break_at_each(method, &offsets).ok()
        });
        self.breakpoints = set.unwrap_or_default();
    }

    /// Removes the breakpoint.
    pub(crate) fn forget(&mut self) {
        self.wanted = false;
        for breakpoint in self.breakpoints.drain(..) {
            if let Err(error) = breakpoint.deactivate() {
                tracing::debug!(%error, "removing the entry breakpoint");
            }
        }
    }
}

/// How the files of test frameworks and their runners are called.
fn is_test_framework(file: &str) -> bool {
    const NAMES: [&str; 9] = [
        "xunit.",
        "nunit.",
        "nunit3.testadapter.",
        "mstest",
        "microsoft.testing.",
        "microsoft.testplatform.",
        "microsoft.visualstudio.test",
        "testhost.",
        "testcentric.",
    ];
    let file = file.to_ascii_lowercase();
    NAMES.iter().any(|name| file.starts_with(name))
}

/// Whether a method of a module is a part of what runs tests, and not of what tests call to check something.
pub(crate) fn runs_tests(module: &str, method: &str) -> bool {
    const CHECKS: [&str; 3] = ["xunit.assert.", "xunit.v3.assert.", "mstest.testframework."];
    let file = module.to_ascii_lowercase();
    if !is_test_framework(&file) || CHECKS.iter().any(|name| file.starts_with(name)) {
        return false;
    }
    // One library for both.
    !file.starts_with("nunit.framework.")
        || [
            "NUnit.Framework.Internal.Execution.",
            "NUnit.Framework.Internal.Commands.",
        ]
        .iter()
        .any(|name| method.starts_with(name))
}

impl Engine<'_> {
    /// The runtime has loaded a type that was emitted while the program runs.
    pub(crate) fn type_emitted(&mut self, module: &Module) {
        let Some(target) = &mut self.target else {
            return;
        };
        let mut loaded = target.modules.loaded.iter_mut();
        if let Some(module) = loaded.find(|it| it.identity() == module.identity())
            && module.is_emitted()
        {
            module.grew();
            target.type_cache.module_loaded();
            target.layouts.module_loaded();
        }
    }

    pub(crate) fn module_loaded(&mut self, module: &Module) {
        let Some(target) = &mut self.target else {
            return;
        };
        target.type_cache.module_loaded();
        target.layouts.module_loaded();
        let loaded = target.modules.entry(module);
        let user_code = loaded.is_users(&target.process) && !loaded.is_test_framework();
        // Each of these calls is a journey to the program and back, and a program loads hundreds of modules: those of the
        // framework keep the code that they were compiled to beforehand, and are nobody's code from the start.
        // One that is no file may get its symbols later, when it is too late to ask.
        let may_be_user_code = user_code || !loaded.path.is_absolute();
        if target.unoptimized
            && may_be_user_code
            // What was compiled for debugging is not optimised anyway.
            && !module.is_optimized().is_ok_and(|optimized| !optimized)
            && let Err(error) = module.disable_optimization()
        {
            tracing::debug!(%error, "a module keeps its optimised code");
        }
        if may_be_user_code {
            // Breakpoints are set while the program runs, too.
            loaded.is_optimized();
        }
        // An earlier debugger of a running program may have said otherwise.
        if (user_code || !target.unoptimized)
            && let Err(error) = module.set_user_code(user_code, &[])
        {
            tracing::debug!(%error, "a module cannot be told from the user's code");
        }
        if target.entry.wanted && target.entry.breakpoints.is_empty()
            // The first module with an entry point is the program; the framework's have none.
            && let Some((method, offsets)) = loaded.entry_point(&target.process)
        {
            if loaded.is_runtime_async(&target.process, method) {
                self.notes.push(
                    "the program will not stop at its entry: its Main is suspended by the runtime itself \
                     (runtime-async), and a breakpoint in it would end it"
                        .into(),
                );
                target.entry.forget();
            } else {
                match loaded.break_at_each(method, &offsets) {
                    Ok(breakpoints) => target.entry.breakpoints = breakpoints,
                    Err(error) => self
                        .notes
                        .push(format!("the program will not stop at its entry: {error}")),
                }
            }
        }
        let path = loaded.path.display().to_string();
        self.tell(Event::ModuleLoaded {
            module: path,
            user_code,
        });
        if user_code {
            self.take_out_runtime_async(module.identity());
        }
        self.bind_to_module(module.identity());
    }

    /// A module that was loaded from memory gets the symbols that were loaded with it.
    pub(crate) fn symbols_arrived(&mut self, module: &Module, symbols: Option<Vec<u8>>) {
        let Some(target) = &mut self.target else {
            return;
        };
        let Some(symbols) = symbols.and_then(|bytes| Symbols::open(bytes).ok()) else {
            return;
        };
        if !target.modules.set_symbols(module.identity(), symbols) {
            return;
        }
        if let Err(error) = module.set_user_code(true, &[]) {
            tracing::debug!(%error, "a module cannot be told from the user's code");
        }
        self.bind_to_module(module.identity());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_tests_is_told_from_what_checks() {
        let commands = "NUnit.Framework.Internal.Commands.TestMethodCommand.RunTestMethod()";
        for (module, method, runs) in [
            (
                "xunit.execution.dotnet.dll",
                "Xunit.Sdk.TestInvoker.Run()",
                true,
            ),
            ("xunit.assert.dll", "Xunit.Assert.Throws()", false),
            (
                "nunit.framework.dll",
                "NUnit.Framework.Assert.Throws()",
                false,
            ),
            ("nunit.framework.dll", commands, true),
            ("MSTestAdapter.PlatformServices.dll", "A.B()", true),
            ("MSTest.TestFramework.dll", "A.B()", false),
            ("Shop.Testing.dll", commands, false),
        ] {
            assert_eq!(runs_tests(module, method), runs, "{module} {method}");
        }
        assert!(is_test_framework("testhost.dll") && !is_test_framework("TestHosts.dll"));
    }
}
