//! Modules of the framework that the program need not wait for when it loads them.
//!
//! The runtime stops the whole program for each module that it loads, until the engine has looked at it. A program loads
//! dozens of the framework's, in which there is nothing to do as long as nobody wants to stop in them: that is seen from a
//! name, on the thread that hears of it, and the program goes on at once.
//!
//! Invariant: a module that may have the method of a breakpoint is never passed by; one that was asked for a moment later
//! is looked at again when the engine hears of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cordebug::bindings::ICorDebugModule;
use cordebug::callback::{Callback, Delivered, Passes};
use cordebug::com::Com;
use cordebug::file::MappedFile;
use cordebug::module::Module;
use metadata::Bytes;

use crate::api::Event;
use crate::breakpoints::{FunctionName, TypeNames};
use crate::engine::Engine;
use crate::modules::{file_name, is_framework_as_shipped};

/// The methods that breakpoints are wanted at, for the thread that hears of modules.
#[derive(Debug, Default, Clone)]
pub(crate) struct AwaitedNames(Arc<Mutex<Awaited>>);

#[derive(Debug, Default)]
struct Awaited {
    names: Arc<Vec<FunctionName>>,
    /// Modules that were opened and have none of them: whoever hears of one later need not open it again.
    without: HashSet<PathBuf>,
    /// Folders whose modules are opened ahead.
    scouted: HashSet<PathBuf>,
}

/// A program that has loaded so many modules will load more of them: they are opened ahead, beside it.
const MANY: usize = 16;

impl AwaitedNames {
    pub(crate) fn set(&self, names: Vec<FunctionName>) {
        *self.awaited() = Awaited {
            names: Arc::new(names),
            ..Awaited::default()
        };
    }

    fn awaited(&self) -> MutexGuard<'_, Awaited> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a module of this path has nothing that anybody waits for.
    fn passes(&self, path: &str) -> bool {
        let path = Path::new(path);
        if !is_framework_as_shipped(path) {
            return false;
        }
        let awaited = self.awaited();
        if awaited.without.contains(path) {
            return true;
        }
        let names = awaited.names.clone();
        // Nobody waits while a module is opened.
        drop(awaited);
        let file = file_name(path);
        let wanted = names.iter().filter(|name| name.may_be_in_framework(&file));
        let mut wanted = wanted.map(FunctionName::type_parts).peekable();
        if wanted.peek().is_none() {
            return true;
        }
        let opened = MappedFile::open(path).ok();
        let Some(module) = opened.and_then(|it| metadata::Module::open(Bytes::new(it)).ok()) else {
            return false;
        };
        let passes = !TypeNames::any_of(module.metadata(), wanted);
        let mut awaited = self.awaited();
        if passes && Arc::ptr_eq(&awaited.names, &names) {
            awaited.without.insert(path.to_owned());
            let folder = path.parent().filter(|_| awaited.without.len() >= MANY);
            if let Some(folder) = folder
                && awaited.scouted.insert(folder.to_owned())
            {
                self.scout(folder.to_owned(), names.clone());
            }
        }
        passes
    }

    /// Opens the other modules of a folder, until something else is waited for.
    fn scout(&self, folder: PathBuf, names: Arc<Vec<FunctionName>>) {
        let this = self.clone();
        let look = move || {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if !Arc::ptr_eq(&this.awaited().names, &names) {
                    return;
                }
                if let Some(path) = entry.path().to_str().filter(|it| it.ends_with(".dll")) {
                    this.passes(path);
                }
            }
        };
        // Without a thread for it each is opened when it is loaded.
        let _ = std::thread::Builder::new().name("scout".into()).spawn(look);
    }

    /// What decides for a program whose modules need nothing but to be looked at.
    pub(crate) fn judge(&self) -> Passes {
        let names = self.clone();
        Box::new(move |path| names.passes(path))
    }
}

impl Engine<'_> {
    /// What the runtime told; nothing if the program did not wait for it, which is then done with.
    pub(crate) fn receive(&mut self, delivered: Delivered) -> Option<Callback> {
        match delivered.receive() {
            Callback::ModulePassed { module, name } => {
                self.module_passed(module, name);
                None
            }
            callback => Some(callback),
        }
    }

    fn module_passed(&mut self, module: Com<ICorDebugModule>, name: String) {
        let Some(target) = &mut self.target else {
            return;
        };
        target.type_cache.module_loaded();
        target.layouts.module_loaded();
        let module = Module::new(module);
        let identity = module.identity();
        target.modules.add(module, &name);
        let asked_for = !self.breakpoints.awaited.passes(&name);
        self.tell(Event::ModuleLoaded {
            module: name,
            user_code: false,
        });
        if asked_for {
            self.bind_to_passed_module(identity);
        }
    }
}
