//! What only the program's own reflection can do: objects that stand for types, class constructors, calls past an override.
//!
//! Nothing is looked up by name in the program: a type is reached through an empty array of it, which the runtime makes from
//! the debugger's own notion of the type, so that the one of the right load context is meant.

use metadata::Token;
use metadata::model::Visibility;
use metadata::signature::Primitive;

use crate::engine::Engine;
use crate::types::{Method, Named, Type, Types};
use crate::values::Held;

use super::{Argument, Call, CallError, CallSite, Kept, Outcome};

impl Engine<'_> {
    /// The `System.Type` of a type.
    pub(crate) fn type_object(&mut self, site: &CallSite, ty: &Type) -> Result<Held, CallError> {
        if let Some(definition) = self.types_now()?.definition_of(ty) {
            return self.definition_object(site, &definition);
        }
        let has_arrays = !matches!(ty, Type::ByRef(_) | Type::Pointer(_));
        if !has_arrays || ty.is_open() {
            let text = self.types_now()?.text(ty);
            return Err(CallError::Refused(format!(
                "the object for typeof({text}) cannot be had from the program"
            )));
        }
        let empty = self.core_method("System", "Array", "Empty", 0)?;
        let array = self.ran(site, &empty, std::slice::from_ref(ty), None, Vec::new())?;
        let array = self.object_of(array)?;
        let of_object = self.core_method("System", "Object", "GetType", 0)?;
        let ty = self.ran(site, &of_object, &[], Some(array), Vec::new())?;
        let ty = self.object_of(ty)?;
        let element = self.core_method("System", "Type", "GetElementType", 0)?;
        let ty = self.ran(site, &element, &[], Some(ty), Vec::new())?;
        match self.object_of(ty)? {
            Argument::Object(held) => Ok(held),
            _ => Err(CallError::Refused("the runtime tells no type".into())),
        }
    }

    /// The `System.Type` of a definition that there are no arrays of, through its module.
    fn definition_object(
        &mut self,
        site: &CallSite,
        definition: &Named,
    ) -> Result<Held, CallError> {
        let types = self.types_now()?;
        let Some(beside) = types.plain_class(definition.module) else {
            let ty = Type::Named(std::rc::Rc::new(definition.clone()));
            let text = types.text(&ty);
            return Err(CallError::Refused(format!(
                "the object for typeof({text}) cannot be had from the program: its module has no class without type parameters"
            )));
        };
        let of = self.type_object(site, &beside)?;
        let get = self.core_method("System", "Type", "get_Module", 0)?;
        let module = self.ran(site, &get, &[], Some(Argument::Object(of)), Vec::new())?;
        let module = self.object_of(module)?;
        let resolve = self.core_method("System.Reflection", "Module", "ResolveType", 1)?;
        let token = Argument::Bytes {
            ty: Type::Primitive(Primitive::I4),
            bytes: definition.token.0.to_le_bytes().to_vec(),
        };
        let ty = self.ran(site, &resolve, &[], Some(module), vec![token])?;
        match self.object_of(ty)? {
            Argument::Object(held) => Ok(held),
            _ => Err(CallError::Refused("the runtime tells no type".into())),
        }
    }

    /// Makes an array of enums or structs.
    pub(super) fn array_of_structs(
        &mut self,
        site: &CallSite,
        element: &Type,
        length: u32,
    ) -> Result<Kept, CallError> {
        let make = self.core_method("System", "GC", "AllocateArray", 2)?;
        let length = Argument::Bytes {
            ty: Type::Primitive(Primitive::I4),
            bytes: length.to_le_bytes().to_vec(),
        };
        let pinned = Argument::Bytes {
            ty: Type::Primitive(Primitive::Bool),
            bytes: vec![0],
        };
        let element = std::slice::from_ref(element);
        self.ran(site, &make, element, None, vec![length, pinned])
    }

    /// Runs the class constructor of a type, unless it has run; it may throw.
    pub(crate) fn construct_class(
        &mut self,
        site: &CallSite,
        ty: &Type,
    ) -> Result<Outcome, CallError> {
        let handle = self.type_handle(site, ty)?;
        let run = self.core_method(
            "System.Runtime.CompilerServices",
            "RuntimeHelpers",
            "RunClassConstructor",
            1,
        )?;
        self.call(
            site,
            &Call {
                method: &run,
                type_arguments: &[],
                this: None,
                arguments: vec![handle],
            },
        )
    }

    /// Lets the thread have its own of a static field that each thread has its own of: the runtime makes them when one is read.
    pub(crate) fn give_own_static(
        &mut self,
        site: &CallSite,
        ty: &Type,
        field: Token,
    ) -> Result<(), CallError> {
        let of = self.type_object(site, ty)?;
        let get = self.core_method("System", "Type", "get_Module", 0)?;
        let module = self.ran(site, &get, &[], Some(Argument::Object(of)), Vec::new())?;
        let module = self.object_of(module)?;
        let resolve = self.core_method("System.Reflection", "Module", "ResolveField", 1)?;
        let token = Argument::Bytes {
            ty: Type::Primitive(Primitive::I4),
            bytes: field.0.to_le_bytes().to_vec(),
        };
        let open = self.ran(site, &resolve, &[], Some(module), vec![token])?;
        let open = self.object_of(open)?;
        let get = self.core_method("System.Reflection", "FieldInfo", "get_FieldHandle", 0)?;
        let handle = self.ran(site, &get, &[], Some(open), Vec::new())?;
        let handle = self.boxed_of(handle)?;
        let of = self.type_handle(site, ty)?;
        let close = self.core_method("System.Reflection", "FieldInfo", "GetFieldFromHandle", 2)?;
        let closed = self.ran(site, &close, &[], None, vec![handle, of])?;
        let closed = self.object_of(closed)?;
        let get = self.core_method("System.Reflection", "FieldInfo", "GetValue", 1)?;
        self.ran(site, &get, &[], Some(closed), vec![Argument::Null])?;
        Ok(())
    }

    /// The `RuntimeTypeHandle` of a type.
    fn type_handle(&mut self, site: &CallSite, ty: &Type) -> Result<Argument, CallError> {
        let held = self.type_object(site, ty)?;
        let get = self.core_method("System", "Type", "get_TypeHandle", 0)?;
        let handle = self.ran(site, &get, &[], Some(Argument::Object(held)), Vec::new())?;
        self.boxed_of(handle)
    }

    /// A delegate that calls exactly this method of an object, whatever the object's own type overrides it with; `delegate` is
    /// a delegate type of the method's shape.
    pub(crate) fn exact_delegate(
        &mut self,
        site: &CallSite,
        method: &Method,
        this: Argument,
        delegate: &Type,
    ) -> Result<Held, CallError> {
        let declared_in = Type::Named(method.declared_in.clone());
        let ty = self.type_object(site, &declared_in)?;
        let get = self.core_method("System", "Type", "get_Module", 0)?;
        let module = self.ran(site, &get, &[], Some(Argument::Object(ty)), Vec::new())?;
        let module = self.object_of(module)?;
        let resolve = self.core_method("System.Reflection", "Module", "ResolveMethod", 1)?;
        let token = Argument::Bytes {
            ty: Type::Primitive(Primitive::I4),
            bytes: method.token.0.to_le_bytes().to_vec(),
        };
        let base = self.ran(site, &resolve, &[], Some(module), vec![token])?;
        let base = self.object_of(base)?;
        let get = self.core_method("System.Reflection", "MethodBase", "get_MethodHandle", 0)?;
        let mut handle = self.ran(site, &get, &[], Some(base), Vec::new())?;
        if !method.declared_in.arguments.is_empty() {
            // What was found is the method of the open type.
            let of = self.type_handle(site, &declared_in)?;
            let open = self.boxed_of(handle)?;
            let close =
                self.core_method("System.Reflection", "MethodBase", "GetMethodFromHandle", 2)?;
            let closed = self.ran(site, &close, &[], None, vec![open, of])?;
            let closed = self.object_of(closed)?;
            handle = self.ran(site, &get, &[], Some(closed), Vec::new())?;
        }
        let handle = self.boxed_of(handle)?;
        let get = self.core_method("System", "RuntimeMethodHandle", "GetFunctionPointer", 0)?;
        let pointer = self.ran(site, &get, &[], Some(handle), Vec::new())?;
        let target = self.target_for_call()?;
        let reader = target.reader();
        let pointer = reader.argument(&reader.kept(&pointer)?)?;
        let named = delegate.as_named().ok_or_else(missing_delegate)?;
        let constructors = target.types().methods(named, Some(".ctor"))?;
        let constructor = constructors.into_iter().next();
        let constructor = constructor.ok_or_else(missing_delegate)?;
        let made = self.ran(site, &constructor, &[], None, vec![this, pointer])?;
        match self.object_of(made)? {
            Argument::Object(held) => Ok(held),
            _ => Err(missing_delegate()),
        }
    }

    fn target_for_call(&mut self) -> Result<&crate::target::Target, CallError> {
        match self.stopped_target() {
            Ok(target) => Ok(target),
            Err(error) => Err(CallError::Refused(error.message)),
        }
    }

    fn types_now(&mut self) -> Result<Types<'_>, CallError> {
        self.target_for_call().map(|target| target.types())
    }

    /// A method of the framework's core by the number of its parameters.
    fn core_method(
        &mut self,
        namespace: &str,
        ty: &str,
        name: &str,
        parameters: usize,
    ) -> Result<Method, CallError> {
        let types = self.types_now()?;
        let missing = || CallError::Refused(format!("the runtime has no {ty}.{name}"));
        let named: std::rc::Rc<Named> = types.core_named(namespace, ty).ok_or_else(missing)?;
        let found = types.methods(&named, Some(name))?;
        let mut fitting = found.into_iter();
        let fits = |it: &Method| {
            it.flags.visibility() == Visibility::Public && it.parameters.len() == parameters
        };
        fitting.find(fits).ok_or_else(missing)
    }

    /// Calls what must return something.
    fn ran(
        &mut self,
        site: &CallSite,
        method: &Method,
        type_arguments: &[Type],
        this: Option<Argument>,
        arguments: Vec<Argument>,
    ) -> Result<Kept, CallError> {
        let call = Call {
            method,
            type_arguments,
            this,
            arguments,
        };
        match self.call(site, &call)? {
            Outcome::Returned(Some(kept)) => Ok(kept),
            Outcome::Returned(None) => Err(CallError::Refused(format!(
                "{} returned nothing",
                method.name
            ))),
            Outcome::Threw(kept) => {
                let target = self.target_for_call()?;
                let reader = target.reader();
                let thrown = reader.kept_object(&kept)?;
                let thrown = thrown.map(|it| reader.types.full_text(&it.ty));
                Err(CallError::Refused(format!(
                    "{} threw {}",
                    method.name,
                    thrown.as_deref().unwrap_or("an exception")
                )))
            }
        }
    }

    /// An object that a call gave, as an argument.
    fn object_of(&mut self, kept: Kept) -> Result<Argument, CallError> {
        let reader = self.target_for_call()?.reader();
        match reader.kept_object(&kept)? {
            Some(object) => Ok(Argument::Object(reader.hold(&object)?)),
            None => Err(CallError::Refused("the runtime gave null".into())),
        }
    }

    /// A struct that a call gave, as an argument.
    fn boxed_of(&mut self, kept: Kept) -> Result<Argument, CallError> {
        match self.object_of(kept)? {
            Argument::Object(held) => Ok(Argument::Boxed(held)),
            other => Ok(other),
        }
    }
}

fn missing_delegate() -> CallError {
    CallError::Refused("no delegate can be made for it".into())
}
