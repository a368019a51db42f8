//! What can be evaluated: calls, constructors, strings, arrays, boxes.

use cordebug::module::Function;

use crate::engine::Engine;
use crate::types::{Generics, Method, Type, Types};
use crate::values::{Object, Reader, Result as ValueResult, Value};

use super::evaluate::refused;
use super::{Argument, Call, CallError, CallSite, Kept, Outcome};

impl Engine<'_> {
    /// Calls a method. A constructor makes a new object, which is what it returns.
    pub(crate) fn call(&mut self, site: &CallSite, call: &Call<'_>) -> Result<Outcome, CallError> {
        let this = match &call.this {
            Some(this) => Some(self.boxed(site, this)?),
            None => None,
        };
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.boxed(site, argument)?);
        }
        let call = &Call {
            method: call.method,
            type_arguments: call.type_arguments,
            this,
            arguments,
        };
        let method = call.method;
        self.keep_suspendable(site, false)?;
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        let target = &*target;
        let types = target.types();
        let is_constructor = method.name == ".ctor" && call.this.is_none();
        check(&target.reader(), call, is_constructor)?;
        let function: Function = types
            .module(method.declared_in.module)?
            .module
            .function(method.token.0)
            .map_err(|error| refused(&error))?;
        let mut type_arguments = Vec::new();
        for ty in method
            .declared_in
            .arguments
            .iter()
            .chain(call.type_arguments)
        {
            type_arguments.push(types.to_runtime(ty)?);
        }
        // The library needs an evaluation to make values with; one that runs nothing costs nothing.
        let maker = site.thread.eval().map_err(|error| refused(&error))?;
        let generics = Generics {
            of_type: method.declared_in.arguments.iter().cloned().collect(),
            of_method: call.type_arguments.iter().cloned().collect(),
        };
        let mut values = Vec::new();
        if let Some(this) = &call.this {
            let ty = Type::Named(method.declared_in.clone());
            values.push(this.to_runtime(types, &maker, &ty)?);
        }
        for (argument, parameter) in call.arguments.iter().zip(&method.parameters) {
            let ty = parameter.ty.with(&generics);
            values.push(argument.to_runtime(types, &maker, &ty)?);
        }
        let returns = method.returns.with(&generics);
        let is_address = returns.is_pointer() || matches!(returns, Type::ByRef(_));
        let outcome = self.evaluate(site, |eval| {
            let started = if is_constructor {
                eval.new_object(&function, &type_arguments, &values)
            } else {
                eval.call(&function, &type_arguments, &values)
            };
            started.map_err(|error| refused(&error))
        })?;
        Ok(match outcome {
            Outcome::Returned(Some(kept)) if is_address => {
                let address = address_of(&kept.runtime)?;
                let address = Some((returns, address));
                Outcome::Returned(Some(Kept { address, ..kept }))
            }
            other => other,
        })
    }

    /// The argument, in a box if it is a struct that is only ours.
    pub(crate) fn boxed(
        &mut self,
        site: &CallSite,
        argument: &Argument,
    ) -> Result<Argument, CallError> {
        let Some((ty, bytes)) = argument.needs_box() else {
            return Ok(argument.clone());
        };
        let (ty, bytes) = (ty.clone(), bytes.to_vec());
        match self.box_value(site, &ty, &bytes)? {
            Argument::Object(held) => Ok(Argument::Boxed(held)),
            other => Ok(other),
        }
    }

    /// Makes a string.
    pub(crate) fn new_string(&mut self, site: &CallSite, text: &[u16]) -> Result<Kept, CallError> {
        let made = self.evaluate(site, |eval| {
            eval.new_string(text).map_err(|error| refused(&error))
        })?;
        returned(made)
    }

    /// Makes an array of one dimension.
    pub(crate) fn new_array(
        &mut self,
        site: &CallSite,
        element: &Type,
        length: u32,
    ) -> Result<Kept, CallError> {
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        // The runtime's own way makes arrays of primitive types and references only.
        if element.is_value() == Some(true) && !matches!(element, Type::Primitive(_)) {
            return self.array_of_structs(site, element, length);
        }
        let element = target.types().to_runtime(element)?;
        let made = self.evaluate(site, |eval| {
            eval.new_array(&element, length)
                .map_err(|error| refused(&error))
        })?;
        returned(made)
    }

    /// Makes an object of a type whose fields are all zero; no constructor runs. Of a value type it is a box.
    pub(crate) fn new_zeroed(&mut self, site: &CallSite, ty: &Type) -> Result<Kept, CallError> {
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        let types = target.types();
        let named = types.named(ty).ok_or_else(|| CallError::Mismatch {
            method: "new".into(),
            why: format!("{} has no objects", types.text(ty)),
        })?;
        let class = types.module(named.module)?.module.class(named.token.0);
        let class = class.map_err(|error| refused(&error))?;
        let mut arguments = Vec::new();
        for argument in &named.arguments {
            arguments.push(types.to_runtime(argument)?);
        }
        let made = self.evaluate(site, |eval| {
            eval.new_zeroed(&class, &arguments)
                .map_err(|error| refused(&error))
        })?;
        returned(made)
    }

    /// Boxes a value of a value type.
    pub(crate) fn box_value(
        &mut self,
        site: &CallSite,
        ty: &Type,
        bytes: &[u8],
    ) -> Result<Argument, CallError> {
        let kept = self.new_zeroed(site, ty)?;
        let target = self
            .stopped_target()
            .map_err(|error| CallError::Refused(error.message))?;
        let target = &*target;
        let reader = target.reader();
        let object = reader
            .kept_object(&kept)?
            .ok_or(CallError::Refused("the runtime made no object".into()))?;
        let inner = reader.unboxed(&object).ok_or_else(|| CallError::Mismatch {
            method: "box".into(),
            why: format!("{} is no value type", reader.types.text(ty)),
        })?;
        reader.write(&inner, bytes)?;
        Ok(Argument::Object(reader.hold(&object)?))
    }
}

/// The address that a value is, as a reference or a number.
fn address_of(value: &cordebug::value::Value) -> ValueResult<u64> {
    if let Some(address) = value.reference_address()? {
        return Ok(address);
    }
    let bytes = value.bytes()?;
    Ok(bytes.first_chunk().map_or(0, |it| u64::from_le_bytes(*it)))
}

fn returned(outcome: Outcome) -> Result<Kept, CallError> {
    match outcome {
        Outcome::Returned(Some(kept)) => Ok(kept),
        Outcome::Returned(None) => Err(CallError::Refused("the runtime made nothing".into())),
        Outcome::Threw(_) => Err(CallError::Refused(
            "the runtime threw an exception instead of making it".into(),
        )),
    }
}

/// Whether only native code may call it.
pub(crate) fn is_for_native_callers(types: Types<'_>, method: &Method) -> bool {
    let module = types.metadata(method.declared_in.module);
    module.is_ok_and(|it| {
        let services = "System.Runtime.InteropServices";
        it.metadata()
            .has_attribute(method.token, services, "UnmanagedCallersOnlyAttribute")
    })
}

/// Why the runtime has no code that a call could run. It would find that out itself, and end the program (before .NET 10).
fn without_code(types: Types<'_>, method: &Method) -> Option<&'static str> {
    let flags = method.flags;
    if flags.is_static() && is_for_native_callers(types, method) {
        return Some("is for unmanaged callers only ([UnmanagedCallersOnly])");
    }
    if flags.is_abstract() {
        return flags
            .is_static()
            .then_some("is a static abstract member of an interface, which has no code");
    }
    let module = types.metadata(method.declared_in.module).ok()?;
    let metadata = module.metadata();
    let row = metadata.method(method.token).ok()?;
    let accessor = "UnsafeAccessorAttribute";
    // The runtime makes the code of delegates and accessors, and has some of its core library itself.
    if row.rva() != 0
        || flags.is_pinvoke()
        || row.impl_flags().is_runtime()
        || types.core("System", "Type")?.as_named()?.module == method.declared_in.module
        || metadata.has_attribute(method.token, "System.Runtime.CompilerServices", accessor)
    {
        return None;
    }
    Some("has no code: it is extern, and no library is named for it")
}

/// Whether it can be called, and the arguments are those that the method takes.
fn check(reader: &Reader<'_>, call: &Call<'_>, is_constructor: bool) -> Result<(), CallError> {
    let method: &Method = call.method;
    if let Some(why) = without_code(reader.types, method) {
        let name = &method.name;
        return Err(CallError::Refused(format!("`{name}` {why}")));
    }
    if let Some(assembly) = super::needed::missing_assembly(reader, method) {
        let name = &method.name;
        return Err(CallError::Refused(format!(
            "`{name}` needs the assembly {assembly}, which is neither loaded nor to be found: calling it would end the program"
        )));
    }
    let mismatch = |why: String| CallError::Mismatch {
        method: method.name.clone(),
        why,
    };
    if call.arguments.len() != method.parameters.len() {
        return Err(mismatch(format!(
            "it takes {} arguments, not {}",
            method.parameters.len(),
            call.arguments.len()
        )));
    }
    if call.type_arguments.len() != method.arity as usize {
        return Err(mismatch(format!(
            "it takes {} type arguments, not {}",
            method.arity,
            call.type_arguments.len()
        )));
    }
    let open = |ty: &Type| ty.is_open();
    if method.declared_in.arguments.iter().any(open) || call.type_arguments.iter().any(open) {
        return Err(mismatch("its type parameters stand for nothing".into()));
    }
    match (&call.this, method.flags.is_static(), is_constructor) {
        (Some(_), true, _) => return Err(mismatch("it is static".into())),
        (None, false, false) => return Err(mismatch("it needs an object".into())),
        (Some(Argument::Null), false, _) => return Err(mismatch("the object is null".into())),
        _ => {}
    }
    let generics = Generics {
        of_type: method.declared_in.arguments.iter().cloned().collect(),
        of_method: call.type_arguments.iter().cloned().collect(),
    };
    for (argument, parameter) in call.arguments.iter().zip(&method.parameters) {
        let ty = parameter.ty.with(&generics);
        argument
            .fits(reader.types, &ty)
            .map_err(|why| mismatch(format!("{}: {why}", parameter.name)))?;
    }
    Ok(())
}

impl Reader<'_> {
    /// What a call gave, as a value to read: boxed structs are opened.
    pub(crate) fn kept(&self, kept: &Kept) -> ValueResult<Value> {
        if let Some(place) = self.led_to(kept)? {
            return Ok(place);
        }
        match self.kept_object(kept)? {
            Some(object) => Ok(match self.unboxed(&object) {
                Some(inner) => inner,
                None => self.reference_to(&object),
            }),
            None => self.of_runtime(&kept.runtime, None),
        }
    }

    /// The object that a call gave; `None` for null and for what is no object.
    pub(crate) fn kept_object(&self, kept: &Kept) -> ValueResult<Option<Object>> {
        if let Some(place) = self.led_to(kept)? {
            return match place.ty.is_value() {
                Some(true) => Ok(None),
                _ => self.object(&place),
            };
        }
        match kept.runtime.reference_address()? {
            None | Some(0) => Ok(None),
            Some(address) => self.object_at(address).map(Some),
        }
    }

    /// The pointer that a call gave, or where one leads to that returns by reference; `None` for other calls.
    fn led_to(&self, kept: &Kept) -> ValueResult<Option<Value>> {
        let Some((ty, address)) = &kept.address else {
            return Ok(None);
        };
        let given = self.copied(ty.clone(), address.to_le_bytes().to_vec());
        self.behind_ref(&given).map(Some)
    }
}
