//! The names that methods have: every form by which a person may call one, as parts.

use metadata::csharp::{GenericNames, Style};
use metadata::{Metadata, Token};

use super::name_parts::{ARITY, Part, split_name, split_operator};

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
        let mut parts = match split_operator(part) {
            Some(operator) => {
                let mut parts = split_name(operator.before);
                parts.retain(|it| !it.name.is_empty());
                parts.push(Part::new(&operator.name));
                parts
            }
            None => split_name(part),
        };
        // What an explicit implementation is explicit for has no parameters of the method's own.
        if let Some((_, interface)) = parts.split_last_mut() {
            for part in interface {
                part.of_interface = std::mem::take(&mut part.parameters);
            }
        }
        path.extend(parts);
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
            ..Part::default()
        });
        all.push(with(&declared));
    }
    // The code of an async method or iterator is found by the method that the user wrote.
    if raw != "MoveNext" {
        all.push(with(&[Part::new(&raw)]));
    }
    // C# calls constructors and finalizers by the name of their type.
    if let Some((first, inside)) = path.split_first() {
        let own = match first.name.as_str() {
            ".ctor" => Some(own_name),
            "Finalize" => Some(format!("~{own_name}")),
            _ => None,
        };
        all.extend(own.map(|own| with(&[&[Part::new(&own)], inside].concat())));
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
pub(super) fn is_setter(metadata: Metadata<'_>, method: Token) -> bool {
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
pub(super) fn contains_name(known: &str, wanted: &str) -> bool {
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

/// What stands for the generic parameters of a method: the arguments of a wanted name where it has some, else as declared.
pub(super) fn given(declared: &GenericNames, known: &[Part], wanted: &[Part]) -> GenericNames {
    let mut names = declared.clone();
    // Both lists end with the method's own parameters.
    let mut slots = names.of_type.iter_mut().chain(&mut names.of_method).rev();
    let mut wanted = wanted.iter().rev();
    for known in known.iter().rev() {
        let wanted = wanted
            .next()
            .filter(|it| it.parameters.len() == known.parameters.len());
        let arguments = wanted
            .map(|it| it.parameters.as_slice())
            .unwrap_or_default();
        for at in (0..known.parameters.len()).rev() {
            let slot = slots.next();
            if let (Some(slot), Some(argument)) = (slot, arguments.get(at))
                && !argument.is_empty()
            {
                argument.clone_into(slot);
            }
        }
    }
    names
}
