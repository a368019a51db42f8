//! Anonymous objects that an expression made: their own members are computed here, and where code of the program is to see
//! one, it is made there by the constructor that the compiler wrote.

use std::rc::Rc;

use syntax::Span;

use super::{Effect, Made, Result, Runner, Val};
use crate::expressions::error::Fail;
use crate::expressions::plan::Callee;
use crate::types::Type;

impl Runner<'_, '_> {
    pub(super) fn is_anonymous(&self, ty: &Type) -> bool {
        let name = ty.as_named().and_then(|it| self.types.simple_name(it).ok());
        name.is_some_and(|(_, name)| name.starts_with("<>f__AnonymousType"))
    }

    /// The text that an anonymous object tells of itself.
    pub(super) fn anonymous_text(
        &mut self,
        ty: &Type,
        fields: &[(Rc<str>, Val)],
        span: Span,
    ) -> Result<Vec<u16>> {
        let types = ty
            .as_named()
            .map(|it| it.arguments.clone())
            .unwrap_or_default();
        let mut text: Vec<u16> = "{ ".encode_utf16().collect();
        for (index, ((name, value), ty)) in fields.iter().zip(types.iter()).enumerate() {
            let name = name.strip_prefix('<').and_then(|it| it.split('>').next());
            let separator = if index > 0 { ", " } else { "" };
            let head = format!("{separator}{} = ", name.unwrap_or_default());
            text.extend(head.encode_utf16());
            text.extend(self.text_of(value, ty, span)?);
        }
        let end = if fields.is_empty() { "}" } else { " }" };
        text.extend(end.encode_utf16());
        Ok(text)
    }

    /// What an anonymous object that exists only here says of itself without the program.
    pub(super) fn anonymous_member(
        &mut self,
        name: &str,
        target: &Val,
        arguments: &[Val],
        span: Span,
    ) -> Result<Option<Val>> {
        let Val::Made(made) = target else {
            return Ok(None);
        };
        let Made::Fields(ty, fields) = &**made else {
            return Ok(None);
        };
        if !self.is_anonymous(ty) {
            return Ok(None);
        }
        match (name, arguments) {
            ("ToString", []) => Ok(Some(Val::units(self.anonymous_text(ty, fields, span)?))),
            ("Equals", [other]) => self
                .equals(target, other, &Val::Null, span)
                .map(|it| Some(Val::bool(it))),
            _ => Ok(None),
        }
    }

    /// The members of an anonymous object of the program.
    pub(super) fn anonymous_parts(
        &mut self,
        object: &crate::values::Object,
        span: Span,
    ) -> Result<Option<Vec<Val>>> {
        let Some(named) = object.ty.as_named() else {
            return Ok(None);
        };
        let fields = self.types.fields(named).unwrap_or_default();
        let mut parts = Vec::new();
        for field in fields.iter().filter(|it| it.name.starts_with('<')) {
            let value = self.reader.object_field(object, &field.name);
            let value = value.map_err(|why| self.unreadable(&why, span))?;
            parts.push(self.decode(&value, span)?);
        }
        Ok(Some(parts))
    }

    /// An anonymous object of the program with the members of one that exists only here.
    pub(super) fn anonymous_in_program(
        &mut self,
        ty: &Type,
        fields: &[(Rc<str>, Val)],
        span: Span,
    ) -> Result<Option<Val>> {
        if ty
            .as_named()
            .is_some_and(|it| self.types.is_shape(it.module))
        {
            let told = "code of the program cannot be given this anonymous object: the program has no type with these members, so it exists only in the debugger";
            let fail = Fail::new(span, told);
            return Err(fail
                .hint("pass a tuple, (A: 1, B: 2), or what is in it")
                .into());
        }
        let constructor = ty.as_named().and_then(|it| {
            let all = self.types.methods(it, Some(".ctor")).ok()?;
            let mut all = all.into_iter();
            all.find(|it| it.parameters.len() == fields.len())
        });
        let Some(method) = constructor else {
            return Ok(None);
        };
        if !self.around.calls {
            let what = "passing on an anonymous object, which is made in the program for that,";
            return Err(self.refuse(what, span));
        }
        let mut arguments = Vec::with_capacity(fields.len());
        for ((_, value), parameter) in fields.iter().zip(&method.parameters) {
            let value = self.materialised(value.clone(), span)?;
            arguments.push((value, parameter.ty.clone()));
        }
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        self.effect(span, || Effect::New {
            callee,
            arguments,
            span,
        })
        .map(Some)
    }
}
