//! Types and members of all loaded modules: found by what is remembered of their names, and described.
//!
//! Everything comes from the modules' files: nothing runs in the program, which need not be stopped. The work is bounded by
//! the number of names in them, the answer by what was asked for.

mod constants;
mod describe;

use cordebug::process::Process;
use metadata::Metadata;
use metadata::csharp::{GenericNames, Style};
use metadata::search::{Fit, FoundSymbol, Pattern, Rank, split_names};

use crate::api::{
    Details, Error, ErrorCode, FoundSymbols, Reply, Symbol, SymbolKind, SymbolsQuery, TypeQuery,
};
use crate::breakpoints::suggest;
use crate::engine::Engine;
use crate::modules::{LoadedModule, Modules};

/// Symbols that can be asked for, page by page.
const MAX_SYMBOLS: u32 = 1000;
/// Members of a type told at once.
const MAX_MEMBERS: u32 = 1000;
/// Types named when a name does not say which one is meant.
const CANDIDATES: usize = 10;
/// Modules that could not be read, by name.
const MAX_UNREAD: usize = 10;

/// A symbol of a module.
struct Find<'m> {
    module: &'m LoadedModule,
    symbol: FoundSymbol,
}

impl Find<'_> {
    /// The user's symbols come first among those that fit equally well.
    fn order(&self) -> (Fit, Fit, bool, Rank, &str) {
        let rank = self.symbol.rank;
        let framework = self.module.is_framework();
        (rank.fit, rank.container, framework, rank, &self.symbol.name)
    }
}

/// What a search over modules found.
struct Search<'m> {
    finds: Vec<Find<'m>>,
    total: u64,
    modules: u32,
    unread: Vec<String>,
}

fn search<'m>(
    modules: &'m Modules,
    process: &Process,
    pattern: &Pattern,
    kinds: &[SymbolKind],
    module: Option<&str>,
    limit: u32,
) -> Search<'m> {
    let wanted: Vec<_> = metadata::search::SymbolKind::ALL
        .into_iter()
        .filter(|kind| kinds.is_empty() || kinds.contains(&kind_of(*kind)))
        .collect();
    let part = module.map(str::to_lowercase);
    let mut found = Search {
        finds: Vec::new(),
        total: 0,
        modules: 0,
        unread: Vec::new(),
    };
    for module in modules.iter() {
        let name = module.file_name();
        if let Some(part) = &part
            && !name.to_lowercase().contains(part)
        {
            continue;
        }
        let opened = match module.metadata(process) {
            Ok(opened) => opened,
            Err(why) => {
                if found.unread.len() < MAX_UNREAD {
                    found.unread.push(format!("{name}: {why}"));
                }
                continue;
            }
        };
        found.modules += 1;
        let of_module = opened.metadata().search(pattern, &wanted, limit as usize);
        if !of_module.is_complete && found.unread.len() < MAX_UNREAD {
            let why = "its names are too long to be looked through";
            found.unread.push(format!("{name}: {why}"));
        }
        found.total += of_module.n_fitting as u64;
        let symbols = of_module.symbols.into_iter();
        found
            .finds
            .extend(symbols.map(|symbol| Find { module, symbol }));
        // Only the best of all modules are kept, however many there are.
        found.finds.sort_by(|a, b| a.order().cmp(&b.order()));
        found.finds.truncate(limit as usize);
    }
    found
}

fn kind_of(kind: metadata::search::SymbolKind) -> SymbolKind {
    use metadata::search::SymbolKind as Found;
    match kind {
        Found::Type => SymbolKind::Type,
        Found::Method => SymbolKind::Method,
        Found::Property => SymbolKind::Property,
        Found::Field => SymbolKind::Field,
        Found::Event => SymbolKind::Event,
    }
}

fn pattern(text: &str) -> Result<Pattern, Error> {
    Pattern::new(text).map_err(|why| Error::new(ErrorCode::InvalidParameter, why.to_string()))
}

impl Engine<'_> {
    /// Symbols of all loaded modules, the best first.
    pub(crate) fn symbols(&mut self, query: &SymbolsQuery) -> Result<Reply, Error> {
        let pattern = pattern(&query.pattern)?;
        let target = self.target()?;
        let end = query.start.saturating_add(query.count).min(MAX_SYMBOLS);
        let found = search(
            &target.modules,
            &target.process,
            &pattern,
            &query.kinds,
            query.module.as_deref(),
            end,
        );
        no_module(&found, query.module.as_deref())?;
        let finds = found.finds.iter().skip(query.start as usize);
        Ok(Reply::Symbols(Box::new(FoundSymbols {
            symbols: finds.map(|find| symbol(find, &target.process)).collect(),
            total: found.total,
            next: (u64::from(end) < found.total && end < MAX_SYMBOLS).then_some(end),
            modules: found.modules,
            unread: found.unread,
        })))
    }

    /// A type by its name, with what it declares.
    pub(crate) fn describe_type(&mut self, query: &TypeQuery) -> Result<Reply, Error> {
        let name = keyword(query.name.trim());
        let pattern = pattern(name)?;
        let target = self.target()?;
        let found = search(
            &target.modules,
            &target.process,
            &pattern,
            &[SymbolKind::Type],
            query.module.as_deref(),
            MAX_SYMBOLS,
        );
        no_module(&found, query.module.as_deref())?;
        let similar = || {
            let modules = target.modules.iter();
            suggest::types(&query.name, modules, &target.process)
        };
        let (find, also_in) = choose(&found.finds, query, similar)?;
        let why = |why: &dyn std::fmt::Display| {
            Error::new(
                ErrorCode::Runtime,
                format!("{} cannot be read: {why}", find.symbol.name),
            )
        };
        let metadata: Metadata<'_> = find
            .module
            .metadata(&target.process)
            .map_err(|it| why(&it))?
            .metadata();
        let mut told = describe::describe(metadata, find.symbol.token, query, MAX_MEMBERS)
            .map_err(|it| why(&it))?;
        told.module = find.module.file_name();
        told.also_in = also_in;
        Ok(Reply::Type(Box::new(told)))
    }
}

fn no_module(found: &Search<'_>, module: Option<&str>) -> Result<(), Error> {
    match module {
        Some(part) if found.modules == 0 && found.unread.is_empty() => Err(Error::new(
            ErrorCode::ModuleNotLoaded,
            format!("no loaded module has {part:?} in its name"),
        )
        .hint("ask for the modules; what is loaded later is found later")),
        _ => Ok(()),
    }
}

fn symbol(find: &Find<'_>, process: &Process) -> Symbol {
    let kind = kind_of(find.symbol.rank.kind);
    let token = find.symbol.token;
    let names = GenericNames::default();
    let parameters = || {
        let metadata = find.module.metadata(process).ok()?.metadata();
        let style = Style { namespaces: false };
        let method = metadata.method(token).ok()?;
        metadata.parameters_text(&method, &names, style).ok()
    };
    // Only symbols tell which local functions a local function is written in.
    let inside = || {
        let metadata = find.module.metadata(process).ok()?.metadata();
        let around = find.module.local_functions_around(process, token);
        let style = Style { namespaces: true };
        let name = metadata.method_name_inside(token, &around, &names, style);
        name.ok().filter(|_| !around.is_empty())
    };
    let is_method = kind == SymbolKind::Method;
    let inside = is_method.then(inside).flatten();
    Symbol {
        parameters: is_method.then(parameters).flatten(),
        name: inside.map_or_else(|| find.symbol.name.clone(), |it| it.to_string()),
        kind,
        module: find.module.file_name(),
        token: find.symbol.token.0,
    }
}

/// The type that a name means, and other modules that have one of the same name.
fn choose<'f, 'm>(
    finds: &'f [Find<'m>],
    query: &TypeQuery,
    similar: impl FnOnce() -> Vec<String>,
) -> Result<(&'f Find<'m>, Vec<String>), Error> {
    let named = |fit: Fit| {
        let fits = move |find: &&Find<'_>| {
            find.symbol.rank.fit <= fit && find.symbol.rank.container <= fit
        };
        finds.iter().filter(fits).collect::<Vec<_>>()
    };
    let exact = named(Fit::Exact);
    let mut meant = if exact.is_empty() {
        named(Fit::SameLetters)
    } else {
        exact
    };
    // Where it is said of one of its names how many arguments that takes, it is said of all.
    let name = keyword(query.name.trim());
    let shape = Shape::of(name);
    let fits = |it: &&Find<'_>| Shape::of(&it.symbol.name).ends_with(&shape);
    if shape.is_generic() && meant.iter().any(&fits) {
        meant.retain(fits);
    }
    let candidates = |mut names: Vec<String>, finds: &[&Find<'_>]| {
        let found = finds.iter().map(|it| it.symbol.name.clone());
        let found: Vec<_> = found.filter(|it| !names.contains(it)).collect();
        names.extend(found);
        names.dedup();
        names.truncate(CANDIDATES);
        Details::Candidates(names)
    };
    let Some(first) = meant.first() else {
        let error = Error::new(
            ErrorCode::InvalidParameter,
            format!("no loaded module has a type {}", query.name.trim()),
        );
        let all: Vec<_> = finds.iter().collect();
        let similar = similar();
        return Err(match all.is_empty() && similar.is_empty() {
            true => {
                error.hint("search for a part of its name; what is loaded later is found later")
            }
            false => error
                .hint("name one of these")
                .details(candidates(similar, &all)),
        });
    };
    // A name that is whole means itself, also where others end with it.
    let is = |it: &&&Find<'_>| Shape::of(&it.symbol.name) == shape;
    let is_bare = |it: &&&Find<'_>| Shape::of(&it.symbol.name).is_called(&shape);
    let whole = meant.iter().find(is);
    let whole = whole.or_else(|| meant.iter().find(is_bare));
    // Of types that differ only in what arguments they take, a name without any means the one that takes none.
    let plain = || {
        let found = meant.iter().find(|it| !it.symbol.name.ends_with('>'))?;
        let name = &found.symbol.name;
        let mut others = meant.iter().map(|it| it.symbol.name.strip_prefix(&**name));
        let is_alone =
            others.all(|rest| rest.is_some_and(|it| it.is_empty() || it.starts_with('<')));
        (is_alone && !query.name.contains(['<', '`'])).then_some(found)
    };
    let whole = whole.or_else(plain);
    let chosen = whole.unwrap_or(first);
    let others = meant
        .iter()
        .filter(|it| it.symbol.name != chosen.symbol.name);
    if whole.is_none() && others.count() > 0 {
        return Err(Error::new(
            ErrorCode::InvalidParameter,
            format!("several types are called {}", query.name.trim()),
        )
        .hint("name one of these")
        .details(candidates(Vec::new(), &meant)));
    }
    let same = meant.iter().filter(|it| {
        it.symbol.name == chosen.symbol.name && it.module.identity() != chosen.module.identity()
    });
    let mut also_in: Vec<_> = same.map(|it| it.module.file_name()).collect();
    also_in.truncate(CANDIDATES);
    Ok((chosen, also_in))
}

/// The names of a type and of what it lies in, with how many arguments each takes.
#[derive(PartialEq)]
struct Shape<'t>(Vec<(&'t str, usize)>);

impl<'t> Shape<'t> {
    fn of(name: &'t str) -> Self {
        let names = split_names(name);
        Self(names.map(|(it, arity)| (it, arity.unwrap_or(0))).collect())
    }

    fn is_generic(&self) -> bool {
        self.0.iter().any(|(_, arity)| *arity > 0)
    }

    fn ends_with(&self, other: &Self) -> bool {
        self.0.ends_with(&other.0)
    }

    /// Whether it has the same names, whatever arguments they take.
    fn is_called(&self, other: &Self) -> bool {
        let names = |it: &Self| it.0.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        names(self) == names(other)
    }
}

/// The type behind one of C#'s keywords; other names are themselves.
fn keyword(name: &str) -> &str {
    match name {
        "bool" => "System.Boolean",
        "byte" => "System.Byte",
        "sbyte" => "System.SByte",
        "char" => "System.Char",
        "decimal" => "System.Decimal",
        "double" => "System.Double",
        "float" => "System.Single",
        "int" => "System.Int32",
        "uint" => "System.UInt32",
        "nint" => "System.IntPtr",
        "nuint" => "System.UIntPtr",
        "long" => "System.Int64",
        "ulong" => "System.UInt64",
        "short" => "System.Int16",
        "ushort" => "System.UInt16",
        "object" => "System.Object",
        "string" => "System.String",
        "void" => "System.Void",
        other => other,
    }
}
