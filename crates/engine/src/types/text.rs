//! Types as C# writes them.

use std::borrow::Cow;
use std::rc::Rc;

use metadata::csharp::{GenericNames, Style};
use metadata::pdb::Pdb;
use metadata::{Metadata, Token};

use super::{Named, Type, Types};

/// Longer text helps nobody.
const MAX_TEXT: usize = 4 * 1024;
/// Types nest less deeply.
const MAX_DEPTH: u32 = 32;
/// The elements of a tuple that are not in its rest.
pub(super) const TUPLE_LENGTH: usize = 7;

/// What attributes and debug information add to a declared type; lists are in depth-first order of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TypeNotes {
    /// Names of tuple elements.
    pub(crate) tuple_names: Vec<Option<String>>,
    /// Which parts are `dynamic`.
    pub(crate) dynamic: Vec<bool>,
}

impl TypeNotes {
    /// Those of a field, parameter or property.
    pub(crate) fn of(metadata: Metadata<'_>, token: Token) -> Self {
        let annotations = metadata.annotations(token, None);
        Self {
            tuple_names: owned(annotations.tuple_names),
            dynamic: annotations.dynamic,
        }
    }

    /// Those of a local variable or constant.
    pub(crate) fn of_local(pdb: Pdb<'_>, token: Token) -> Self {
        Self {
            tuple_names: owned(
                pdb.local_tuple_names(token)
                    .ok()
                    .flatten()
                    .unwrap_or_default(),
            ),
            dynamic: pdb
                .local_dynamic_flags(token)
                .ok()
                .flatten()
                .unwrap_or_default(),
        }
    }
}

fn owned(names: Vec<Option<Cow<'_, str>>>) -> Vec<Option<String>> {
    let names = names.into_iter();
    names.map(|name| name.map(Cow::into_owned)).collect()
}

impl Types<'_> {
    /// A type as C# writes it, without namespaces: `Dictionary<string, List<(int, string)>>`.
    pub(crate) fn text(self, ty: &Type) -> Rc<str> {
        if let Some(known) = self.cache.texts.get(ty) {
            return known;
        }
        let text: Rc<str> = self.text_with(ty, &TypeNotes::default(), false).into();
        self.cache.texts.insert(ty.clone(), text.clone());
        text
    }

    /// A type as C# writes it, with namespaces.
    pub(crate) fn full_text(self, ty: &Type) -> String {
        self.text_with(ty, &TypeNotes::default(), true)
    }

    /// A declared type: with the names of tuple elements, and `dynamic`.
    pub(crate) fn text_with(self, ty: &Type, notes: &TypeNotes, namespaces: bool) -> String {
        let mut writer = Writer {
            types: self,
            style: Style { namespaces },
            names: notes.tuple_names.iter(),
            dynamic: notes.dynamic.iter(),
            depth: 0,
            parts: 0,
        };
        let mut text = writer.ty(ty);
        if text.len() > MAX_TEXT {
            let cut = text.floor_char_boundary(MAX_TEXT);
            text.truncate(cut);
            text.push('…');
        }
        text
    }

    /// The elements of a value tuple, those in its rest included; `None` for other types.
    pub(crate) fn tuple_elements(self, ty: &Type) -> Option<Vec<Type>> {
        let mut elements = Vec::new();
        let mut next = ty;
        loop {
            let named = next.as_named().filter(|it| self.is_tuple(it))?;
            match named.arguments.split_at_checked(TUPLE_LENGTH) {
                Some((own, [rest])) => {
                    elements.extend_from_slice(own);
                    next = rest;
                }
                _ => {
                    elements.extend_from_slice(&named.arguments);
                    return Some(elements);
                }
            }
        }
    }

    fn is_tuple(self, named: &Named) -> bool {
        let length = named.arguments.len();
        (1..=8).contains(&length)
            && Some(named.module) == self.core_module()
            && self.is_named(named, "System", &format!("ValueTuple`{length}"))
    }
}

struct Writer<'w, 't> {
    types: Types<'t>,
    style: Style,
    names: std::slice::Iter<'w, Option<String>>,
    dynamic: std::slice::Iter<'w, bool>,
    depth: u32,
    /// How many types were written.
    parts: usize,
}

impl Writer<'_, '_> {
    fn ty(&mut self, ty: &Type) -> String {
        if self.depth >= MAX_DEPTH {
            return "?".into();
        }
        // What comes behind as many types as there may be letters is cut off: types that are made of others twice grow
        // faster than anybody can read.
        self.parts += 1;
        if self.parts > MAX_TEXT {
            return "…".into();
        }
        self.depth += 1;
        let text = self.ty_at_depth(ty);
        self.depth -= 1;
        text
    }

    fn ty_at_depth(&mut self, ty: &Type) -> String {
        let is_dynamic = self.dynamic.next().copied().unwrap_or(false);
        match ty {
            Type::Primitive(metadata::signature::Primitive::Object) if is_dynamic => {
                "dynamic".into()
            }
            Type::Primitive(primitive) => primitive.keyword().into(),
            Type::Named(named) => self.named(ty, named),
            Type::SzArray(_) | Type::Array { .. } => self.array(ty),
            Type::Pointer(inner) => self.ty(inner) + "*",
            Type::ByRef(inner) => "ref ".to_owned() + &self.ty(inner),
            Type::Function(function) => {
                let returns = self.ty(&function.returns);
                let mut text = String::from(if function.is_managed {
                    "delegate*<"
                } else {
                    "delegate* unmanaged<"
                });
                for parameter in &function.parameters {
                    text.push_str(&self.ty(parameter));
                    text.push_str(", ");
                }
                text + &returns + ">"
            }
            Type::Variable(number) => format!("!{number}"),
            Type::MethodVariable(number) => format!("!!{number}"),
            Type::Missing { name, .. } => match name.rsplit_once('.') {
                Some((_, bare)) if !self.style.namespaces => bare.into(),
                _ => name.to_string(),
            },
        }
    }

    /// C# writes the ranks of arrays of arrays from the outside in.
    fn array(&mut self, outermost: &Type) -> String {
        let mut ranks = String::new();
        let mut ty = outermost;
        loop {
            match ty {
                Type::SzArray(element) => {
                    ranks.push_str("[]");
                    ty = element;
                }
                Type::Array { element, rank } => {
                    let commas = ",".repeat((*rank as usize).saturating_sub(1).min(32));
                    let mark = if *rank == 1 { "*" } else { "" };
                    ranks.push_str(&format!("[{mark}{commas}]"));
                    ty = element;
                }
                _ => break,
            }
            if ty.element().is_some() {
                self.dynamic.next();
            }
        }
        self.ty(ty) + &ranks
    }

    fn named(&mut self, ty: &Type, named: &Named) -> String {
        if let Some(inner) = self.types.nullable_of(ty) {
            return self.ty(&inner) + "?";
        }
        if named.arguments.len() > 1
            && let Some(elements) = self.types.tuple_elements(ty)
        {
            return self.tuple(&elements);
        }
        let arguments = named.arguments.iter().map(|it| self.ty(it)).collect();
        let Ok(module) = self.types.metadata(named.module) else {
            return "?".into();
        };
        let metadata = module.metadata();
        let mut names = GenericNames {
            of_type: arguments,
            ..GenericNames::default()
        };
        // What stands for nothing is called as the definition calls it.
        if ty.is_open() {
            let declared = GenericNames::declared(metadata, Some(named.token), None).of_type;
            for (name, (argument, index)) in names
                .of_type
                .iter_mut()
                .zip(named.arguments.iter().zip(0_u32..))
            {
                if let Some(declared) = declared.get(index as usize)
                    && *argument == Type::Variable(index)
                {
                    name.clone_from(declared);
                }
            }
        }
        metadata.type_def_text(named.token, &names, self.style)
    }

    fn tuple(&mut self, elements: &[Type]) -> String {
        let names: Vec<_> = self.names.by_ref().take(elements.len()).collect();
        let mut text = String::from("(");
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                text.push_str(", ");
            }
            if index > 0 && index % TUPLE_LENGTH == 0 {
                // The rest counts as a part of its own, with names that are never given.
                self.dynamic.next();
                let left = elements.len() - index;
                self.names.by_ref().take(left).for_each(drop);
            }
            text.push_str(&self.ty(element));
            if let Some(Some(name)) = names.get(index) {
                text.push(' ');
                text.push_str(name);
            }
        }
        text + ")"
    }
}
