//! What is reached through a reference that a member returns: structs there are changed and set where they lie.
//!
//! Such a place is known only until the program runs again. So the member is called last: what is put there, and the arguments of
//! the method that is called on it, are computed before.

use std::rc::Rc;

use syntax::Span;

use super::effects::{Effect, Store, Wanted, written_name};
use super::places::{Accessed, Home, HomeRoot, HomeStep, Located, is_struct, is_variable};
use super::{Result, Runner, Val, integer, null_reference};
use crate::expressions::error::Fail;
use crate::expressions::plan::{Callee, Node, Op};
use crate::types::{Named, Type};

impl Runner<'_, '_> {
    /// `f(x) = value` and `f(x).Part = value` where `f` returns by reference.
    pub(super) fn store_by_reference(&mut self, place: &Node, value: &Node) -> Result<Option<Val>> {
        if let Some(stored) = self.store_through_arguments(place, value)? {
            return Ok(Some(stored));
        }
        let mut path = Vec::new();
        let mut call = place;
        while let Op::Field(target, field) = &call.op
            && target.ty.is_value() == Some(true)
        {
            path.insert(0, field.clone());
            call = target;
        }
        if !matches!(call.op, Op::Call(..)) || !self.leads(call) {
            return Ok(None);
        }
        let Some(Home {
            root: HomeRoot::Led(call),
            ..
        }) = self.led_home(call)?
        else {
            return Ok(None);
        };
        let value = self.eval(value)?;
        let value = self.materialised(value, place.span)?;
        let store = Some(Store {
            path,
            value: value.clone(),
            ty: place.ty.clone(),
        });
        self.effect(place.span, || Effect::Refer { call, store })?;
        Ok(Some(value))
    }

    /// The same for a call that takes references itself, of which it may return one.
    fn store_through_arguments(&mut self, place: &Node, value: &Node) -> Result<Option<Val>> {
        let by_reference = |it: &Node| matches!(it.op, Op::Reference(..));
        let Op::Call(callee, target, nodes) = &place.op else {
            return Ok(None);
        };
        let Type::ByRef(inner) = &callee.method.returns else {
            return Ok(None);
        };
        if !nodes.iter().any(by_reference) {
            return Ok(None);
        }
        let (target, home) = match target {
            Some(node) => {
                let (held, home) = self.receiver(node)?;
                (Some((held, node.ty.clone())), home)
            }
            None => (None, None),
        };
        let value = self.eval(value)?;
        let value = self.materialised(value, place.span)?;
        let wanted = Wanted::Store(value.clone(), (**inner).clone());
        self.call_by_reference(place, callee, target, home, nodes, wanted)?;
        Ok(Some(value))
    }

    /// A property of a struct that a reference leads to, as what is assigned.
    pub(super) fn led_property(&mut self, place: &Node) -> Result<Option<Located>> {
        let Op::Call(getter, Some(target), nodes) = &place.op else {
            return Ok(None);
        };
        let returns_reference = matches!(getter.method.returns, Type::ByRef(_));
        if returns_reference || !is_struct(&target.ty) || !self.leads(target) {
            return Ok(None);
        }
        let home = self.led_home(target)?;
        let mut arguments = Vec::with_capacity(nodes.len());
        for node in nodes {
            arguments.push(self.eval(node)?);
        }
        Ok(Some(Located::Property(Box::new(Accessed {
            target: Some((self.unread(&target.ty), target.ty.clone())),
            home,
            arguments,
        }))))
    }

    /// A struct of which only the way that leads to it is of use.
    fn unread(&self, ty: &Type) -> Val {
        Val::Struct(self.reader.at(ty.clone(), 0))
    }

    /// Whether a method that may change its struct is called on one that a reference leads to.
    pub(super) fn is_led_to(&self, callee: &Callee, target: &Node) -> bool {
        self.around.writes
            && self.around.calls
            && is_struct(&target.ty)
            && callee.intrinsic.is_none()
            && self.may_change(callee, &target.ty)
            && self.leads(target)
    }

    /// Calls a method on a struct where a reference leads to.
    pub(super) fn call_where_led(
        &mut self,
        node: &Node,
        callee: &Rc<Callee>,
        target: &Node,
        arguments: &[Node],
    ) -> Result<Val> {
        let home = self.led_home(target)?;
        let target = Some((self.unread(&target.ty), target.ty.clone()));
        let by_reference = |it: &Node| matches!(it.op, Op::Reference(..));
        if arguments.iter().any(by_reference) {
            return self.call_by_reference(node, callee, target, home, arguments, Wanted::Value);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            values.push(self.eval(argument)?);
        }
        let arguments = self.passed(callee, values, arguments)?;
        let value = self.effect_of(&node.ty, node.span, || Effect::Call {
            callee: callee.clone(),
            target,
            home,
            arguments,
            references: Vec::new(),
            exact: false,
            span: node.span,
        })?;
        self.counted(value, node.span)
    }

    /// Refuses to call a method that may change its struct on a copy of what C# would let it change.
    pub(super) fn not_on_a_copy(
        &self,
        callee: &Callee,
        target: &Node,
        home: Option<&Home>,
    ) -> Result<()> {
        let is_fine = home.is_some()
            || !self.around.writes
            || !is_struct(&target.ty)
            || callee.intrinsic.is_some()
            || !self.may_change(callee, &target.ty)
            || !self.is_in_place(target);
        if is_fine {
            return Ok(());
        }
        let name = written_name(&callee.method);
        let told = format!(
            "`{name}` may change the struct that it is called on, and the debugger could give it only a copy: no way leads to an element of an inline array, of a span that is no variable, or to what a call with `ref` or `out` arguments returns by reference"
        );
        Err(Fail::new(target.span, told)
            .hint("copy it to a variable of the program first, or call it on the array that the span leads to")
            .into())
    }

    /// Whether a method can change the struct that it is called on.
    fn may_change(&self, callee: &Callee, ty: &Type) -> bool {
        let method = &callee.method;
        let Some(named) = ty.as_named() else {
            return false;
        };
        let inherited = ["ToString", "Equals", "GetHashCode", "GetType", "CompareTo"];
        if *named != method.declared_in || inherited.contains(&&*method.name) {
            return false;
        }
        if method.name.starts_with("get_") && method.flags.is_special_name() {
            return false;
        }
        let module = self.types.metadata(named.module);
        module.is_ok_and(|it| {
            let metadata = it.metadata();
            !metadata.is_read_only(named.token) && !metadata.is_read_only(method.token)
        })
    }

    /// Whether a call that returns by reference, or the indexer of a span that is a variable, leads to something.
    fn leads(&self, node: &Node) -> bool {
        match &node.op {
            Op::Let(_, inner) => self.leads(inner),
            Op::Field(target, field) => {
                target.ty.is_value() == Some(true) && !self.is_readonly(field) && self.leads(target)
            }
            Op::Element(array, indices) => {
                self.span_type(&array.ty).is_some() && is_variable(array) && indices.len() == 1
            }
            Op::Call(callee, _, arguments) => {
                self.is_reference_returned(callee)
                    && !arguments
                        .iter()
                        .any(|it| matches!(it.op, Op::Reference(..)))
            }
            _ => false,
        }
    }

    /// Whether a place is what a call returns by reference, or a part of that.
    pub(super) fn is_led_by_call(&self, node: &Node) -> bool {
        let is_call = |node: &Node| match &node.op {
            Op::Field(target, _) => self.is_led_by_call(target),
            Op::Call(..) => true,
            _ => false,
        };
        self.around.calls && is_call(node) && self.leads(node)
    }

    /// Whether something lies where its method could change it, although no way leads there.
    fn is_in_place(&self, node: &Node) -> bool {
        match &node.op {
            Op::Let(_, inner) => self.is_in_place(inner),
            Op::Field(target, field) => {
                target.ty.is_value() == Some(true)
                    && !self.is_readonly(field)
                    && self.is_in_place(target)
            }
            Op::Element(array, _) => {
                let named = array.ty.as_named();
                let is_read_only =
                    named.is_some_and(|it| self.types.is_named(it, "System", "ReadOnlySpan`1"));
                array.ty.is_value() == Some(true) && !is_read_only
            }
            Op::Call(callee, ..) => self.is_reference_returned(callee),
            _ => false,
        }
    }

    /// Whether a method returns a reference that is not `readonly`.
    fn is_reference_returned(&self, callee: &Callee) -> bool {
        let method = &callee.method;
        if !matches!(method.returns, Type::ByRef(_)) {
            return false;
        }
        let module = self.types.metadata(method.declared_in.module);
        module.is_ok_and(|it| {
            let metadata = it.metadata();
            let is_read_only = metadata.method(method.token).is_ok_and(|definition| {
                let mut rows = definition.param_rows().flatten();
                rows.any(|(token, row)| row.sequence == 0 && metadata.is_read_only(token))
            });
            !is_read_only
        })
    }

    /// The way to something that a reference leads to: what leads there is evaluated, but for the call itself.
    pub(super) fn led_home(&mut self, node: &Node) -> Result<Option<Home>> {
        let span = node.span;
        match &node.op {
            Op::Let(values, inner) => {
                for (slot, value) in values {
                    let value = self.eval(value)?;
                    self.set(*slot, value);
                }
                self.led_home(inner)
            }
            Op::Field(target, field) => {
                let home = self.led_home(target)?;
                Ok(home.map(|mut home| {
                    home.steps.push(HomeStep::Field(field.clone()));
                    home
                }))
            }
            Op::Element(array, indices) => {
                let mut position = -1;
                for index in indices {
                    let index = self.eval(index)?;
                    position = integer(&index).unwrap_or(-1);
                }
                let call = self.span_indexer(array, position, span)?;
                Ok(call.map(led))
            }
            Op::Call(callee, target, nodes) => {
                let (target, home) = match target {
                    Some(node) => {
                        let (held, home) = self.receiver(node)?;
                        if matches!(held, Val::Null) {
                            return Err(null_reference(span));
                        }
                        (Some((self.lasting(held, node)?, node.ty.clone())), home)
                    }
                    None => (None, None),
                };
                let mut values = Vec::with_capacity(nodes.len());
                for node in nodes {
                    values.push(self.eval(node)?);
                }
                let arguments = self.passed(callee, values, nodes)?;
                Ok(Some(led(Effect::Call {
                    callee: callee.clone(),
                    target,
                    home,
                    arguments,
                    references: Vec::new(),
                    exact: false,
                    span,
                })))
            }
            _ => Ok(None),
        }
    }

    /// The call of the indexer of a span that lies somewhere: it tells the runtime where an element is.
    pub(super) fn span_indexer(
        &mut self,
        array: &Node,
        position: i128,
        span: Span,
    ) -> Result<Option<Effect>> {
        let Some(named) = self.span_type(&array.ty) else {
            return Ok(None);
        };
        let indexers = self.types.methods(&named, Some("get_Item"));
        let Some(method) = indexers.unwrap_or_default().into_iter().next() else {
            return Ok(None);
        };
        let (held, home) = self.receiver(array)?;
        if home.is_none() {
            return Ok(None);
        }
        let callee = Rc::new(Callee {
            method,
            arguments: Vec::new(),
            intrinsic: None,
            is_virtual: false,
            checked: false,
        });
        Ok(Some(Effect::Call {
            callee,
            target: Some((held, array.ty.clone())),
            home,
            arguments: vec![(Val::int(position), Type::INT)],
            references: Vec::new(),
            exact: false,
            span,
        }))
    }

    fn span_type(&self, ty: &Type) -> Option<Rc<Named>> {
        let named = ty.as_named()?;
        let is_span = self.types.is_named(named, "System", "Span`1");
        is_span.then(|| named.clone())
    }
}

fn led(call: Effect) -> Home {
    Home {
        root: HomeRoot::Led(Box::new(call)),
        steps: Vec::new(),
    }
}
