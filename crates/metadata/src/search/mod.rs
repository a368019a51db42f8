//! Symbols by what a person remembers of their names.
//!
//! Nothing is indexed: a search reads the names of all types and members once, in the heap, and keeps the best few. Text is made only for
//! those that are handed out. The work is bounded by the number of rows, whatever their names are.

mod pattern;

use std::cell::OnceCell;
use std::collections::BinaryHeap;

use crate::csharp::{
    GeneratedKind, GeneratedName, GenericNames, Style, field_display_name, special_name,
    type_display_name,
};
use crate::error::Result;
use crate::model::{FieldFlags, MethodFlags, TypeFlags, Visibility};
use crate::tables::Table;
use crate::token::{StringHandle, Token};
use crate::view::Metadata;

pub use self::pattern::{Fit, Pattern, PatternError, split_names};

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A class, struct, interface, enum or delegate.
    Type,
    /// A method, constructor, operator or local function.
    Method,
    /// A property or indexer.
    Property,
    /// A field, constant or enum member.
    Field,
    /// An event.
    Event,
}

impl SymbolKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Type,
        Self::Method,
        Self::Property,
        Self::Field,
        Self::Event,
    ];
}

/// How good a find is, over all modules; better is smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// How well its own name fits.
    pub fit: Fit,
    /// How well the names around it fit.
    pub container: Fit,
    /// Whether others cannot see it.
    pub is_hidden: bool,
    /// What it is.
    pub kind: SymbolKind,
    /// The length of its name: what fits a short one is more of it.
    pub length: u16,
}

/// A symbol that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    /// How good it is.
    pub rank: Rank,
    /// `TypeDef`, `Method`, `Property`, `Field` or `Event`.
    pub token: Token,
    /// The type it is a member of, or lies in.
    pub owner: Option<Token>,
    /// Its name with all around it, as C# writes it: `System.Collections.Generic.List<T>.Add`.
    pub name: String,
}

/// The outcome of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The best ones, the best first.
    pub symbols: Vec<FoundSymbol>,
    /// How many fit, also those that are not handed out.
    pub n_fitting: usize,
    /// Whether all names were looked at: names of absurd length end a search early.
    pub is_complete: bool,
}

/// Names are 15 bytes long on average; so much may be read for each row before a search gives up.
const BYTES_PER_ROW: usize = 256;

impl Metadata<'_> {
    /// The symbols that fit a pattern, at most `limit` of them, of the `kinds` that are wanted.
    ///
    /// What only the compiler needs (closures, state machines, backing fields) is left out, accessors stand under their property or event
    /// unless the pattern begins like an accessor's name, and local functions are found by their own names.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use metadata::Module;
    /// use metadata::search::{Pattern, SymbolKind};
    ///
    /// let module = Module::open(std::fs::read("System.Private.CoreLib.dll")?)?;
    /// let found = module.metadata().search(&Pattern::new("task.when*")?, &SymbolKind::ALL, 20);
    /// for symbol in &found.symbols {
    ///     println!("{} {}", symbol.token, symbol.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn search(self, pattern: &Pattern, kinds: &[SymbolKind], limit: usize) -> Found {
        let n_rows = [
            Table::TypeDef,
            Table::Method,
            Table::Field,
            Table::Property,
            Table::Event,
        ]
        .map(|table| self.row_count(table) as usize);
        let mut search = Search {
            metadata: self,
            pattern,
            kinds,
            limit,
            best: BinaryHeap::new(),
            n_fitting: 0,
            bytes_left: n_rows.iter().sum::<usize>().saturating_mul(BYTES_PER_ROW),
        };
        let is_complete = search.all().is_some();
        let best = search.best.into_sorted_vec();
        let symbols = best.into_iter().map(|(rank, token)| FoundSymbol {
            rank,
            token,
            owner: self.owner_of(token),
            name: self.symbol_name(token).unwrap_or_default(),
        });
        let mut symbols: Vec<_> = symbols.collect();
        symbols.sort_by(|a, b| (a.rank, &a.name, a.token).cmp(&(b.rank, &b.name, b.token)));
        Found {
            symbols,
            n_fitting: search.n_fitting,
            is_complete,
        }
    }

    fn owner_of(self, token: Token) -> Option<Token> {
        match token.table()? {
            Table::TypeDef => self.enclosing_type(token).ok()?,
            Table::Method => self.method(token).ok()?.declaring_type().ok(),
            Table::Field => self.field(token).ok()?.declaring_type().ok(),
            Table::Property => self.property(token).ok()?.declaring_type().ok(),
            Table::Event => self.event(token).ok()?.declaring_type().ok(),
            _ => None,
        }
    }

    fn symbol_name(self, token: Token) -> Result<String> {
        let style = Style { namespaces: true };
        let type_text = |ty: Token| {
            let names = GenericNames::declared(self, Some(ty), None);
            self.type_def_text(ty, &names, style)
        };
        let member = |name: &str| {
            let owner = self.owner_of(token).map(type_text).unwrap_or_default();
            let name = field_display_name(name).map_or_else(|| name.to_owned(), |it| it.into());
            format!("{owner}.{name}")
        };
        Ok(match token.table() {
            Some(Table::Method) => self
                .method_name(token, &GenericNames::default(), style)?
                .to_string(),
            Some(Table::Field) => member(&self.field(token)?.name()?),
            Some(Table::Property) => member(&self.property(token)?.name()?),
            Some(Table::Event) => member(&self.event(token)?.name()?),
            _ => type_text(token),
        })
    }
}

struct Search<'a, 's> {
    metadata: Metadata<'a>,
    pattern: &'s Pattern,
    kinds: &'s [SymbolKind],
    limit: usize,
    /// The worst one on top.
    best: BinaryHeap<(Rank, Token)>,
    n_fitting: usize,
    bytes_left: usize,
}

/// A type whose members are looked at; what they need of it is worked out when one fits.
struct Owner {
    token: Token,
    is_generated: bool,
    names: OnceCell<Vec<String>>,
}

// Positions of columns (ECMA-335 II.22).
const TYPE_NAME: usize = 1;
const FIELD_LIST: usize = 4;
const METHOD_LIST: usize = 5;
const METHOD_NAME: usize = 3;
const MEMBER_NAME: usize = 1;
const MAP_PARENT: usize = 0;
const MAP_LIST: usize = 1;

impl<'a> Search<'a, '_> {
    /// Looks at everything; `None` if it took too much.
    fn all(&mut self) -> Option<()> {
        let names = self.metadata.column(Table::TypeDef, TYPE_NAME);
        for (row, name) in (1..).zip(names) {
            let token = Token::new(Table::TypeDef, row);
            let name = self.name(name)?;
            let is_generated = is_compilers(name);
            // The first type only holds what lies in none.
            if row > 1 && !is_generated && self.wants(SymbolKind::Type) {
                self.ty(token, name);
            }
            let owner = Owner {
                token,
                is_generated,
                names: OnceCell::new(),
            };
            let table = Table::TypeDef;
            self.members(&owner, SymbolKind::Field, (table, FIELD_LIST, row))?;
            self.members(&owner, SymbolKind::Method, (table, METHOD_LIST, row))?;
        }
        for (kind, map) in [
            (SymbolKind::Property, Table::PropertyMap),
            (SymbolKind::Event, Table::EventMap),
        ] {
            for (row, parent) in (1..).zip(self.metadata.column(map, MAP_PARENT)) {
                let name = self.metadata.cell(Table::TypeDef, parent, TYPE_NAME);
                let name = self.name(name.unwrap_or_default())?;
                let owner = Owner {
                    token: Token::new(Table::TypeDef, parent & 0x00ff_ffff),
                    is_generated: is_compilers(name),
                    names: OnceCell::new(),
                };
                self.members(&owner, kind, (map, MAP_LIST, row))?;
            }
        }
        Some(())
    }

    fn wants(&self, kind: SymbolKind) -> bool {
        self.kinds.contains(&kind)
    }

    /// The bytes of a name; `None` if too many were read. A name that cannot be read is empty, and fits nothing.
    fn name(&mut self, handle: u32) -> Option<&'a [u8]> {
        let name = self.metadata.string_bytes(StringHandle(handle));
        let name = name.unwrap_or_default();
        self.bytes_left = self.bytes_left.checked_sub(name.len())?;
        Some(name)
    }

    fn ty(&mut self, token: Token, name: &[u8]) {
        let text = String::from_utf8_lossy(name);
        let (bare, arity) = crate::csharp::split_arity(&text);
        let bare = type_display_name(bare);
        let Some(fit) = self.pattern.fit_name(bare.as_bytes()) else {
            return;
        };
        if !self.pattern.fits_arity(arity) {
            return;
        }
        let names = names_around(self.metadata, token);
        // The first name is its own.
        let around = names.iter().skip(1).map(|name| name.as_bytes());
        let Some(container) = self.pattern.fit_container(around) else {
            return;
        };
        let Ok(ty) = self.metadata.type_def(token) else {
            return;
        };
        let flags: TypeFlags = ty.flags();
        self.keep(
            token,
            SymbolKind::Type,
            (fit, container),
            flags.visibility(),
            bare.len(),
        );
    }

    /// Looks at the members that a list of a row holds.
    fn members(
        &mut self,
        owner: &Owner,
        kind: SymbolKind,
        (table, column, row): (Table, usize, u32),
    ) -> Option<()> {
        if !self.wants(kind) {
            return Some(());
        }
        let (members, name_column) = match kind {
            SymbolKind::Method => (Table::Method, METHOD_NAME),
            SymbolKind::Property => (Table::Property, MEMBER_NAME),
            SymbolKind::Event => (Table::Event, MEMBER_NAME),
            SymbolKind::Field | SymbolKind::Type => (Table::Field, MEMBER_NAME),
        };
        for token in self.metadata.list(table, column, row, members) {
            let name = self.metadata.cell(members, token.row(), name_column);
            let name = self.name(name.unwrap_or_default())?;
            self.member(owner, kind, token, name);
        }
        Some(())
    }

    fn member(&mut self, owner: &Owner, kind: SymbolKind, token: Token, name: &[u8]) {
        let mut outer = None;
        let mut own = name;
        let text;
        if name.first() == Some(&b'<') {
            text = String::from_utf8_lossy(name);
            let Some(generated) = GeneratedName::parse(&text) else {
                return;
            };
            own = match generated.kind {
                GeneratedKind::LocalFunction => {
                    outer = Some(generated.text);
                    generated.local_function().unwrap_or_default().as_bytes()
                }
                // How a `with` copies a record: nobody can call it.
                GeneratedKind::Unspeakable if generated.text == "Clone" => return,
                GeneratedKind::Unspeakable => generated.text.as_bytes(),
                _ => return,
            };
        } else if owner.is_generated {
            return;
        } else if let Some(dot) = name
            .iter()
            .rposition(|&byte| byte == b'.')
            .filter(|&it| it > 0)
        {
            // An explicit implementation is called like what it implements.
            own = name.get(dot + 1..).unwrap_or(name);
        }
        let as_declared = || {
            let is_meant = self.pattern.is_operator() && own.starts_with(b"op_");
            let name = is_meant.then_some(own)?;
            let name = special_name(str::from_utf8(name).ok()?);
            self.pattern.fit_name(name.as_bytes())
        };
        let Some(fit) = self.pattern.fit_name(own).or_else(as_declared) else {
            return;
        };
        let names = || names_around(self.metadata, owner.token);
        let around = owner.names.get_or_init(names).iter().map(String::as_bytes);
        let around = outer.map(str::as_bytes).into_iter().chain(around);
        let Some(container) = self.pattern.fit_container(around) else {
            return;
        };
        let Some((visibility, arity)) = self.details(kind, token) else {
            return;
        };
        if self.pattern.fits_arity(arity) {
            self.keep(token, kind, (fit, container), visibility, own.len());
        }
    }

    /// Who sees a member, and how many generic parameters it has; `None` for accessors that are not asked for, and unreadable ones.
    fn details(&self, kind: SymbolKind, token: Token) -> Option<(Visibility, usize)> {
        let md = self.metadata;
        let of_accessor = |accessor: Option<Token>| {
            let flags: MethodFlags = md.method(accessor?).ok()?.flags();
            Some(flags.visibility())
        };
        match kind {
            SymbolKind::Method => {
                let method = md.method(token).ok()?;
                let is_accessor = method.flags().is_special_name()
                    && method.semantics().is_ok_and(|it| it.is_some());
                if is_accessor && !self.pattern.is_accessor() {
                    return None;
                }
                Some((
                    method.flags().visibility(),
                    md.generic_params(token).count(),
                ))
            }
            SymbolKind::Property => {
                let accessors = md.property(token).ok()?.accessors().ok()?;
                let visibility = of_accessor(accessors.getter.or(accessors.setter));
                Some((visibility.unwrap_or(Visibility::Private), 0))
            }
            SymbolKind::Event => {
                let accessors = md.event(token).ok()?.accessors().ok()?;
                let visibility = of_accessor(accessors.adder);
                Some((visibility.unwrap_or(Visibility::Private), 0))
            }
            SymbolKind::Field | SymbolKind::Type => {
                let flags: FieldFlags = md.field(token).ok()?.flags();
                // The field behind an enum's values has no name in C#.
                (!flags.is_runtime_special_name()).then_some((flags.visibility(), 0))
            }
        }
    }

    fn keep(
        &mut self,
        token: Token,
        kind: SymbolKind,
        (fit, container): (Fit, Fit),
        visibility: Visibility,
        length: usize,
    ) {
        self.n_fitting += 1;
        let rank = Rank {
            fit,
            container,
            is_hidden: visibility != Visibility::Public,
            kind,
            length: u16::try_from(length).unwrap_or(u16::MAX),
        };
        if self.best.len() < self.limit {
            self.best.push((rank, token));
        } else if let Some(mut worst) = self.best.peek_mut()
            && (rank, token) < *worst
        {
            *worst = (rank, token);
        }
    }
}

/// Whether a name is the compiler's own; types with the modifier `file` are not.
fn is_compilers(name: &[u8]) -> bool {
    if name.first() != Some(&b'<') {
        return false;
    }
    let text = String::from_utf8_lossy(name);
    let generated = GeneratedName::parse(crate::csharp::split_arity(&text).0);
    generated.is_none_or(|it| {
        !matches!(
            it.kind,
            GeneratedKind::FileLocal | GeneratedKind::Unspeakable
        )
    })
}

/// A type's name and the names around it, from the inside out; those of closures and state machines are left out.
fn names_around(metadata: Metadata<'_>, ty: Token) -> Vec<String> {
    let path = metadata.type_path(ty).unwrap_or_default();
    let mut names = Vec::new();
    for &part in path.iter().rev() {
        let Ok((namespace, name)) = metadata.simple_name(part) else {
            break;
        };
        if !is_compilers(name.as_bytes()) {
            names.push(type_display_name(&name).into_owned());
        }
        let namespaces = namespace.rsplit('.').filter(|it| !it.is_empty());
        names.extend(namespaces.map(str::to_owned));
    }
    names
}
