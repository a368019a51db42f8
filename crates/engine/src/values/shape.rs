//! Which variables are in scope at a place in code, and where each lies: from metadata and symbols alone.
//!
//! The compiler moves variables: those that a lambda captures into fields of a closure object, those of async methods and
//! iterators into fields of a state machine, and closures refer to each other. Here all of them come back under their own
//! names, next to the arguments, locals and constants that stayed where they were. No process is looked at, so a shape
//! is good for every frame at the same place and instantiation, and for places where no frame has been yet.
//!
//! Where two variables have one name the later is the inner one, and the other is marked.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use metadata::csharp::{GeneratedKind, GeneratedName};
use metadata::pdb::Pdb;
use metadata::signature;
use metadata::tables::StandAloneSigRow;
use metadata::{IlOffset, Metadata, Symbols, Token};

use super::assigned::Suspension;
use super::scope::VariableKind;
use super::{Place, Reader, Result, Scalar, Unreadable, Value};
use crate::types::{Field, Generics, Kind, ModuleId, Named, Type, TypeNotes, Types};

mod filtered;
mod moved;

/// Closures refer to each other less deeply.
const MAX_CLOSURES: u32 = 64;
/// Variables told at most; a compiler's test has a few thousand.
const MAX_VARIABLES: usize = 1 << 14;

/// A place in code, with what its type parameters stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodePlace {
    /// The module of the method.
    pub(crate) module: ModuleId,
    /// The method that runs, which may be one that the compiler made.
    pub(crate) method: Token,
    /// Where in it.
    pub(crate) offset: IlOffset,
    /// The type that declares the method, with its arguments.
    pub(crate) declared_in: Rc<Named>,
    /// What the type parameters stand for.
    pub(crate) generics: Generics,
}

impl CodePlace {
    /// A place that no frame is at: its type parameters stand for themselves.
    pub(crate) fn open(
        types: Types<'_>,
        module: ModuleId,
        method: Token,
        offset: IlOffset,
    ) -> Result<Self> {
        let metadata = types.metadata(module)?.metadata();
        let declaring = metadata.method(method)?.declaring_type()?;
        Ok(Self {
            module,
            method,
            offset,
            declared_in: types.open_named(module, declaring)?,
            generics: Generics::default(),
        })
    }

    /// The type that the user wrote the code in: around closures and state machines.
    pub(crate) fn user_type(&self, types: Types<'_>) -> Result<Rc<Named>> {
        let metadata = types.metadata(self.module)?.metadata();
        let mut token = self.declared_in.token;
        for _ in 0..MAX_CLOSURES {
            let ty = metadata.type_def(token)?;
            if generated_kind(&ty.name()?).is_none() {
                break;
            }
            let Some(outer) = ty.enclosing()? else { break };
            token = outer;
        }
        let open = types.open_named(self.module, token)?;
        // A type inside another repeats its parameters first.
        let arguments = self.declared_in.arguments.get(..open.arguments.len());
        Ok(Rc::new(Named {
            arguments: arguments.unwrap_or(&open.arguments).into(),
            ..(*open).clone()
        }))
    }
}

/// Where a variable lies.
#[derive(Debug, Clone)]
pub(crate) enum Home {
    /// In an argument of the frame.
    Argument(u32),
    /// In a local of the frame.
    Local(u32),
    /// Nowhere: it is a constant. `None` if its value is of a kind that is not known.
    Constant(Option<Place>),
    /// Nowhere: nothing in the method uses it, and the compiler has not kept it.
    Unused,
    /// In a field of the object or struct there.
    Field(Rc<Home>, Type, Field),
}

/// A type parameter, by its number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DeclaredBy {
    /// Of the type.
    Type(u32),
    /// Of the method.
    Method(u32),
}

impl DeclaredBy {
    fn of(ty: &signature::Type) -> Option<Self> {
        match ty {
            signature::Type::TypeParameter(number) => Some(Self::Type(*number)),
            signature::Type::MethodParameter(number) => Some(Self::Method(*number)),
            _ => None,
        }
    }
}

/// A variable as it is declared.
#[derive(Debug, Clone)]
pub(crate) struct Declared {
    /// Its name, as in the source.
    pub(crate) name: Rc<str>,
    /// What it is.
    pub(crate) kind: VariableKind,
    /// Its declared type.
    pub(crate) ty: Type,
    /// What the declaration adds to the type: tuple names, `dynamic`.
    pub(crate) notes: TypeNotes,
    /// The type parameter that it is declared with, if it is.
    pub(crate) parameter: Option<DeclaredBy>,
    /// Where it lies.
    pub(crate) home: Home,
    /// Where a captured parameter lies until its closure is made.
    pub(crate) before: Option<Home>,
    /// Where in the code its scope begins; 0 if that is all of the code.
    pub(crate) begins: u32,
    /// Whether another variable of the same name hides it.
    pub(crate) shadowed: bool,
}

/// The variables at a place in code: `this` first, then arguments, then locals, outer ones before inner ones.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) variables: Vec<Declared>,
    /// Fields of a state machine that hold variables which symbols do not name, under the names that the compiler gave them.
    pub(crate) unnamed: Vec<Declared>,
    /// Why names and scopes of locals are not known, if they are not.
    pub(crate) without_symbols: Option<String>,
    /// Slots of locals that are not assigned there, worked out when first asked: exactly there, and about there.
    unassigned: [OnceCell<Vec<u16>>; 2],
    /// Slots of locals that are lost there if the method was suspended before, worked out when first asked.
    lost: OnceCell<Vec<(u16, Suspension)>>,
    /// Whether fields that hold variables cannot have been stored to there, as far as that was asked.
    untouched: RefCell<HashMap<(bool, Token), bool>>,
}

impl Shape {
    /// Works out what is in scope at a place.
    pub(crate) fn of(types: Types<'_>, place: &CodePlace) -> Result<Self> {
        let module = types.module(place.module)?;
        let symbols = module.symbols(types.process);
        let mut collector = Collector {
            types,
            metadata: types.metadata(place.module)?.metadata(),
            pdb: symbols.ok().map(Symbols::pdb),
            place,
            variables: Vec::new(),
            unnamed: Vec::new(),
            begins: 0,
        };
        collector.arguments()?;
        collector.locals()?;
        collector.primary_parameters()?;
        Ok(Self {
            variables: settle(collector.variables),
            unnamed: collector.unnamed,
            without_symbols: symbols.err().map(str::to_owned),
            unassigned: Default::default(),
            lost: OnceCell::new(),
            untouched: RefCell::default(),
        })
    }

    /// The slots of locals that are not assigned yet; `found` works that out.
    pub(super) fn unassigned(&self, exactly: bool, found: impl FnOnce() -> Vec<u16>) -> &[u16] {
        let [exact, about] = &self.unassigned;
        if exactly { exact } else { about }.get_or_init(found)
    }

    /// The slots of locals that are lost if the method was suspended before; `found` works that out.
    pub(super) fn lost(
        &self,
        found: impl FnOnce() -> Vec<(u16, Suspension)>,
    ) -> &[(u16, Suspension)] {
        self.lost.get_or_init(found)
    }

    /// Whether a field cannot have been stored to, exactly there or about there; `found` works that out.
    pub(super) fn untouched(&self, key: (bool, Token), found: impl FnOnce() -> bool) -> bool {
        if let Some(known) = self.untouched.borrow().get(&key) {
            return *known;
        }
        let found = found();
        self.untouched.borrow_mut().insert(key, found);
        found
    }

    /// Whether a type of it is only known by the value that is there.
    pub(crate) fn is_open(&self) -> bool {
        self.variables.iter().any(|it| it.ty.is_open())
    }
}

/// Puts `this` first and marks what is hidden. A parameter that a closure took over is not told twice: its own slot
/// keeps the first value only.
fn settle(variables: Vec<Declared>) -> Vec<Declared> {
    let mut settled: Vec<Declared> = Vec::with_capacity(variables.len());
    let (this, others): (Vec<_>, Vec<_>) = variables
        .into_iter()
        .partition(|it| it.kind == VariableKind::This);
    // Closures inside closures all have the same `this`.
    settled.extend(this.into_iter().take(1));
    for mut variable in others {
        let earlier = settled
            .iter()
            .rposition(|it| it.name == variable.name && !it.shadowed);
        match earlier.and_then(|at| settled.get_mut(at)) {
            Some(it)
                if it.kind == VariableKind::Argument && variable.kind == VariableKind::Captured =>
            {
                variable.before = Some(it.home.clone());
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

struct Collector<'c, 't> {
    types: Types<'t>,
    metadata: Metadata<'t>,
    pdb: Option<Pdb<'t>>,
    place: &'c CodePlace,
    variables: Vec<Declared>,
    unnamed: Vec<Declared>,
    /// Where the scope begins of what is being added.
    begins: u32,
}

impl Collector<'_, '_> {
    fn spelled(&self, ty: &signature::Type) -> Result<Type> {
        let place = self.place;
        Ok(self.types.of_signature(place.module, ty, &place.generics)?)
    }

    fn add(&mut self, name: &str, kind: VariableKind, ty: Type, notes: TypeNotes, home: Home) {
        if self.variables.len() < MAX_VARIABLES {
            self.variables.push(Declared {
                name: name.into(),
                kind,
                ty,
                notes,
                parameter: None,
                home,
                before: None,
                begins: self.begins,
                shadowed: false,
            });
        }
    }

    /// Notes how the type of the last variable was written.
    fn declared_by(&mut self, ty: &signature::Type) {
        if let Some(variable) = self.variables.last_mut() {
            variable.parameter = DeclaredBy::of(ty);
        }
    }

    fn arguments(&mut self) -> Result<()> {
        let method = self.metadata.method(self.place.method)?;
        let signature = method.signature()?;
        let mut index = 0;
        if signature.convention.has_this() {
            self.this();
            index = 1;
        }
        for parameter in method.parameters()? {
            let ty = self.spelled(&parameter.ty)?;
            let home = Home::Argument(index);
            index += 1;
            if self.is_generated(ty.without_ref(), GeneratedKind::Closure) {
                self.closure(&Rc::new(home), &ty, 0);
                continue;
            }
            let name = parameter.name.as_deref().unwrap_or_default();
            if moved::is_of_query(name) {
                self.query_variables(&Rc::new(home), &ty, VariableKind::Argument, 0);
                continue;
            }
            let name = if name.is_empty() {
                format!("arg{index}")
            } else {
                name.to_owned()
            };
            let notes = parameter
                .token
                .map(|token| self.notes(token))
                .unwrap_or_default();
            self.add(&name, VariableKind::Argument, ty, notes, home);
            self.declared_by(&parameter.ty);
        }
        Ok(())
    }

    fn this(&mut self) {
        let declared_in = &self.place.declared_in;
        let ty = self
            .types
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
        let home = Home::Argument(0);
        if self.is_generated(ty.without_ref(), GeneratedKind::Closure) {
            self.closure(&Rc::new(home), &ty, 0);
        } else if self.is_generated(ty.without_ref(), GeneratedKind::StateMachine) {
            self.state_machine(&Rc::new(home), &ty);
        } else {
            self.add("this", VariableKind::This, ty, TypeNotes::default(), home);
        }
    }

    fn is_generated(&self, ty: &Type, kind: GeneratedKind) -> bool {
        let name = ty
            .as_named()
            .and_then(|named| self.types.simple_name(named).ok());
        name.is_some_and(|(_, name)| generated_kind(&name) == Some(kind))
    }

    fn notes(&self, token: Token) -> TypeNotes {
        TypeNotes::of(self.metadata, token)
    }

    /// The instance fields of a type that the compiler made.
    fn fields(&self, ty: &Type) -> Vec<Field> {
        let Some(named) = ty.without_ref().as_named() else {
            return Vec::new();
        };
        let fields = self.types.fields(named).unwrap_or_default();
        let of_instances = |it: &&Field| !it.flags.is_static();
        fields.iter().filter(of_instances).cloned().collect()
    }

    fn locals(&mut self) -> Result<()> {
        let place = self.place;
        let module = self.types.metadata(place.module)?;
        let types = match module.body(place.method)? {
            Some(body) if !body.local_signature.is_nil() => {
                let row: StandAloneSigRow = self.metadata.row_of(body.local_signature)?;
                signature::local_types(self.metadata.blob(row.signature)?)?
            }
            _ => Vec::new(),
        };
        let Some(pdb) = self.pdb else {
            for (slot, ty) in (0_u32..).zip(&types).take(MAX_VARIABLES) {
                let ty = self.spelled(ty)?;
                let (name, notes) = (format!("local{slot}"), TypeNotes::default());
                self.add(&name, VariableKind::Local, ty, notes, Home::Local(slot));
            }
            return Ok(());
        };
        for scope in pdb.local_scopes_at(place.method, place.offset) {
            let scope = scope?;
            self.begins = scope.start().0;
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
                let (raw, ty) = (ty, self.spelled(ty)?);
                let home = Home::Local(variable.index.into());
                if is_closure {
                    self.closure(&Rc::new(home), &ty, 0);
                    continue;
                }
                let notes = TypeNotes::of_local(pdb, variable.token);
                self.add(&variable.name, VariableKind::Local, ty, notes, home);
                self.declared_by(raw);
            }
            for constant in scope.constants() {
                self.constant(&constant?, pdb)?;
            }
        }
        Ok(())
    }

    fn constant(
        &mut self,
        constant: &metadata::pdb::LocalConstant<'_>,
        pdb: Pdb<'_>,
    ) -> Result<()> {
        use metadata::model::ConstantValue;
        let told = constant.value()?;
        let ty = self.spelled(&told.ty)?;
        let place = match told.value {
            Some(ConstantValue::String(text)) => Some(Place::Text(text.units().collect())),
            Some(value) => {
                let bytes = Scalar::from_constant(value).map(|it| it.to_bytes().into());
                Some(Place::Copy(bytes.unwrap_or_else(|| [0; 8].into())))
            }
            None => decimal_constant(told.raw).map(|bytes| Place::Copy(bytes.into())),
        };
        let notes = TypeNotes::of_local(pdb, constant.token);
        let home = Home::Constant(place);
        self.add(&constant.name, VariableKind::Constant, ty, notes, home);
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

impl Declared {
    /// A number that no other variable of its method has which has its name.
    pub(crate) fn number(&self) -> u64 {
        let (kind, of) = match &self.home {
            Home::Argument(number) => (0, *number),
            Home::Local(number) => (1, *number),
            Home::Constant(_) => (2, 0),
            Home::Unused => (3, 0),
            Home::Field(.., field) => (4, field.token.0),
        };
        let mut hasher = DefaultHasher::new();
        (kind, of, self.begins).hash(&mut hasher);
        hasher.finish()
    }

    /// The value of a constant.
    pub(crate) fn constant(&self, reader: &Reader<'_>) -> Option<Result<Value>> {
        match &self.home {
            Home::Constant(Some(place)) => Some(Ok(Value {
                ty: self.ty.clone(),
                place: place.clone(),
                run: reader.run,
            })),
            Home::Constant(None) => Some(Err(Unreadable::OptimizedAway)),
            _ => None,
        }
    }
}
