//! The variables of a frame, as the user wrote them.
//!
//! The compiler moves variables: those that a lambda captures into fields of a closure object, those of async methods and
//! iterators into fields of a state machine, and closures refer to each other. Here all of them come back under their own
//! names, next to the arguments, locals and constants that stayed where they were. Only what is in scope at the frame's
//! IL offset is told. Nothing runs in the program, and a variable that cannot be read is told with its reason.
//!
//! Where two variables have one name the later is the inner one: [`Scope::find`] gives it, and the other is marked.

use std::rc::Rc;

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::pdb::{HoistedScope, Pdb};
use metadata::signature;
use metadata::tables::StandAloneSigRow;
use metadata::{Metadata, Symbols, Token};

use crate::types::{Kind, Type, TypeNotes, Types};

pub(crate) use super::frames::FrameContext;
use super::{Object, Reader, Result, Unreadable, Value};

/// Closures refer to each other less deeply.
const MAX_CLOSURES: u32 = 64;
/// Variables told at most; a compiler's test has a few thousand.
const MAX_VARIABLES: usize = 1 << 14;

/// What a variable is to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableKind {
    /// `this`.
    This,
    /// A parameter.
    Argument,
    /// A local, wherever the compiler put it.
    Local,
    /// A `const` of the method.
    Constant,
    /// A variable that lives in a closure.
    Captured,
}

/// One variable.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    /// Its name, as in the source.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: VariableKind,
    /// Its declared type.
    pub(crate) ty: Type,
    /// What the declaration adds to the type: tuple names, `dynamic`.
    pub(crate) notes: TypeNotes,
    /// Where it is, or why that cannot be told.
    pub(crate) value: Result<Value>,
    /// The library's own value of an argument or local, which alone can be written when it lives in a register.
    pub(crate) root: Option<cordebug::value::Value>,
    /// The object and field that hold one that the compiler moved.
    pub(crate) holder: Option<(Object, super::Member)>,
    /// Whether another variable of the same name hides it.
    pub(crate) shadowed: bool,
}

/// The variables of a frame.
#[derive(Debug)]
pub(crate) struct Scope {
    /// Where the frame is.
    pub(crate) context: FrameContext,
    /// `this` first, then arguments, then locals, outer ones before inner ones.
    pub(crate) variables: Vec<Variable>,
    /// Why names and scopes of locals are not known, if they are not.
    pub(crate) without_symbols: Option<String>,
}

impl Scope {
    /// Reads the variables of a frame.
    pub(crate) fn read(reader: &Reader<'_>, context: FrameContext) -> Result<Self> {
        let types = reader.types;
        let module = types.module(context.module)?;
        let symbols = module.symbols(types.process);
        let mut collector = Collector {
            reader,
            metadata: types.metadata(context.module)?.metadata(),
            pdb: symbols.ok().map(Symbols::pdb),
            context: &context,
            variables: Vec::new(),
        };
        collector.arguments()?;
        collector.locals()?;
        let variables = settle(collector.variables);
        let without_symbols = symbols.err().map(str::to_owned);
        Ok(Self {
            variables,
            without_symbols,
            context,
        })
    }

    /// The variable that a name means.
    pub(crate) fn find(&self, name: &str) -> Option<&Variable> {
        let mut named = self.variables.iter().filter(|it| it.name == name);
        named.find(|it| !it.shadowed)
    }

    /// The user's `this`: that of the method around a lambda or state machine, if there is one.
    pub(crate) fn this(&self) -> Option<&Variable> {
        let this = |it: &&Variable| it.kind == VariableKind::This;
        self.variables.iter().find(this)
    }
}

/// Puts `this` first and marks what is hidden. A parameter that a closure took over is not told twice: its own slot
/// keeps the first value only.
fn settle(variables: Vec<Variable>) -> Vec<Variable> {
    let mut settled: Vec<Variable> = Vec::with_capacity(variables.len());
    let (this, others): (Vec<_>, Vec<_>) = variables
        .into_iter()
        .partition(|it| it.kind == VariableKind::This);
    // Closures inside closures all have the same `this`.
    settled.extend(this.into_iter().take(1));
    for variable in others {
        let earlier = settled
            .iter()
            .rposition(|it| it.name == variable.name && !it.shadowed);
        match earlier.and_then(|at| settled.get_mut(at)) {
            Some(it)
                if it.kind == VariableKind::Argument && variable.kind == VariableKind::Captured =>
            {
                *it = variable;
                continue;
            }
            Some(it) => it.shadowed = true,
            None => {}
        }
        settled.push(variable);
    }
    settled
}

/// The kind of a name that the compiler made; arity marks do not matter.
pub(super) fn generated_kind(name: &str) -> Option<GeneratedKind> {
    let bare = name.split('`').next().unwrap_or(name);
    GeneratedName::parse(bare).map(|it| it.kind)
}

/// A variable that the compiler moved: the field, its value, and what holds it unless that is a struct.
type Moved = (
    crate::types::Field,
    Result<Value>,
    Option<(Object, super::Member)>,
);

struct Collector<'r, 't> {
    reader: &'r Reader<'t>,
    metadata: Metadata<'t>,
    pdb: Option<Pdb<'t>>,
    context: &'r FrameContext,
    variables: Vec<Variable>,
}

impl Collector<'_, '_> {
    fn types(&self) -> Types<'_> {
        self.reader.types
    }

    fn spelled(&self, ty: &signature::Type) -> Result<Type> {
        let context = self.context;
        Ok(self
            .types()
            .of_signature(context.module, ty, &context.generics)?)
    }

    fn push(&mut self, variable: Variable) {
        if self.variables.len() < MAX_VARIABLES {
            self.variables.push(variable);
        }
    }

    /// A value of the frame, as the variable of that name.
    fn add(
        &mut self,
        name: &str,
        kind: VariableKind,
        ty: Type,
        notes: TypeNotes,
        root: std::result::Result<cordebug::value::Value, cordebug::Error>,
    ) {
        let (value, root) = match root {
            Ok(root) => (self.reader.of_runtime(&root, Some(ty.clone())), Some(root)),
            Err(error) => (Err(error.into()), None),
        };
        // The runtime knows better where the method's type parameters are not known.
        let ty = match &value {
            Ok(value) if ty.is_open() => value.ty.clone(),
            _ => ty,
        };
        self.push(Variable {
            name: name.to_owned(),
            kind,
            ty,
            notes,
            value,
            root,
            holder: None,
            shadowed: false,
        });
    }

    fn arguments(&mut self) -> Result<()> {
        let method = self.metadata.method(self.context.method)?;
        let signature = method.signature()?;
        let mut index = 0;
        if signature.convention.has_this() {
            self.this();
            index = 1;
        }
        for parameter in method.parameters()? {
            let ty = self.spelled(&parameter.ty)?;
            let root = self.context.frame.argument(index);
            index += 1;
            if self.is_generated(ty.without_ref(), GeneratedKind::Closure) {
                let closure = root
                    .map_err(Unreadable::from)
                    .and_then(|it| self.reader.of_runtime(&it, Some(ty)));
                self.closure(closure, 0);
                continue;
            }
            let name = parameter.name.as_deref().unwrap_or_default();
            let name = if name.is_empty() {
                format!("arg{index}")
            } else {
                name.to_owned()
            };
            let notes = parameter
                .token
                .map(|token| self.notes(token))
                .unwrap_or_default();
            self.add(&name, VariableKind::Argument, ty, notes, root);
        }
        Ok(())
    }

    fn this(&mut self) {
        let declared_in = self.context.declared_in.clone();
        let ty = self
            .types()
            .construct(
                declared_in.module,
                declared_in.token,
                declared_in.arguments.clone(),
            )
            .unwrap_or(Type::OBJECT);
        let in_place =
            matches!(declared_in.kind, Kind::Struct | Kind::Enum(_)) || ty.is_value() == Some(true);
        let ty = if in_place {
            Type::ByRef(Rc::new(ty))
        } else {
            ty
        };
        let root = self.context.frame.argument(0);
        let is_closure = self.is_generated(ty.without_ref(), GeneratedKind::Closure);
        if !is_closure && !self.is_generated(ty.without_ref(), GeneratedKind::StateMachine) {
            self.add("this", VariableKind::This, ty, TypeNotes::default(), root);
            return;
        }
        let value = root
            .map_err(Unreadable::from)
            .and_then(|root| self.reader.of_runtime(&root, Some(ty.clone())));
        if is_closure {
            self.closure(value, 0);
        } else {
            self.state_machine(&ty, value);
        }
    }

    fn is_generated(&self, ty: &Type, kind: GeneratedKind) -> bool {
        let name = ty
            .as_named()
            .and_then(|named| self.types().simple_name(named).ok());
        name.is_some_and(|(_, name)| generated_kind(&name) == Some(kind))
    }

    fn notes(&self, token: Token) -> TypeNotes {
        TypeNotes::of(self.metadata, token)
    }

    /// The fields of a closure are the variables it captured; those of the closures it refers to come before.
    fn closure(&mut self, closure: Result<Value>, depth: u32) {
        if depth >= MAX_CLOSURES {
            return;
        }
        let Ok(fields) = closure.and_then(|it| self.fields_of(&it)) else {
            return;
        };
        let is_outer = |name: &str| generated_kind(name) == Some(GeneratedKind::ClosureLocal);
        for (_, outer, _) in fields.iter().filter(|(it, ..)| is_outer(&it.name)) {
            self.closure(outer.clone(), depth + 1);
        }
        for (field, value, holder) in fields {
            let name = match generated_kind(&field.name) {
                None => field.name.to_string(),
                Some(GeneratedKind::This) => {
                    self.captured_this(&field.ty, value);
                    continue;
                }
                // The delegates of a closure that captured nothing, and the like.
                Some(_) => continue,
            };
            self.push(Variable {
                name,
                kind: VariableKind::Captured,
                notes: self.notes(field.token),
                ty: field.ty,
                value,
                root: None,
                holder,
                shadowed: false,
            });
        }
    }

    fn captured_this(&mut self, ty: &Type, value: Result<Value>) {
        // A lambda in an async method: its `this` is the state machine's, or a closure around it.
        if self.is_generated(ty, GeneratedKind::Closure) {
            self.closure(value, 1);
            return;
        }
        self.push(Variable {
            name: "this".into(),
            kind: VariableKind::This,
            ty: ty.clone(),
            notes: TypeNotes::default(),
            value,
            root: None,
            holder: None,
            shadowed: false,
        });
    }

    /// The fields of a state machine: parameters under their own names, locals that are in scope here, closures.
    fn state_machine(&mut self, ty: &Type, machine: Result<Value>) {
        let scopes = self
            .pdb
            .and_then(|pdb| pdb.hoisted_scopes(self.context.method).ok())
            .unwrap_or_default();
        let fields = match machine.and_then(|it| self.fields_of(&it)) {
            Ok(fields) => fields,
            Err(why) => return self.unreadable_machine(ty, &why),
        };
        let mut arguments = Vec::new();
        for (field, value, holder) in fields {
            let (name, kind) = match GeneratedName::parse(&field.name) {
                None => (field.name.to_string(), VariableKind::Argument),
                Some(name) => match name.kind {
                    GeneratedKind::This => {
                        self.captured_this(&field.ty, value);
                        continue;
                    }
                    GeneratedKind::ClosureLocal => {
                        self.closure(value, 0);
                        continue;
                    }
                    GeneratedKind::HoistedLocal if !name.text.is_empty() => {
                        if !self.in_scope(&scopes, name.hoisted_slot()) {
                            continue;
                        }
                        (name.text.to_owned(), VariableKind::Local)
                    }
                    _ => continue,
                },
            };
            let variable = Variable {
                name,
                kind,
                notes: self.notes(field.token),
                ty: field.ty,
                value,
                root: None,
                holder,
                shadowed: false,
            };
            if kind == VariableKind::Argument {
                arguments.push(variable);
            } else {
                self.push(variable);
            }
        }
        // Arguments come first, so that a captured one takes the place of its own copy.
        arguments.append(&mut self.variables);
        self.variables = arguments;
    }

    fn in_scope(&self, scopes: &[HoistedScope], slot: Option<usize>) -> bool {
        // Without scopes everything is told rather than nothing.
        let scope = slot.and_then(|slot| scopes.get(slot));
        scope.is_none_or(|scope| scope.contains(self.context.offset))
    }

    fn unreadable_machine(&mut self, ty: &Type, why: &Unreadable) {
        let named = ty.without_ref().as_named().cloned();
        let Some(fields) = named.and_then(|named| self.types().fields(&named).ok()) else {
            return;
        };
        for field in fields.iter() {
            if let Some(name) = metadata::csharp::field_display_name(&field.name) {
                let kind = if name == "this" {
                    VariableKind::This
                } else {
                    VariableKind::Local
                };
                self.push(Variable {
                    name: name.into_owned(),
                    kind,
                    ty: field.ty.clone(),
                    notes: TypeNotes::default(),
                    value: Err(why.clone()),
                    root: None,
                    holder: None,
                    shadowed: false,
                });
            }
        }
    }

    /// All instance fields of an object or struct, with their values.
    fn fields_of(&self, value: &Value) -> Result<Vec<Moved>> {
        let value = self.reader.behind_ref(value)?;
        if value.ty.is_value() == Some(true) {
            let members = self.reader.struct_members(&value.ty)?;
            let read = |it: &super::Member| {
                let field = self.reader.struct_member(&value, it);
                (it.field.clone(), field, None)
            };
            return Ok(members.iter().map(read).collect());
        }
        let object: Object = self.reader.object(&value)?.ok_or(Unreadable::NotAssigned)?;
        let members = self.reader.members(&object)?;
        let read = |it: &super::Member| {
            let holder = Some((object.clone(), it.clone()));
            (
                it.field.clone(),
                Ok(self.reader.member(&object, it)),
                holder,
            )
        };
        Ok(members.iter().map(read).collect())
    }

    fn locals(&mut self) -> Result<()> {
        let context = self.context;
        let module = self.types().metadata(context.module)?;
        let types = match module.body(context.method)? {
            Some(body) if !body.local_signature.is_nil() => {
                let row: StandAloneSigRow = self.metadata.row_of(body.local_signature)?;
                signature::local_types(self.metadata.blob(row.signature)?)?
            }
            _ => Vec::new(),
        };
        let Some(pdb) = self.pdb else {
            for (slot, ty) in (0_u32..).zip(&types).take(MAX_VARIABLES) {
                let ty = self.spelled(ty)?;
                let root = context.frame.local(slot);
                let name = format!("local{slot}");
                self.add(&name, VariableKind::Local, ty, TypeNotes::default(), root);
            }
            return Ok(());
        };
        for scope in pdb.local_scopes_at(context.method, context.offset) {
            let scope = scope?;
            for variable in scope.variables() {
                let variable = variable?;
                let Some(ty) = types.get(usize::from(variable.index)) else {
                    continue;
                };
                let kind = generated_kind(&variable.name);
                let is_closure = kind == Some(GeneratedKind::ClosureLocal);
                if (variable.is_hidden || kind.is_some()) && !is_closure {
                    continue;
                }
                let ty = self.spelled(ty)?;
                let root = context.frame.local(variable.index.into());
                if is_closure {
                    let closure = root
                        .map_err(Unreadable::from)
                        .and_then(|it| self.reader.of_runtime(&it, Some(ty)));
                    self.closure(closure, 0);
                    continue;
                }
                let notes = TypeNotes::of_local(pdb, variable.token);
                self.add(&variable.name, VariableKind::Local, ty, notes, root);
            }
            for constant in scope.constants() {
                let constant = constant?;
                self.constant(&constant, pdb)?;
            }
        }
        Ok(())
    }

    fn constant(
        &mut self,
        constant: &metadata::pdb::LocalConstant<'_>,
        pdb: Pdb<'_>,
    ) -> Result<()> {
        let told = constant.value()?;
        let ty = self.spelled(&told.ty)?;
        let value = match told.value {
            Some(value) => Ok(self.reader.constant(ty.clone(), value)),
            None => decimal_constant(told.raw)
                .map(|bytes| self.reader.copied(ty.clone(), bytes))
                .ok_or(Unreadable::OptimizedAway),
        };
        self.push(Variable {
            name: constant.name.clone().into_owned(),
            kind: VariableKind::Constant,
            notes: TypeNotes::of_local(pdb, constant.token),
            ty,
            value,
            root: None,
            holder: None,
            shadowed: false,
        });
        Ok(())
    }
}

/// The fields of a `decimal` from the constant's bytes: sign and scale, then low, middle and high part.
fn decimal_constant(raw: &[u8]) -> Option<[u8; 16]> {
    let (&flags, rest) = raw.split_first()?;
    let parts: [u8; 12] = rest.try_into().ok()?;
    let mut bytes = [0; 16];
    // `_flags` has the sign in its highest bit and the scale in its third byte; `_hi32` and `_lo64` follow.
    let sign = u32::from(flags & 0x80) << 24;
    let word = sign | (u32::from(flags & 0x7f) << 16);
    bytes.get_mut(..4)?.copy_from_slice(&word.to_le_bytes());
    bytes.get_mut(4..8)?.copy_from_slice(parts.get(8..)?);
    bytes.get_mut(8..)?.copy_from_slice(parts.get(..8)?);
    Some(bytes)
}
