//! Types as C# writes them.

use std::borrow::Cow;

use super::generated::{GeneratedKind, GeneratedName, split_arity, type_display_name};
use super::{Annotations, GenericNames, Nullability, Style};
use crate::signature::{self, ArrayShape, MethodSignature, Primitive, Type};
use crate::tables::{Table, TypeSpecRow};
use crate::token::Token;
use crate::view::Metadata;

/// Longer text helps nobody; type specs that refer to each other could ask for more than memory holds.
const MAX_TEXT: usize = 8 * 1024;
/// Compilers never put a type spec into a type spec; one that holds itself would be decoded again and again.
const MAX_SPECS: u32 = 2;
/// Signatures nest less deeply.
const MAX_DEPTH: u32 = 64;
/// The kind of a signature whose calling conventions are modifiers of its return type.
const UNMANAGED: u8 = 9;

impl Metadata<'_> {
    /// A type as C# writes it.
    #[must_use]
    pub fn type_text(
        self,
        ty: &Type,
        names: &GenericNames,
        annotations: &Annotations<'_>,
        style: Style,
    ) -> String {
        let mut writer = Writer::new(self, names, annotations, style);
        writer.ty(ty);
        writer.finish()
    }

    /// The type that a `TypeDef`, `TypeRef` or `TypeSpec` token names, as C# writes it.
    #[must_use]
    pub fn type_token_text(self, token: Token, names: &GenericNames, style: Style) -> String {
        let annotations = Annotations::default();
        let mut writer = Writer::new(self, names, &annotations, style);
        writer.token(token);
        writer.finish()
    }

    /// A `TypeDef` with the names of its generic parameters, or what stands for them in `names`.
    #[must_use]
    pub fn type_def_text(self, token: Token, names: &GenericNames, style: Style) -> String {
        let annotations = Annotations::default();
        let mut writer = Writer::new(self, names, &annotations, style);
        let arguments = &names.of_type;
        writer.named(token, arguments.len(), |writer, index| {
            writer.push(arguments.get(index).map_or("?", String::as_str));
        });
        writer.finish()
    }
}

pub(super) struct Writer<'w, 'a> {
    metadata: Metadata<'a>,
    names: &'w GenericNames,
    style: Style,
    out: String,
    depth: u32,
    n_specs: u32,
    tuple_names: std::slice::Iter<'w, Option<Cow<'a, str>>>,
    dynamic: std::slice::Iter<'w, bool>,
    nullable: Nulls<'w>,
    is_read_only: bool,
}

/// Nullability flags, handed out part by part.
enum Nulls<'w> {
    Uniform(u8),
    Parts(std::slice::Iter<'w, u8>),
}

impl Nulls<'_> {
    fn next(&mut self) -> bool {
        let flag = match self {
            Self::Uniform(flag) => *flag,
            Self::Parts(flags) => flags.next().copied().unwrap_or_default(),
        };
        flag == 2
    }
}

impl<'w, 'a> Writer<'w, 'a> {
    pub(super) fn new(
        metadata: Metadata<'a>,
        names: &'w GenericNames,
        annotations: &'w Annotations<'a>,
        style: Style,
    ) -> Self {
        Self {
            metadata,
            names,
            style,
            out: String::new(),
            depth: 0,
            n_specs: 0,
            tuple_names: annotations.tuple_names.iter(),
            dynamic: annotations.dynamic.iter(),
            nullable: match &annotations.nullable {
                Nullability::Uniform(flag) => Nulls::Uniform(*flag),
                Nullability::Parts(flags) => Nulls::Parts(flags.iter()),
            },
            is_read_only: annotations.is_read_only,
        }
    }

    pub(super) fn finish(mut self) -> String {
        if self.is_full() {
            self.out.push('…');
        }
        self.out
    }

    /// Passes over the flags of parts that are written elsewhere.
    pub(super) fn skip_dynamic(&mut self, n_parts: usize) {
        self.dynamic.by_ref().take(n_parts).for_each(drop);
    }

    fn is_full(&self) -> bool {
        self.out.len() >= MAX_TEXT
    }

    fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.out.push_str(text);
        }
    }

    fn mark_nullable(&mut self, nullable: bool) {
        if nullable {
            self.push("?");
        }
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        if self.is_full() {
            return;
        }
        if self.depth >= MAX_DEPTH {
            self.push("?");
            return;
        }
        self.depth += 1;
        // Pinning is no part of the type, and takes no flags.
        self.ty_at_depth(if let Type::Pinned(inner) = ty {
            inner
        } else {
            ty
        });
        self.depth -= 1;
    }

    fn ty_at_depth(&mut self, ty: &Type) {
        let is_dynamic = self.dynamic.next().copied().unwrap_or_default();
        match ty {
            Type::Primitive(Primitive::Object) if is_dynamic => {
                let nullable = self.nullable.next();
                self.push("dynamic");
                self.mark_nullable(nullable);
            }
            Type::Primitive(primitive @ (Primitive::Object | Primitive::String)) => {
                let nullable = self.nullable.next();
                self.push(primitive.keyword());
                self.mark_nullable(nullable);
            }
            Type::Primitive(primitive) => self.push(primitive.keyword()),
            Type::Named { token, is_value } => {
                let nullable = !is_value && self.nullable.next();
                self.token(*token);
                self.mark_nullable(nullable);
            }
            Type::Generic {
                token,
                is_value,
                arguments,
            } => self.generic(*token, *is_value, arguments),
            Type::TypeParameter(number) => {
                let names = &self.names.of_type;
                self.parameter(names.get(*number as usize), "!", *number);
            }
            Type::MethodParameter(number) => {
                let names = &self.names.of_method;
                self.parameter(names.get(*number as usize), "!!", *number);
            }
            Type::SzArray(_) | Type::Array { .. } => self.array(ty),
            Type::Pointer(inner) => {
                // Compilers count pointers among the generic value types, which take a flag.
                self.nullable.next();
                self.ty(inner);
                self.push("*");
            }
            Type::ByRef(inner) => {
                let is_read_only = self.is_read_only && self.depth == 1;
                self.push(if is_read_only {
                    "ref readonly "
                } else {
                    "ref "
                });
                self.ty(inner);
            }
            Type::Pinned(inner) => self.ty(inner),
            Type::Function(method) => self.function(method),
            Type::Modified {
                required,
                modifier,
                inner,
            } => {
                let is_in = *required
                    && self.metadata.is_type_named(
                        *modifier,
                        "System.Runtime.InteropServices",
                        "InAttribute",
                    );
                match &**inner {
                    Type::ByRef(referent) if is_in => {
                        self.dynamic.next();
                        self.push("ref readonly ");
                        self.ty(referent);
                    }
                    _ => self.ty(inner),
                }
            }
        }
    }

    fn parameter(&mut self, name: Option<&'w String>, mark: &str, number: u32) {
        let nullable = self.nullable.next();
        match name {
            Some(name) => self.push(name),
            None => self.push(&format!("{mark}{number}")),
        }
        self.mark_nullable(nullable && !self.names.are_arguments);
    }

    /// C# writes the ranks of arrays of arrays from the outside in: `int[][,]` is an array of `int[,]`.
    fn array(&mut self, outermost: &Type) {
        let nullable = self.nullable.next();
        let mut ranks = String::new();
        let mut ty = outermost;
        loop {
            let element = match ty {
                Type::SzArray(element) => {
                    ranks.push_str("[]");
                    element
                }
                Type::Array { element, shape } => {
                    push_rank(&mut ranks, shape);
                    element
                }
                _ => break,
            };
            ty = element;
            if !matches!(ty, Type::SzArray(_) | Type::Array { .. }) {
                break;
            }
            // The element is an array as well. If it may be null, its ranks end the group before ours.
            let mut ahead = match &self.nullable {
                Nulls::Uniform(flag) => Nulls::Uniform(*flag),
                Nulls::Parts(flags) => Nulls::Parts(flags.clone()),
            };
            if ahead.next() {
                break;
            }
            self.nullable.next();
            self.dynamic.next();
        }
        self.ty(ty);
        self.push(&ranks);
        self.mark_nullable(nullable);
    }

    fn function(&mut self, method: &MethodSignature) {
        self.nullable.next();
        self.push("delegate*");
        self.push(match method.convention.kind() {
            0 => "",
            1 => " unmanaged[Cdecl]",
            2 => " unmanaged[Stdcall]",
            3 => " unmanaged[Thiscall]",
            4 => " unmanaged[Fastcall]",
            _ => " unmanaged",
        });
        if method.convention.kind() == UNMANAGED {
            self.calling_conventions(&method.return_type);
        }
        self.push("<");
        // Flags come in the order of the signature, the return type first; C# writes it last.
        let start = self.out.len();
        self.ty(&method.return_type);
        let return_type = self.out.get(start..).unwrap_or_default().to_owned();
        self.out.truncate(start);
        for parameter in &method.parameters {
            self.function_parameter(parameter);
            self.push(", ");
        }
        self.push(&return_type);
        self.push(">");
    }

    /// `[Cdecl, SuppressGCTransition]`: modifiers of the return type say what the signature has no number for.
    fn calling_conventions(&mut self, return_type: &Type) {
        let mut names = Vec::new();
        let mut ty = return_type;
        while let Type::Modified {
            modifier, inner, ..
        } = ty
        {
            if let Ok((namespace, name)) = self.metadata.simple_name(*modifier)
                && namespace == "System.Runtime.CompilerServices"
                && let Some(convention) = name.strip_prefix("CallConv")
            {
                names.push(convention.to_owned());
            }
            ty = inner;
        }
        if !names.is_empty() {
            self.push(&format!("[{}]", names.join(", ")));
        }
    }

    /// A parameter of a function pointer has no row for attributes: modifiers tell `in` and `out` from `ref`.
    fn function_parameter(&mut self, parameter: &Type) {
        let mut keyword = "ref ";
        let mut n_modifiers = 0;
        let mut ty = parameter;
        while let Type::Modified {
            modifier, inner, ..
        } = ty
        {
            let name = self.metadata.simple_name(*modifier);
            let is = |expected| name.as_ref().is_ok_and(|it| it.1 == expected);
            if is("RequiresLocationAttribute") {
                keyword = "ref readonly ";
            } else if is("InAttribute") && keyword == "ref " {
                keyword = "in ";
            } else if is("OutAttribute") {
                keyword = "out ";
            }
            n_modifiers += 1;
            ty = inner;
        }
        if let Type::ByRef(referent) = ty {
            self.skip_dynamic(n_modifiers + 1);
            self.push(keyword);
            self.ty(referent);
        } else {
            self.ty(parameter);
        }
    }

    /// A type by its token alone, with all its names but no arguments.
    pub(super) fn token(&mut self, token: Token) {
        if token.is(Table::TypeSpec) {
            if self.n_specs >= MAX_SPECS {
                self.push("?");
                return;
            }
            self.n_specs += 1;
            let spec = self.metadata.row_of::<TypeSpecRow>(token);
            let blob = spec.and_then(|spec| self.metadata.blob(spec.signature));
            match blob.and_then(signature::type_spec) {
                Ok(ty) => self.ty(&ty),
                Err(_) => self.push("?"),
            }
            self.n_specs -= 1;
            return;
        }
        self.named(token, 0, |_, _| {});
    }

    fn generic(&mut self, token: Token, is_value: bool, arguments: &[Type]) {
        let is = |name| self.metadata.is_type_named(token, "System", name);
        match arguments {
            [value] if is("Nullable`1") => {
                self.ty(value);
                self.push("?");
                return;
            }
            [_, _, ..] if is_value && is_tuple(self.metadata, token, arguments) => {
                self.nullable.next();
                self.tuple(arguments);
                return;
            }
            // Written like any other type, but with a name that is never given.
            [_] if is_value && is("ValueTuple`1") => drop(self.tuple_names.next()),
            _ => {}
        }
        let nullable = self.nullable.next() && !is_value;
        self.named(token, arguments.len(), |writer, index| {
            if let Some(argument) = arguments.get(index) {
                writer.ty(argument);
            }
        });
        self.mark_nullable(nullable);
    }

    /// `(int a, string b)`; the eighth argument of a long tuple holds the rest, as another tuple.
    fn tuple(&mut self, arguments: &[Type]) {
        let names: Vec<_> = {
            let n_elements = tuple_length(arguments);
            self.tuple_names.by_ref().take(n_elements).collect()
        };
        let mut names = names.into_iter();
        self.push("(");
        let mut arguments = arguments;
        let mut first = true;
        loop {
            let (elements, rest) = arguments.split_at_checked(7).unwrap_or((arguments, &[]));
            for element in elements {
                if !first {
                    self.push(", ");
                }
                first = false;
                self.ty(element);
                if let Some(Some(name)) = names.next() {
                    self.push(" ");
                    self.push(name);
                }
            }
            match rest {
                [
                    Type::Generic {
                        arguments: inner, ..
                    },
                ] => {
                    // The rest counts as a part of its own, with names that are never given.
                    self.dynamic.next();
                    self.nullable.next();
                    let n_elements = tuple_length(inner);
                    self.tuple_names.by_ref().take(n_elements).for_each(drop);
                    arguments = inner;
                }
                _ => break,
            }
        }
        self.push(")");
    }

    /// A type with its enclosing types; arguments go to the names that declare them.
    fn named(&mut self, token: Token, n_arguments: usize, argument: impl Fn(&mut Self, usize)) {
        let Ok(path) = self.metadata.type_path(token) else {
            self.push("?");
            return;
        };
        let mut next_argument = 0;
        let last = path.len().saturating_sub(1);
        for (depth, part) in path.into_iter().enumerate() {
            let Ok((namespace, name)) = self.metadata.simple_name(part) else {
                self.push("?");
                return;
            };
            if depth > 0 {
                self.push(".");
            } else {
                if depth == last
                    && n_arguments == 0
                    && namespace == "System"
                    && let Some(keyword) = keyword(&name)
                {
                    self.push(keyword);
                    return;
                }
                if self.style.namespaces && !namespace.is_empty() {
                    self.push(&namespace);
                    self.push(".");
                }
            }
            let (_, arity) = split_arity(&name);
            // The last name takes what is left, should the marks be wrong.
            let end = if depth == last {
                n_arguments
            } else {
                n_arguments.min(next_argument + arity)
            };
            if self.anonymous_type(part, &name, next_argument..end, &argument) {
                return;
            }
            self.push(&type_display_name(&name));
            self.arguments(next_argument..end, &argument);
            next_argument = end;
        }
    }

    fn arguments(&mut self, range: std::ops::Range<usize>, argument: &impl Fn(&mut Self, usize)) {
        if range.is_empty() {
            return;
        }
        self.push("<");
        for index in range.clone() {
            if index > range.start {
                self.push(", ");
            }
            argument(self, index);
            if self.is_full() {
                return;
            }
        }
        self.push(">");
    }

    /// `<anonymous type: int A, string B>`: the properties have the types of the arguments, in order.
    fn anonymous_type(
        &mut self,
        token: Token,
        name: &str,
        range: std::ops::Range<usize>,
        argument: &impl Fn(&mut Self, usize),
    ) -> bool {
        let is_anonymous = GeneratedName::parse(split_arity(name).0)
            .is_some_and(|it| it.kind == GeneratedKind::AnonymousType);
        if !is_anonymous || !token.is(Table::TypeDef) {
            return false;
        }
        if range.is_empty() {
            self.push("<empty anonymous type>");
            return true;
        }
        let Ok(ty) = self.metadata.type_def(token) else {
            return false;
        };
        self.push("<anonymous type: ");
        for (index, property) in range.clone().zip(ty.properties()) {
            if index > range.start {
                self.push(", ");
            }
            argument(self, index);
            self.push(" ");
            let name = property.and_then(|it| it.name());
            self.push(&name.unwrap_or(Cow::Borrowed("?")));
        }
        self.push(">");
        true
    }
}

/// The keyword of a type of namespace `System`.
fn keyword(name: &str) -> Option<&'static str> {
    match name {
        "Decimal" => Some("decimal"),
        _ => Primitive::from_system_name(name).map(Primitive::keyword),
    }
}

fn push_rank(out: &mut String, shape: &ArrayShape) {
    out.push('[');
    if shape.rank == 1 {
        // A general array of one dimension is not what `[]` means.
        out.push('*');
    }
    for _ in 1..shape.rank {
        out.push(',');
    }
    out.push(']');
}

/// Whether a type is a tuple; the eighth argument of a long one must be a tuple with the rest.
fn is_tuple(metadata: Metadata<'_>, token: Token, arguments: &[Type]) -> bool {
    const NAMES: [&str; 8] = [
        "ValueTuple`1",
        "ValueTuple`2",
        "ValueTuple`3",
        "ValueTuple`4",
        "ValueTuple`5",
        "ValueTuple`6",
        "ValueTuple`7",
        "ValueTuple`8",
    ];
    let name = arguments
        .len()
        .checked_sub(1)
        .and_then(|index| NAMES.get(index));
    name.is_some_and(|name| metadata.is_type_named(token, "System", name))
        && match arguments.get(7) {
            Some(Type::Generic {
                token, arguments, ..
            }) => is_tuple(metadata, *token, arguments),
            Some(_) => false,
            None => true,
        }
}

/// How many elements a tuple has, with those in its rest.
fn tuple_length(arguments: &[Type]) -> usize {
    match arguments.split_at_checked(7) {
        Some((
            elements,
            [
                Type::Generic {
                    arguments: rest, ..
                },
            ],
        )) => elements.len() + tuple_length(rest),
        _ => arguments.len(),
    }
}
