//! The modules of the program.

use cordebug::bindings::ICorDebugBreakpoint;
use cordebug::com::Com;
use cordebug::module::{Breakpoint, Module};

use crate::engine::Engine;

/// The loaded modules.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    loaded: Vec<Module>,
}

impl Modules {
    pub(crate) fn unloaded(&mut self, module: &Module) {
        self.loaded.retain(|it| it.identity() != module.identity());
    }
}

/// The wait for the first line of `Main`.
#[derive(Debug)]
pub(crate) struct Entry {
    wanted: bool,
    breakpoint: Option<Breakpoint>,
}

impl Entry {
    pub(crate) fn new(wanted: bool) -> Self {
        Self {
            wanted,
            breakpoint: None,
        }
    }

    /// Whether a callback's breakpoint is the one at the entry, which is then removed.
    pub(crate) fn reached(&mut self, breakpoint: &Com<ICorDebugBreakpoint>) -> bool {
        let reached = self.breakpoint.as_ref().is_some_and(|it| it.is(breakpoint));
        if reached {
            self.forget();
        }
        reached
    }

    /// Removes the breakpoint.
    pub(crate) fn forget(&mut self) {
        self.wanted = false;
        if let Some(breakpoint) = self.breakpoint.take()
            && let Err(error) = breakpoint.deactivate()
        {
            tracing::debug!(%error, "removing the entry breakpoint");
        }
    }
}

impl Engine<'_> {
    pub(crate) fn module_loaded(&mut self, module: Module) {
        let Some(target) = &mut self.target else {
            return;
        };
        if let Err(error) = module.disable_optimization() {
            tracing::debug!(%error, "a module keeps its optimised code");
        }
        target.modules.loaded.push(module);
    }
}
