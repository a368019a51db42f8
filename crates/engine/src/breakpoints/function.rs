//! Methods by the names that people write: `Ns.Type.Method`, `Method`, `Type.Method(int, string)`, `module!…`.
//!
//! A name matches a method if its parts are the last parts of the method's full name, so that as much of the
//! namespace and of the outer types may be given as is needed. Generic arity and arguments may be given or left out.
//! What C# has several names for (accessors, constructors, operators, explicit implementations) is found by each of them.

use std::rc::Rc;

use metadata::csharp::{GenericNames, Style};
use metadata::{IlOffset, Metadata, Symbols, Token};

use super::name_parts::{ARITY, Part, split_name, split_operator, without_keyword};
use super::offer::{Found, Offer, Surroundings, module_notes, obstacle};
use super::signature;
use crate::api::{BoundLocation, Error, ErrorCode, Line, Source};
use crate::modules::LoadedModule;

/// A parsed name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FunctionName {
    /// Only in a module of this name.
    module: Option<String>,
    /// The last parts of the name, the method's own last.
    parts: Vec<Part>,
    /// The parameter types, if an overload was chosen.
    parameters: Option<Vec<String>>,
    /// The type that a conversion operator converts to.
    result: Option<String>,
    /// Whether these are an indexer's, which its `set` has before the value.
    in_brackets: bool,
    /// For which types a generic method is meant, which no name in metadata says.
    type_arguments: Vec<String>,
}

/// A name and what stands behind the parenthesis that opens its parameters; a tuple that a conversion gives is of the name.
fn split_parameters(text: &str) -> Option<(&str, &str)> {
    let (name, list) = text.split_once('(')?;
    let words = name.trim_end();
    let words = words.strip_suffix(" checked").unwrap_or(words).trim_end();
    if !words.ends_with("operator") {
        return Some((name, list));
    }
    let mut depth = 1_u32;
    let end = list.find(|it| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let Some(end) = end else {
        return Some((name, list));
    };
    let behind = name.len() + 1 + end + 1;
    let at = behind + text.get(behind..)?.find('(')?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The type arguments of a name that are types, not the `T` of a declaration.
fn type_arguments(name: &str) -> Vec<String> {
    let parameter = |it: &str| {
        let mut letters = it.chars();
        let begins = letters.next() == Some('T');
        it.is_empty() || begins && letters.next().is_none_or(|it| !it.is_lowercase())
    };
    let lists = name.split('<').skip(1);
    let arguments = lists.flat_map(|list| list.split(['>', ','])).map(str::trim);
    let types =
        arguments.filter(|it| !parameter(it.trim_start_matches('.')) && !it.starts_with('.'));
    types
        .filter(|_| name.contains('>'))
        .map(str::to_owned)
        .collect()
}

impl FunctionName {
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let bad = |message: String| {
            Error::new(ErrorCode::InvalidParameter, message)
                .hint("write Namespace.Type.Method, Type.Method or Method; Type.Method(int, string) for one overload; module.dll!Type.Method for one module")
        };
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return Err(bad(
                "a function breakpoint needs the name of a method".into()
            ));
        }
        let (module, rest) = match trimmed.split_once('!') {
            Some((module, rest)) if !module.contains("operator") && !module.contains('(') => {
                (Some(module.trim().to_owned()), rest.trim())
            }
            _ => (None, trimmed),
        };
        let (name, mut parameters) = match split_parameters(rest) {
            Some((name, list)) => {
                let list = list
                    .strip_suffix(')')
                    .ok_or_else(|| bad(format!("{trimmed:?}: the parameter list is not closed")))?;
                (name.trim().to_owned(), Some(signature::split(list)))
            }
            None if rest.ends_with(')') && !rest.contains('(') => {
                return Err(bad(format!(
                    "{trimmed:?}: the parameter list is not opened"
                )));
            }
            None => (rest.to_owned(), None),
        };
        let mut name = name;
        let mut in_brackets = false;
        // An indexer has its parameters in brackets.
        if let Some((before, after)) = name.split_once("this[") {
            let (list, after) = after
                .split_once(']')
                .ok_or_else(|| bad(format!("{trimmed:?}: the parameter list is not closed")))?;
            let list = signature::split(list);
            in_brackets = parameters.is_none();
            parameters = parameters.or((!list.is_empty()).then_some(list));
            name = format!("{before}this{after}");
        }
        let operator = split_operator(&name);
        let is_wild = |text: &str| text.contains(['*', '?']);
        if operator.is_none() && is_wild(&name) || module.as_deref().is_some_and(is_wild) {
            return Err(bad(format!(
                "{trimmed:?}: wildcards are not supported; search the symbols for the names you mean, then set one breakpoint for each"
            )));
        }
        let is_operator = operator.is_some();
        let (parts, result) = match operator {
            Some((before, operator, result)) => {
                let mut parts = split_name(before);
                parts.push(Part::new(&operator));
                (parts, result)
            }
            None => (without_keyword(split_name(&name)), None),
        };
        let surplus = parts.iter().find(|part| part.has_more_than_a_name());
        if let Some(surplus) = surplus.filter(|_| !is_operator) {
            return Err(bad(format!(
                "{trimmed:?}: {:?} is more than a name; leave out modifiers and the return type",
                surplus.name
            )));
        }
        if parts.is_empty() || parts.iter().any(|part| part.name.is_empty()) {
            return Err(bad(format!("{trimmed:?} is not the name of a method")));
        }
        Ok(Self {
            module,
            parts,
            parameters,
            in_brackets,
            result,
            type_arguments: match is_operator {
                true => Vec::new(),
                false => type_arguments(&name),
            },
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The same name for every overload, in the module of this file name if it does not name one.
    pub(super) fn in_module(&self, file_name: &str) -> Self {
        let mut name = self.any_overload();
        name.module.get_or_insert_with(|| file_name.to_owned());
        name
    }

    /// Why nothing was found of a name, as far as loaded modules tell.
    pub(crate) fn not_found(name: &str) -> String {
        let is_bare = Self::parse(name).is_ok_and(|it| it.parts.len() == 1 && it.module.is_none());
        let searched = if is_bare { " with symbols" } else { "" };
        format!("no loaded module{searched} has a method {name}")
    }

    /// The same name for every overload.
    pub(super) fn any_overload(&self) -> Self {
        Self {
            module: self.module.clone(),
            parts: self.parts.clone(),
            parameters: None,
            in_brackets: false,
            result: None,
            type_arguments: self.type_arguments.clone(),
        }
    }

    /// What a module has of that name.
    pub(super) fn find(&self, module: &LoadedModule, around: Surroundings<'_>) -> Offer {
        let methods = self.methods(module, around);
        let opened = match module.metadata(around.process) {
            Ok(opened) => opened,
            Err(reason) if self.may_be_in(&module.file_name()) => {
                let hint = format!("{} cannot be searched: {reason}", module.file_name());
                return Offer::Nothing { hint: Some(hint) };
            }
            Err(_) => return Offer::NOTHING,
        };
        let pdb = module.symbols(around.process).ok().map(Symbols::pdb);
        let mut found = Vec::new();
        let mut refused = None;
        for method in methods {
            let body = pdb
                .and_then(|pdb| pdb.move_next_method(method).ok().flatten())
                .unwrap_or(method);
            if !matches!(opened.body(body), Ok(Some(_))) {
                let name = module.method_name(around.process, method);
                refused = refused.or(Some(Error::new(
                    ErrorCode::NotSupported,
                    format!("{name} has no code of its own: it is abstract, native or made by the runtime"),
                )
                .hint("set it on a method that implements or calls it")));
                continue;
            }
            if let Some(error) = obstacle(module, body, around) {
                refused = Some(error);
                continue;
            }
            let (offset, source) = match module.first_point(around.process, body) {
                Some((offset, path, line, column)) => (
                    offset,
                    Some(Source {
                        path,
                        line: Line(line),
                        column: Some(column),
                    }),
                ),
                None => (IlOffset(0), None),
            };
            let shown = BoundLocation {
                module: module.file_name(),
                method: module.method_name(around.process, body),
                source,
                il_offset: offset.0,
            };
            let mut notes = module_notes(module, around);
            if self.has_type_arguments(opened.metadata(), method) {
                notes.push(
                    "type arguments are not looked at: it stops for all; a condition such as `typeof(T) == typeof(int)` chooses".into(),
                );
            }
            found.push(Found {
                method: body,
                offset,
                shown,
                moved: None,
                notes,
            });
        }
        match refused {
            Some(error) if found.is_empty() => Offer::Refused {
                document: None,
                error,
            },
            _ if found.is_empty() => Offer::NOTHING,
            _ => Offer::Code {
                document: None,
                found,
            },
        }
    }

    /// The methods of a module that the name means.
    pub(super) fn methods(&self, module: &LoadedModule, around: Surroundings<'_>) -> Vec<Token> {
        if !self.may_be_in(&module.file_name()) {
            return Vec::new();
        }
        let has_symbols =
            !module.is_framework_as_shipped() && module.symbols(around.process).is_ok();
        if !has_symbols && !self.may_be_in_framework(&module.file_name()) {
            return Vec::new();
        }
        let Ok(opened) = module.metadata(around.process) else {
            return Vec::new();
        };
        let metadata = opened.metadata();
        // For the same reason the type must be named in code that is not the user's. Most modules have none of that name.
        if !has_symbols && self.parts.len() > 1 {
            let mut types = self.type_parts();
            if !types.any(|name| module.type_names(metadata).may_contain(name)) {
                return Vec::new();
            }
        }
        let tokens = metadata.tokens(metadata::tables::Table::Method);
        let written_in = |it| match has_symbols {
            true => module.local_functions_around(around.process, it),
            false => Rc::default(),
        };
        let named: Vec<Token> = tokens
            .filter(|&it| {
                self.could_be(metadata, it)
                    && !metadata.is_extension_declaration(it)
                    && self.is(metadata, it, &written_in(it))
            })
            .collect();
        let exact: Vec<Token> = named
            .iter()
            .copied()
            .filter(|&it| self.fits(metadata, it, signature::Rule::Exact))
            .collect();
        if !exact.is_empty() {
            return exact;
        }
        let fits = |it: &Token| self.fits(metadata, *it, signature::Rule::IgnoreNullable);
        named.into_iter().filter(fits).collect()
    }

    /// Whether a module that is not the user's, of this file name, may have it. A bare method name means the user's own
    /// code: the framework has thousands of methods called `Add`.
    pub(crate) fn may_be_in_framework(&self, file_name: &str) -> bool {
        self.may_be_in(file_name) && (self.parts.len() > 1 || self.module.is_some())
    }

    /// The parts that may name the method's type; none if only the method is named.
    pub(crate) fn type_parts(&self) -> impl Iterator<Item = &str> {
        self.parts
            .iter()
            .rev()
            .skip(1)
            .map(|part| part.name.as_str())
    }

    fn may_be_in(&self, file_name: &str) -> bool {
        let Some(wanted) = &self.module else {
            return true;
        };
        let stem = file_name
            .strip_suffix(".dll")
            .or_else(|| file_name.strip_suffix(".exe"))
            .unwrap_or(file_name);
        wanted.eq_ignore_ascii_case(file_name) || wanted.eq_ignore_ascii_case(stem)
    }

    /// A quick look at the metadata name, to avoid building names for every method of a large module.
    fn could_be(&self, metadata: Metadata<'_>, method: Token) -> bool {
        let Ok(method) = metadata.method(method) else {
            return false;
        };
        let (Ok(name), Some(last)) = (method.name_bytes(), self.parts.last()) else {
            return false;
        };
        let contains = |part: &str| {
            name.windows(part.len().max(1))
                .any(|window| window == part.as_bytes())
        };
        match last.name.as_str() {
            "get" | "set" | "init" | "add" | "remove" | "this" => {
                contains("et_") || contains("add_") || contains("remove_")
            }
            "AnonymousMethod" => contains("b__"),
            // Local functions of that name may be there, too.
            _ if last.name.contains("operator") => contains("op_") || contains(&last.name),
            _ if last.name.starts_with('~') => name == b"Finalize",
            _ if name == b".ctor" => {
                let owner = method.declaring_type().and_then(|it| metadata.type_def(it));
                last.name == ".ctor"
                    || owner
                        .and_then(|it| it.name())
                        .is_ok_and(|owner| contains_name(&owner, &last.name))
            }
            _ => contains(&last.name),
        }
    }

    /// Whether a method is called so.
    fn is(&self, metadata: Metadata<'_>, method: Token, around: &[Token]) -> bool {
        names_of(metadata, method, around)
            .iter()
            .any(|known| ends_with(known, &self.parts))
    }

    /// Whether it has type arguments that are no names of a method's own type parameters.
    fn has_type_arguments(&self, metadata: Metadata<'_>, method: Token) -> bool {
        if self.type_arguments.is_empty() {
            return false;
        }
        let owner = metadata.method(method).and_then(|it| it.declaring_type());
        let declared = GenericNames::declared(metadata, owner.ok(), Some(method));
        let mut arguments = self.type_arguments.iter();
        arguments.any(|it| !declared.of_type.contains(it) && !declared.of_method.contains(it))
    }

    fn fits(&self, metadata: Metadata<'_>, method: Token, rule: signature::Rule) -> bool {
        let parameters = self.parameters.as_deref().is_none_or(|wanted| {
            let extra = usize::from(self.in_brackets && is_setter(metadata, method));
            signature::has_parameters(metadata, method, wanted, extra, rule)
        });
        let result = self
            .result
            .as_deref()
            .is_none_or(|wanted| signature::has_result(metadata, method, wanted, rule));
        parameters && result
    }
}

/// Every name by which a method may be called, as parts; `around` are the local functions that it is written in.
pub(super) fn names_of(metadata: Metadata<'_>, method: Token, around: &[Token]) -> Vec<Vec<Part>> {
    let mut all = names_inside(metadata, method, around);
    if !around.is_empty() {
        // They may be left out.
        all.extend(names_inside(metadata, method, &[]));
    }
    all
}

fn names_inside(metadata: Metadata<'_>, method: Token, around: &[Token]) -> Vec<Vec<Part>> {
    let (names, style) = (GenericNames::default(), Style { namespaces: true });
    let Ok(full) = metadata.method_name_inside(method, around, &names, style) else {
        return Vec::new();
    };
    let raw = metadata.method(method).and_then(|it| it.name());
    let raw = raw.map(|it| it.into_owned()).unwrap_or_default();
    let mut owner = split_name(&full.owner);
    if let [only] = owner.as_slice()
        && let Some(ty) = only.keyword_type()
    {
        owner = vec![Part::new("System"), Part::new(ty)];
    }
    let with = |parts: &[Part]| {
        let mut all = owner.clone();
        all.extend_from_slice(parts);
        all
    };
    let own_name = owner.last().map(|it| it.name.clone()).unwrap_or_default();
    let mut path: Vec<Part> = Vec::new();
    for part in &full.path {
        match split_operator(part) {
            Some((before, operator, _)) => {
                path.extend(
                    split_name(before)
                        .into_iter()
                        .filter(|it| !it.name.is_empty()),
                );
                path.push(Part::new(&operator));
            }
            None if part.starts_with('.') => path.push(Part::new(part)),
            None => path.extend(split_name(part)),
        }
    }
    let mut all = vec![with(&path)];
    // Without the type parameters of the extension block that it is declared in.
    if let Some(last) = path.last().filter(|it| it.arity.is_some())
        && let Some(member) = metadata.extension_member(method)
    {
        let mut declared = path.clone();
        let arity = last.arity.map(|it| it.saturating_sub(member.arity));
        declared.pop();
        declared.push(Part {
            name: last.name.clone(),
            arity,
        });
        all.push(with(&declared));
    }
    // The code of an async method or iterator is found by the method that the user wrote.
    if raw != "MoveNext" {
        all.push(with(&[Part::new(&raw)]));
    }
    match raw.as_str() {
        // C# calls a constructor by the name of its type.
        ".ctor" => all.push(with(&[Part::new(&own_name)])),
        "Finalize" => all.push(with(&[Part::new(&format!("~{own_name}"))])),
        _ => {}
    }
    let (path, accessor) = match path.split_last() {
        Some((last, rest))
            if !rest.is_empty()
                && matches!(last.name.as_str(), "get" | "set" | "add" | "remove") =>
        {
            // A property or event stands for its accessors.
            all.push(with(rest));
            (rest.to_vec(), Some(last.clone()))
        }
        _ => (path, None),
    };
    let mut ends = Vec::new();
    if let Some(last) = path.last() {
        // Explicit implementations and local functions, with less of what they are explicit for or local to.
        if last.name != "AnonymousMethod" {
            ends.extend((1..path.len()).filter_map(|from| path.get(from..).map(<[Part]>::to_vec)));
        }
        let of_property = |it: &Part| matches!(it.name.as_str(), "get" | "set");
        if accessor.as_ref().is_some_and(of_property) && is_indexer(metadata, method) {
            ends.push(vec![Part::new("this")]);
        }
    }
    for end in ends {
        all.push(with(&end));
        if let Some(accessor) = &accessor {
            let mut end = end;
            end.push(accessor.clone());
            all.push(with(&end));
        }
    }
    if accessor.as_ref().is_some_and(|it| it.name == "set") {
        let sets: Vec<Vec<Part>> = all
            .iter()
            .filter(|it| it.last() == accessor.as_ref())
            .cloned()
            .collect();
        for mut name in sets {
            name.pop();
            name.push(Part::new("init"));
            all.push(name);
        }
    }
    all
}

/// An accessor that takes the value of a property behind its arguments.
fn is_setter(metadata: Metadata<'_>, method: Token) -> bool {
    let name = metadata.method(method).and_then(|it| it.name_bytes());
    name.is_ok_and(|name| name.windows(4).any(|it| it == b"set_"))
}

/// An accessor of a property that takes arguments.
fn is_indexer(metadata: Metadata<'_>, method: Token) -> bool {
    let count = || -> metadata::Result<usize> {
        let method = metadata.method(method)?;
        let count = method.signature()?.parameters.len();
        Ok(count.saturating_sub(usize::from(is_setter(metadata, method.token()))))
    };
    count().is_ok_and(|count| count > 0)
}

/// Whether a type's name, with arity and perhaps a file's mark, may be the one that was written.
fn contains_name(known: &str, wanted: &str) -> bool {
    known
        .split_once(ARITY)
        .map_or(known, |(bare, _)| bare)
        .ends_with(wanted)
}

/// Whether a name is what was asked for, with more in front.
pub(super) fn ends_with(known: &[Part], wanted: &[Part]) -> bool {
    known.len() >= wanted.len()
        && known
            .iter()
            .rev()
            .zip(wanted.iter().rev())
            .all(|(known, wanted)| known.is(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_arguments_are_told_from_type_parameters() {
        for name in ["Box<int>.Conv", "V.G<List<T>>", "Map<T, string>.Add"] {
            assert!(!type_arguments(name).is_empty(), "{name}");
        }
        for name in [
            "Box<T>.Conv",
            "Map<TKey, TValue>.Add",
            "Box<>.Get",
            "V.G",
            "A<T1>.B<T2>",
        ] {
            assert!(type_arguments(name).is_empty(), "{name}");
        }
    }

    #[track_caller]
    fn check(text: &str, module: Option<&str>, parts: &[&str], parameters: Option<&[&str]>) {
        let parsed = FunctionName::parse(text).expect("a name");
        assert_eq!(parsed.module.as_deref(), module, "{text}");
        let shown: Vec<String> = parsed
            .parts
            .iter()
            .map(|it| match it.arity {
                Some(arity) => format!("{}`{arity}", it.name),
                None => it.name.clone(),
            })
            .collect();
        assert_eq!(shown, parts, "{text}");
        let expected = parameters.map(|list| list.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(parsed.parameters, expected, "{text}");
    }

    #[test]
    fn names_are_taken_apart() {
        check("Ns.@class.@int", None, &["Ns", "class", "int"], None);
        check("Main", None, &["Main"], None);
        check("Shop.Cart.Total", None, &["Shop", "Cart", "Total"], None);
        check(
            "shop.dll!Cart.Total()",
            Some("shop.dll"),
            &["Cart", "Total"],
            Some(&[]),
        );
        check(
            "Cart.Add(Dictionary<string, int>, int[,])",
            None,
            &["Cart", "Add"],
            Some(&["Dictionary<string, int>", "int[,]"]),
        );
        check("Box<T>.Put", None, &["Box`1", "Put"], None);
        check("Map<K, V>.Put<T>", None, &["Map`2", "Put`1"], None);
        check("Map<,>.Put", None, &["Map`2", "Put"], None);
        check("Box`1.Put", None, &["Box`1", "Put"], None);
        check("Outer+Inner.Run", None, &["Outer", "Inner", "Run"], None);
        check("Cart..ctor", None, &["Cart", ".ctor"], None);
        check("Cart..cctor", None, &["Cart", ".cctor"], None);
        check(".ctor", None, &[".ctor"], None);
        check("Cart.~Cart", None, &["Cart", "~Cart"], None);
        check("Cart.Name.get", None, &["Cart", "Name", "get"], None);
        check("Money.operator +", None, &["Money", "operator +"], None);
        check("Money.operator int", None, &["Money", "operator"], None);
        check("operator checked int", None, &["operator checked"], None);
        check("operator true", None, &["operator true"], None);
        check(
            "Money.operator >>>=",
            None,
            &["Money", "operator >>>="],
            None,
        );
        check(
            "Money.implicit operator (int, string)(Money)",
            None,
            &["Money", "implicit operator"],
            Some(&["Money"]),
        );
        check(
            "Money.operator (int, string)",
            None,
            &["Money", "operator"],
            None,
        );
        check("Sums.operator <<T>", None, &["Sums", "operator <"], None);
        check(
            "Sums.operator true<T>",
            None,
            &["Sums", "operator true"],
            None,
        );
        check(
            "Money.operator<<(Money, int)",
            None,
            &["Money", "operator <<"],
            Some(&["Money", "int"]),
        );
        check(
            "app!Money.operator !=",
            Some("app"),
            &["Money", "operator !="],
            None,
        );
        check("operator *", None, &["operator *"], None);
        check(
            "M.operator checked -",
            None,
            &["M", "operator checked -"],
            None,
        );
        check(
            "M.explicit operator checked int",
            None,
            &["M", "explicit operator checked"],
            None,
        );
        check("string.Concat", None, &["System", "String", "Concat"], None);
        check(
            "Text.string.Concat",
            None,
            &["Text", "string", "Concat"],
            None,
        );
        check(
            "Money.implicit operator int",
            None,
            &["Money", "implicit operator"],
            None,
        );
        check(
            "Grid.this[int, int]",
            None,
            &["Grid", "this"],
            Some(&["int", "int"]),
        );
        check("Grid.this[].get", None, &["Grid", "this", "get"], None);
        check(
            "My.operatorTable.Run",
            None,
            &["My", "operatorTable", "Run"],
            None,
        );
    }

    #[test]
    fn wildcards_and_nonsense_are_refused_with_a_hint() {
        for text in [
            "",
            "*",
            "Cart.*",
            "Cart.Ad?",
            "*!Cart.Add",
            "Cart.Add(int",
            "Cart.Add)",
            "static void Main()",
            "int Cart.Add(int)",
            "Cart::Add",
            "a..b",
            "Grid.this[int",
            ".",
        ] {
            let error = FunctionName::parse(text).expect_err(text);
            assert_eq!(error.code, ErrorCode::InvalidParameter, "{text}");
            assert!(error.hint.is_some());
        }
    }
}
