//! Methods by the names that people write: `Ns.Type.Method`, `Method`, `Type.Method(int, string)`, `module!…`.
//!
//! A name matches a method if its parts are the last parts of the method's full name, so that as much of the
//! namespace and of the outer types may be given as is needed. Generic arity and arguments may be given or left out.
//! What C# has several names for (accessors, constructors, operators, explicit implementations) is found by each of them.

use std::rc::Rc;

use metadata::csharp::GenericNames;
use metadata::{IlOffset, Metadata, Symbols, Token};

use super::implementations::Slot;
use super::known_names::{contains_name, ends_with, given, is_setter, names_of};
use super::name_parts::{
    Part, is_wild, split_name, split_operator, split_parameters, without_keyword,
};
use super::offer::{Found, Offer, Surroundings, is_optimized, module_notes, obstacle};
use super::signature;
use crate::api::{BoundLocation, Error, ErrorCode, Line, Source};
use crate::modules::LoadedModule;

/// What is said where type arguments do not choose.
pub(super) const TYPE_ARGUMENTS: &str = "type arguments are not looked at: it stops for all; a condition such as `typeof(T) == typeof(int)` chooses";

/// A method that a name means.
#[derive(Debug, Clone)]
pub(super) struct Meant {
    pub(super) token: Token,
    /// Those of its names that the wanted one is the end of.
    names: Vec<Vec<Part>>,
}

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
        let rest = rest.strip_prefix("global::").unwrap_or(rest);
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
        if operator.is_none() && is_wild(&name) || module.as_deref().is_some_and(is_wild) {
            return Err(bad(format!(
                "{trimmed:?}: wildcards are not supported; search the symbols for the names you mean, then set one breakpoint for each"
            )));
        }
        let is_operator = operator.is_some();
        let (parts, result) = match operator {
            Some(operator) => {
                let mut parts = split_name(operator.before);
                parts.push(Part::new(&operator.name));
                parts.extend(split_name(operator.inside));
                (parts, operator.result)
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
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether it means whatever another name of the same method means, also in modules that are still to come: it says no
    /// more than that.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let no_more =
            |own: &Option<String>, others: &Option<String>| own.is_none() || own == others;
        let parameters = self.parameters.is_none() || self.parameters == other.parameters;
        // `P.X.get` and `P.get_X` are one name; so are `P.P` and `P..ctor`.
        let last = |it: &Self| it.parts.last().map(|it| it.name.clone());
        let is_alias = last(self) != last(other) && self.depth() <= other.depth();
        parameters
            && no_more(&self.module, &other.module)
            && no_more(&self.result, &other.result)
            && (is_alias || ends_with(&other.parts, &self.parts))
    }

    fn depth(&self) -> usize {
        const ACCESSORS: [&str; 4] = ["get_", "set_", "add_", "remove_"];
        let accessor = self.parts.last();
        let accessor = accessor.filter(|it| ACCESSORS.iter().any(|by| it.name.starts_with(by)));
        self.parts.len() + usize::from(accessor.is_some())
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
        let metadata = opened.metadata();
        let (mut found, mut slots, mut refused) = (Vec::new(), Vec::new(), None);
        let is_users = module.is_users(around.process);
        for method in &methods {
            // The framework has hundreds of implementations of its own interfaces.
            if !is_users && self.names_only_an_interface(metadata, method.token) {
                continue;
            }
            let slot = self.slot(module, metadata, method, around);
            match code_of(module, method.token, around) {
                Ok(mut code) => {
                    if self.has_type_arguments(&method.names)
                        && let Some(first) = code.first_mut()
                    {
                        first.notes.push(TYPE_ARGUMENTS.into());
                    }
                    found.extend(code);
                    slots.extend(slot);
                }
                Err(error) => match slot.filter(|it| !it.has_code) {
                    Some(slot) => slots.push(slot),
                    None => refused = Some(error),
                },
            }
        }
        match refused {
            _ if !(found.is_empty() && slots.is_empty()) => Offer::Code {
                document: None,
                found,
                slots,
            },
            Some(error) => Offer::Refused {
                document: None,
                error,
            },
            None => Offer::NOTHING,
        }
    }

    /// Whether a method is an explicit implementation, and not its type is named but the interface.
    fn names_only_an_interface(&self, metadata: Metadata<'_>, method: Token) -> bool {
        let names = || -> metadata::Result<bool> {
            let method = metadata.method(method)?;
            let owner = metadata.type_def(method.declaring_type()?)?.name()?;
            let is_explicit = method.name()?.trim_start_matches('.').contains('.');
            let mut types = self.type_parts();
            Ok(is_explicit && !types.any(|it| contains_name(&owner, it)))
        };
        names().unwrap_or(false)
    }

    /// A method as one that others are written for, if it is.
    fn slot(
        &self,
        module: &LoadedModule,
        metadata: Metadata<'_>,
        method: &Meant,
        around: Surroundings<'_>,
    ) -> Option<Slot> {
        let mut slot = Slot::of(module, metadata, method.token, around.process)?;
        let owner = metadata
            .method(method.token)
            .and_then(|it| it.declaring_type());
        let declared = GenericNames::declared(metadata, owner.ok(), Some(method.token));
        let given = given(&declared, method.names.first()?, &self.parts);
        let is_given = |(known, wanted): (&String, &String)| is_argument(known, wanted);
        let arguments = declared.of_type.iter().zip(&given.of_type);
        slot.arguments = arguments
            .map(|it| is_given(it).then(|| it.1.clone()))
            .collect();
        let mut of_method = declared.of_method.iter().zip(&given.of_method);
        let are_given = of_method.any(is_given);
        slot.notes.extend(are_given.then(|| TYPE_ARGUMENTS.into()));
        slot.is_named = self.parts.len() > 1;
        Some(slot)
    }

    /// The methods of a module that the name means.
    pub(super) fn methods(&self, module: &LoadedModule, around: Surroundings<'_>) -> Vec<Meant> {
        if !self.may_be_in(&module.file_name()) {
            return Vec::new();
        }
        let has_symbols = module.is_users(around.process);
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
        let written_in = |it| match has_symbols {
            true => module.local_functions_around(around.process, it),
            false => Rc::default(),
        };
        let tokens = metadata.tokens(metadata::tables::Table::Method);
        let named = tokens
            .filter(|&it| self.could_be(metadata, it) && !metadata.is_extension_declaration(it))
            .map(|token| {
                let mut names = names_of(metadata, token, &written_in(token));
                names.retain(|known| ends_with(known, &self.parts));
                Meant { token, names }
            });
        let named: Vec<Meant> = named.filter(|it| !it.names.is_empty()).collect();
        let fit = |rule| {
            let fitting = named.iter().filter(|it| self.fits(metadata, it, rule));
            fitting.cloned().collect::<Vec<Meant>>()
        };
        let exact = fit(signature::Rule::Exact);
        match exact.is_empty() {
            true => fit(signature::Rule::IgnoreNullable),
            false => exact,
        }
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

    /// Whether it has type arguments that are no names of a method's own type parameters.
    fn has_type_arguments(&self, names: &[Vec<Part>]) -> bool {
        let has = |known: &Vec<Part>| {
            let mut pairs = known.iter().rev().zip(self.parts.iter().rev());
            pairs.any(|(known, wanted)| {
                let mut arguments = known.parameters.iter().zip(&wanted.parameters);
                arguments.any(|(known, wanted)| is_argument(known, wanted))
            })
        };
        !names.is_empty() && names.iter().all(has)
    }

    /// Whether a method of that name has the parameters, as it declares them or for the type arguments that the name has.
    fn fits(&self, metadata: Metadata<'_>, method: &Meant, rule: signature::Rule) -> bool {
        if self.parameters.is_none() && self.result.is_none() {
            return true;
        }
        let token = method.token;
        let owner = metadata.method(token).and_then(|it| it.declaring_type());
        let declared = GenericNames::declared(metadata, owner.ok(), Some(token));
        let fits = |names: &GenericNames| {
            let parameters = self.parameters.as_deref().is_none_or(|wanted| {
                let extra = usize::from(self.in_brackets && is_setter(metadata, token));
                signature::has_parameters(metadata, (token, names), wanted, extra, rule)
            });
            let result = self
                .result
                .as_deref()
                .is_none_or(|wanted| signature::has_result(metadata, (token, names), wanted, rule));
            parameters && result
        };
        let mut named = method.names.iter();
        fits(&declared) || named.any(|known| fits(&given(&declared, known, &self.parts)))
    }
}

/// Whether what was written for a type parameter is no name of one.
fn is_argument(known: &str, wanted: &str) -> bool {
    let mut letters = wanted.trim().chars();
    let begins = letters.next() == Some('T');
    let is_parameter = begins && letters.next().is_none_or(|it| !it.is_lowercase());
    !(wanted.is_empty() || wanted == known || is_parameter)
}

/// Where the code of a method begins, or why no breakpoint can be set there. In an optimised build a call may begin at one of several
/// places.
pub(super) fn code_of(
    module: &LoadedModule,
    method: Token,
    around: Surroundings<'_>,
) -> Result<Vec<Found>, Error> {
    let pdb = module.symbols(around.process).ok().map(Symbols::pdb);
    let body = pdb
        .and_then(|pdb| pdb.move_next_method(method).ok().flatten())
        .unwrap_or(method);
    let opened = module.metadata(around.process);
    if !opened.is_ok_and(|it| matches!(it.body(body), Ok(Some(_)))) {
        let name = module.method_name(around.process, method);
        return Err(Error::new(
            ErrorCode::NotSupported,
            format!("{name} has no code of its own: it is native or made by the runtime"),
        )
        .hint("set it on a method that calls it"));
    }
    if let Some(error) = obstacle(module, body, around) {
        return Err(error);
    }
    let found = |offset: IlOffset, source| Found {
        method: body,
        offset,
        shown: BoundLocation {
            module: module.file_name(),
            method: module.method_name(around.process, body),
            source,
            il_offset: offset.0,
            may_be_passed: is_optimized(module, around),
        },
        moved: None,
        notes: module_notes(module, around),
    };
    let entries = module.entries(around.process, body);
    if entries.is_empty() {
        return Ok(vec![found(IlOffset(0), None)]);
    }
    let with_text = entries.into_iter().map(|(offset, path, line, column)| {
        let source = Source {
            path,
            line: Line(line),
            column: Some(column),
        };
        found(offset, Some(source))
    });
    Ok(with_text.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
