//! Names that are not found because the program has not loaded their assembly yet.
//!
//! The compiler knows every assembly that a program refers to, and all of the framework; the runtime loads one when code that
//! needs it is about to run. What an evaluation may load is told with the failure ([`Fail::lacks`]).

use cordebug::file::MappedFile;
use metadata::Token;
use metadata::model::Visibility;
use metadata::tables::{AssemblyRefRow, ExportedTypeRow, Table};

use super::{Binder, Import, LINQ};
use crate::expressions::error::Fail;
use crate::expressions::intrinsics::is_linq;
use crate::types::{ModuleId, Types};

/// Extension methods of the framework by how their names begin, with their namespace and assembly.
const EXTENSIONS: [(&str, &str, &str); 2] = [
    ("AsParallel", "System.Linq", "System.Linq.Parallel"),
    (
        "ToImmutable",
        "System.Collections.Immutable",
        "System.Collections.Immutable",
    ),
];

/// What is told where an assembly is missing.
fn not_loaded(assembly: &str) -> String {
    format!(
        "the program has not loaded {assembly} yet; an evaluation that may run code loads it, and then it is known everywhere"
    )
}

/// The file of an assembly that is not loaded, found beside those that are.
pub(crate) fn image_of(types: Types<'_>, assembly: &str) -> Option<MappedFile> {
    let folders: std::collections::BTreeSet<_> = types
        .modules
        .iter()
        .filter_map(|it| it.path.parent().filter(|it| it.is_absolute()))
        .collect();
    let file = format!("{assembly}.dll");
    let mut folders = folders.iter();
    folders.find_map(|folder| MappedFile::open(&folder.join(&file)).ok())
}

/// The names of the assemblies that a module refers to and that are not loaded.
pub(crate) fn unloaded_references(types: Types<'_>, module: ModuleId) -> Option<Vec<String>> {
    let mut names = references(types, module)?;
    names.retain(|it| types.assembly(it).is_none());
    Some(names)
}

/// The names of the assemblies that a module refers to.
fn references(types: Types<'_>, module: ModuleId) -> Option<Vec<String>> {
    let metadata = types.metadata(module).ok()?.metadata();
    let mut names = Vec::new();
    for (row, _) in metadata.rows::<AssemblyRefRow>() {
        let token = Token::new(Table::AssemblyRef, row);
        let reference = metadata.assembly_ref(token).ok()?;
        names.push(reference.name.to_string());
    }
    Some(names)
}

impl Binder<'_> {
    /// Says which assembly is missing where that is why a name is not found.
    pub(super) fn with_what_is_missing(&self, mut fail: Box<Fail>) -> Box<Fail> {
        if fail.lacks.is_none() {
            fail.lacks = match self.lacks_linq(&fail) {
                true => Some(LINQ.into()),
                false => self
                    .lacks_type(&fail)
                    .or_else(|| self.lacks_extension(&fail))
                    .map(String::into_boxed_str),
            };
        }
        if let Some(assembly) = &fail.lacks {
            fail.hint = Some(not_loaded(assembly));
            return fail;
        }
        self.not_so(fail)
    }

    /// Says of a name that is there, but as something else: with other type arguments, or as a variable.
    fn not_so(&self, mut fail: Box<Fail>) -> Box<Fail> {
        let is_type = fail.code == Some("CS0246");
        if !is_type && fail.code != Some("CS0103") {
            return fail;
        }
        let Some(name) = quoted(&fail.message).next().map(str::to_owned) else {
            return fail;
        };
        let identifier = syntax::tree::Identifier {
            text: name.as_str().into(),
            verbatim: false,
            span: fail.span,
        };
        let has = |arity: &usize| matches!(self.plain_type(&identifier, *arity), Ok(Some(_)));
        (fail.code, fail.message, fail.hint) = match (0..=4).find(has) {
            Some(0) => {
                let told = format!("`{name}` takes no type arguments");
                (Some("CS0308"), told, None)
            }
            Some(arity) => {
                let told = format!("`{name}` needs {arity} type arguments");
                let hint = format!("write {name}<{}>", vec!["int"; arity].join(", "));
                (Some("CS0305"), told, Some(hint))
            }
            None => (fail.code, fail.message, fail.hint),
        };
        fail
    }

    /// Whether LINQ would bring what is not found. Its namespace alone says nothing: other assemblies add to it.
    fn lacks_linq(&self, fail: &Fail) -> bool {
        let asks = || quoted(&fail.message).any(is_linq);
        let may_be = match fail.code {
            Some("CS1929" | "CS0305" | "CS1501" | "CS1503" | "CS7036" | "CS0411" | "CS1955") => {
                asks() && self.uses_linq()
            }
            Some("CS0103" | "CS0246") => fail.message.contains("`Enumerable`") && self.uses_linq(),
            Some("CS0234") => {
                fail.message.contains("`Linq`") || fail.message.contains("`System.Linq`")
            }
            _ => false,
        };
        may_be && !self.has_linq()
    }

    /// Whether LINQ is loaded.
    pub(super) fn has_linq(&self) -> bool {
        let found = self.types.find("System.Linq", "Enumerable", 0);
        !found.is_empty()
    }

    /// Whether the file uses the namespace of LINQ, loaded or not.
    pub(super) fn uses_linq(&self) -> bool {
        self.used_namespaces().any(|it| it == "System.Linq")
    }

    /// The namespaces that the file uses, loaded or not.
    fn used_namespaces(&self) -> impl Iterator<Item = &str> {
        let all = self.context.imports.iter().flatten();
        all.filter_map(|it| match it {
            Import::Namespace(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// The assembly of the framework that would bring an extension method which is not found.
    fn lacks_extension(&self, fail: &Fail) -> Option<String> {
        if fail.code != Some("CS1061") {
            return None;
        }
        let name = quoted(&fail.message).nth(1)?;
        let (_, namespace, assembly) = EXTENSIONS.iter().find(|it| name.starts_with(it.0))?;
        let is_used = self.used_namespaces().any(|it| it == *namespace);
        let brings = is_used && self.types.assembly(assembly).is_none();
        brings.then(|| (*assembly).to_owned())
    }

    /// The assembly that would bring a type or namespace that is not found: one that the module refers to, or one of the
    /// framework that is called as the namespace is.
    fn lacks_type(&self, fail: &Fail) -> Option<String> {
        let mut names = quoted(&fail.message);
        let name = names.next()?.split('<').next()?;
        let namespaces: Vec<&str> = match fail.code? {
            "CS0103" | "CS0246" => self
                .used_namespaces()
                .chain([self.context.namespace.as_str(), ""])
                .collect(),
            "CS0234" => vec![names.next()?],
            _ => return None,
        };
        let module = self.context.module?;
        let mut assemblies = unloaded_references(self.types, module)?;
        for namespace in &namespaces {
            let whole = [format!("{namespace}.{name}"), (*namespace).to_owned()];
            assemblies.extend(whole.iter().flat_map(|it| with_outer(it)));
        }
        let mut seen = std::collections::BTreeSet::new();
        assemblies.retain(|it| seen.insert(it.clone()) && self.types.assembly(it).is_none());
        let found = assemblies
            .iter()
            .find_map(|it| self.brings(it, name, &namespaces, true));
        // One that is loaded may pass on what another has, as the one does that every program is compiled against.
        found.or_else(|| {
            let mut others = references(self.types, module)?;
            others.push("System.Runtime".into());
            others.iter().find_map(|it| {
                let found = self.brings(it, name, &namespaces, true);
                found.filter(|it| self.types.assembly(it).is_none())
            })
        })
    }

    /// The assembly, if it has a type or namespace of the name in one of the namespaces; the one that has it if it passes it on.
    fn brings(&self, assembly: &str, name: &str, inside: &[&str], passes: bool) -> Option<String> {
        let image = image_of(self.types, assembly)?;
        let module = metadata::Module::open(metadata::Bytes::new(image)).ok()?;
        let metadata = module.metadata();
        let fits = |namespace: &str, ty: &str| {
            inside.iter().any(|it| {
                let below = match *it {
                    "" => Some(namespace),
                    outer => namespace
                        .strip_prefix(outer)
                        .and_then(|rest| rest.strip_prefix('.')),
                };
                (*it == namespace && ty.split('`').next() == Some(name))
                    || below.is_some_and(|rest| rest.split('.').next() == Some(name))
            })
        };
        let has_it = metadata.type_defs().flatten().any(|ty| {
            let (namespace, own) = (ty.namespace().unwrap_or_default(), ty.name());
            ty.flags().visibility() == Visibility::Public
                && own.is_ok_and(|own| fits(&namespace, &own))
        });
        if has_it {
            return Some(assembly.to_owned());
        }
        let mut passed = metadata.rows::<ExportedTypeRow>();
        let target = passed.find_map(|(row, exported)| {
            let token = Token::new(Table::ExportedType, row);
            let (namespace, own) = metadata.simple_name(token).ok()?;
            let to = exported.ok()?.implementation;
            let is_it = to.is(Table::AssemblyRef) && fits(&namespace, &own);
            is_it.then(|| metadata.assembly_ref(to).ok()).flatten()
        })?;
        let target = target.name.to_string();
        if !passes || self.types.assembly(&target).is_some() {
            return None;
        }
        self.brings(&target, name, inside, false)
    }
}

/// The words that a message quotes.
pub(crate) fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// A namespace and those around it, but not the outermost: assemblies of the framework are called so.
fn with_outer(namespace: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = namespace.trim_matches('.');
    while let Some((outer, _)) = rest.rsplit_once('.') {
        all.push(rest.to_owned());
        rest = outer;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assemblies_are_called_as_namespaces_are() {
        assert_eq!(
            with_outer("System.Text.Json.Nodes"),
            ["System.Text.Json.Nodes", "System.Text.Json", "System.Text"]
        );
        assert_eq!(with_outer("System"), [""; 0]);
        let words: Vec<&str> = quoted("there is no `Json` in `System.Text`").collect();
        assert_eq!(words, ["Json", "System.Text"]);
    }
}
