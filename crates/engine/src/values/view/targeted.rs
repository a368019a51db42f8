//! What assemblies say about how types are shown, their own or others': `[assembly: DebuggerTypeProxy(typeof(P), Target =
//! typeof(T))]` and the same of `DebuggerDisplay`.
//!
//! Only assemblies that are not the framework's are asked, once until another module is loaded. A target that is a
//! constructed type (`typeof(Box<int>)`) is left alone: the definition (`typeof(Box<>)`) can be one.

use std::collections::HashMap;

use metadata::Token;
use metadata::tables::Table;

use super::super::Reader;
use crate::types::{ModuleId, Named, Types};

/// Attributes of all assemblies that are kept.
const MAX_ATTRIBUTES: usize = 10_000;

/// What the loaded assemblies say about types.
#[derive(Debug, Default)]
pub(crate) struct Targeted {
    displays: HashMap<String, Vec<Said>>,
    proxies: HashMap<String, Vec<Said>>,
}

/// One attribute.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// The display string, or the name of the proxy.
    pub(super) text: String,
    /// What the value is called, and its type, if that is said.
    pub(super) name: Option<String>,
    pub(super) ty: Option<String>,
    /// The module that says it.
    pub(super) by: ModuleId,
    /// The assembly that the target is in, if it is named.
    assembly: Option<String>,
}

impl Targeted {
    /// Asks all modules.
    fn of(types: Types<'_>) -> Self {
        let mut found = Self::default();
        let mut left = MAX_ATTRIBUTES;
        for module in types.modules.iter().filter(|it| !it.is_framework()) {
            let Ok(opened) = module.metadata(types.process) else {
                continue;
            };
            let by = ModuleId(module.identity());
            let metadata = opened.metadata();
            let assembly = Token::new(Table::Assembly, 1);
            let displays = metadata.debugger_displays(assembly);
            for display in displays.take(left) {
                left -= 1;
                if let (Some(text), Some(target)) = (display.value, display.target) {
                    let owned =
                        |it: Option<std::borrow::Cow<'_, str>>| it.map(|it| it.into_owned());
                    let labels = (owned(display.name), owned(display.ty));
                    add(&mut found.displays, &text, labels, &target, by);
                }
            }
            let proxies = metadata.debugger_type_proxies(assembly);
            let proxies = proxies.filter_map(|(proxy, target)| Some((proxy, target?)));
            for (text, target) in proxies.take(left) {
                add(&mut found.proxies, &text, (None, None), &target, by);
                left -= 1;
            }
        }
        found
    }
}

fn add(
    all: &mut HashMap<String, Vec<Said>>,
    text: &str,
    (label, label_of_type): (Option<String>, Option<String>),
    target: &str,
    by: ModuleId,
) {
    // Commas inside brackets belong to the arguments of a constructed type.
    if target.contains('[') {
        return;
    }
    let (name, assembly) = match target.split_once(',') {
        Some((name, rest)) => (name, rest.split(',').next().map(str::trim)),
        None => (target, None),
    };
    all.entry(name.trim().to_owned()).or_default().push(Said {
        text: text.to_owned(),
        name: label,
        ty: label_of_type,
        by,
        assembly: assembly.filter(|it| !it.is_empty()).map(str::to_owned),
    });
}

impl Reader<'_> {
    /// What an assembly says a type is displayed as.
    pub(super) fn targeted_display(&self, named: &Named) -> Option<Said> {
        self.said(named, |all| &all.displays)
    }

    /// The proxy that an assembly has for a type.
    pub(super) fn targeted_proxy(&self, named: &Named) -> Option<Said> {
        self.said(named, |all| &all.proxies)
    }

    fn said(
        &self,
        named: &Named,
        of: impl Fn(&Targeted) -> &HashMap<String, Vec<Said>>,
    ) -> Option<Said> {
        let mut known = self.layouts.targeted.borrow_mut();
        let all = known.get_or_insert_with(|| Targeted::of(self.types));
        let all = of(all);
        if all.is_empty() {
            return None;
        }
        let metadata = self.types.metadata(named.module).ok()?.metadata();
        let said = all.get(&*metadata.full_name(named.token).ok()?)?;
        said.iter().find(|it| self.is_meant(it, named)).cloned()
    }

    /// Whether the type of that name is the one that is meant. Types of the framework are named by where they were once.
    fn is_meant(&self, said: &Said, named: &Named) -> bool {
        let is_framework = |id| self.types.module(id).is_ok_and(|it| it.is_framework());
        match &said.assembly {
            None => said.by == named.module,
            Some(assembly) => {
                is_framework(named.module) || self.types.assembly(assembly) == Some(named.module)
            }
        }
    }
}
