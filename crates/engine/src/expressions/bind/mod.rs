//! From a tree to a plan: what each name means, which operator, conversion and overload C# chooses.
//!
//! Only metadata and the names of a frame are looked at, never a value, so that a plan fits every stop in the same
//! method and instantiation. Every error has its place in the text and, where C# has one, its code.

mod assumed;
mod callers;
mod calls;
mod casts;
mod collections;
mod completion;
mod conditional;
mod constraints;
mod context;
mod conversions;
mod converted;
mod creation;
mod definite;
mod dynamic;
mod enum_operators;
mod equality;
mod formattable;
mod grids;
mod inference;
mod initialisers;
mod lambdas;
mod late;
mod list_patterns;
mod literals;
mod local_functions;
mod lookup;
mod members;
mod misfits;
pub(crate) mod missing;
mod names;
mod natural_types;
mod operators;
mod overloads;
mod parameters;
mod patterns;
mod pointers;
mod positional;
mod postfix;
mod queries;
mod ranges;
mod relations;
mod spreading;
mod stored;
mod super_names;
mod tuple_names;
mod type_names;
mod user_operators;
pub(super) mod well_known;

use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use syntax::Span;
use syntax::tree::{Expr, ExprKind, Identifier, Lambda, PseudoVariable};

use super::error::{Fail, Result};
use super::plan::{Node, Op};
use super::scalar::Kind;
use crate::types::{Method, Type, Types};

pub(crate) use context::{Bounds, Context, Import, Variable};
pub(crate) use dynamic::Probe;
pub(crate) use late::{Given, Late, LateBinder};
pub(crate) use names::constant;
pub(in crate::expressions) use overloads::is_in;
use well_known::WellKnown;

/// The assembly of LINQ.
pub(crate) const LINQ: &str = "System.Linq";

/// How often lambdas are bound again while overloads are tried; nested ones multiply.
const MAX_LAMBDA_BINDS: u32 = 4000;

/// How long binding may take unless told otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Separates the names of variables that travel in one tuple through a query.
const CARRIED: &str = "\u{1}";

/// Binds one expression.
pub(crate) struct Binder<'t> {
    types: Types<'t>,
    known: WellKnown,
    context: &'t Context,
    /// Variables of the expression itself, the innermost last.
    locals: Vec<Local>,
    /// The first of those that belong to the innermost lambda, and the first behind its parameters.
    own_locals: (usize, usize),
    /// The slots of variables that are assigned, and of those that lambdas inside of others read.
    assigned: Vec<u32>,
    captured: Vec<u32>,
    /// The names of the variables of queries.
    range_variables: Vec<Box<str>>,
    /// The number of slots given out.
    slots: u32,
    /// Whether overflow is an error here.
    checked: bool,
    /// Whether `unchecked` is around.
    unchecked: bool,
    /// What `.a` and `[a]` after `?` are members of.
    receivers: Vec<Node>,
    /// Whether what is bound is to be assigned, so that properties stay properties.
    assigning: bool,
    /// The name that is called, if it is to be what can be called: members that cannot be hide none that can (C# 12.5).
    called: Option<Span>,
    /// Whether LINQ is taken for loaded where it is not.
    assumes: bool,
    /// Whether fields that are readonly may be assigned.
    forced: bool,
    lambda_binds: u32,
    /// Whether the whole expression is a name.
    bare: bool,
    /// Whether variables that are declared with a type parameter are taken as objects.
    as_objects: bool,
    /// The names that the arguments of the calls which are being bound give to tuple types.
    tuple_names: Vec<(Type, TupleNames)>,
    /// The names of what lambdas take, as the calls tell them that these are arguments of.
    input_names: Vec<tuple_names::InputNames>,
    /// The slots of variables that `out var` declares, until the call is bound that they are arguments of.
    out_variables: Vec<u32>,
    /// The slots that hold `$exception`, which may be any exception: patterns may ask for every type.
    exception_slots: Vec<u32>,
    /// The first slot of the outermost lambda that is being bound.
    outermost_lambda: Option<u32>,
    /// The text of the expression, where it is known.
    text: Rc<str>,
    /// When to give up.
    deadline: Instant,
    extensions: Option<lookup::Extensions>,
    /// The local functions of the frame's method, by the names that were met.
    local_functions: HashMap<Box<str>, local_functions::Declared>,
    /// Looks at what is dynamic.
    probe_of_values: Option<&'t dyn Probe>,
    /// Whether something dynamic was met.
    met_dynamic: bool,
    /// Whether the call that is being bound is one on a sequence of `dynamic`.
    dynamic_elements: bool,
    /// What completion wants to know of the place of the cursor.
    probe: completion::Probe,
}

/// A variable of the expression itself: of a lambda, a query or a pattern.
#[derive(Debug, Clone)]
struct Local {
    name: Box<str>,
    slot: u32,
    ty: Type,
    /// The names in its type, or in that of the tuple which it is an element of.
    names: TupleNames,
    /// Set if it is that element of the tuple in the slot.
    item: Option<(usize, Type)>,
    /// Whether it is an element of a sequence of `dynamic`.
    dynamic: bool,
    /// Where its name is written, if it is a declaration.
    at: Option<Span>,
}

/// Names of tuple elements.
pub(super) type TupleNames = Rc<[Option<Rc<str>>]>;

/// What an expression is before it is known what it is wanted as.
#[derive(Clone)]
pub(super) enum Operand<'e> {
    /// A value with a type.
    Value(Node),
    /// `null`
    Null(Span),
    /// `default`
    Default(Span),
    /// A lambda, which gets its type from its place.
    Lambda(&'e Lambda, Span),
    /// Methods of one name.
    Group(Box<Group>),
    /// A type.
    Type(Type, Span),
    /// A namespace.
    Namespace(String, Span),
    /// Something else that gets its type from its place: `new()`, `[1, 2]`, branches without a common type.
    Untyped(&'e Expr),
}

/// Methods of one name, and what they are called on.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(super) name: Box<str>,
    /// The object; `None` for a type's methods, and for those of the frame's own type in a static method.
    pub(super) target: Option<Node>,
    /// Whether the target was written as a type.
    pub(super) on_type: bool,
    /// The type whose members they are, for messages.
    pub(super) ty: Option<Type>,
    pub(super) methods: Vec<Method>,
    pub(super) type_arguments: Vec<Type>,
    /// Whether the target is a `this` that was not written.
    pub(super) implied: bool,
    /// Whether the call must not be dispatched by the object's type.
    pub(super) is_base: bool,
    pub(super) span: Span,
}

impl Operand<'_> {
    pub(super) fn span(&self) -> Span {
        match self {
            Operand::Value(node) => node.span,
            Operand::Null(span)
            | Operand::Default(span)
            | Operand::Lambda(_, span)
            | Operand::Type(_, span)
            | Operand::Namespace(_, span) => *span,
            Operand::Group(group) => group.span,
            Operand::Untyped(expr) => expr.span,
        }
    }

    pub(super) fn value(&self) -> Option<&Node> {
        match self {
            Operand::Value(node) => Some(node),
            _ => None,
        }
    }
}

impl<'t> Binder<'t> {
    /// A binder for expressions in a frame of `context`.
    pub(crate) fn new(types: Types<'t>, context: &'t Context) -> Self {
        Self {
            types,
            known: WellKnown::default(),
            context,
            locals: Vec::new(),
            own_locals: (0, 0),
            assigned: Vec::new(),
            captured: Vec::new(),
            range_variables: Vec::new(),
            slots: 0,
            checked: context.checked,
            unchecked: false,
            receivers: Vec::new(),
            assigning: false,
            called: None,
            forced: false,
            lambda_binds: MAX_LAMBDA_BINDS,
            bare: false,
            as_objects: false,
            exception_slots: Vec::new(),
            outermost_lambda: None,
            tuple_names: Vec::new(),
            input_names: Vec::new(),
            out_variables: Vec::new(),
            text: Rc::from(""),
            deadline: Instant::now() + TIME_LIMIT,
            extensions: None,
            local_functions: HashMap::new(),
            probe_of_values: None,
            met_dynamic: false,
            assumes: false,
            dynamic_elements: false,
            probe: completion::Probe::default(),
        }
    }

    /// Lets fields be assigned that are readonly.
    pub(crate) fn forcing(mut self, forced: bool) -> Self {
        self.forced = forced;
        self
    }

    /// Gives up at `deadline`.
    pub(crate) fn until(mut self, deadline: Instant) -> Self {
        self.deadline = deadline;
        self
    }

    /// Knows the text that the tree was made of, as arguments that ask for it get parts of it.
    pub(crate) fn reading(mut self, text: &str) -> Self {
        self.read(&text.into());
        self
    }

    /// The same for a binder that exists already.
    pub(crate) fn read(&mut self, text: &Rc<str>) {
        self.text = Rc::clone(text);
    }

    /// The plan of a whole expression.
    pub(crate) fn whole(&mut self, expr: &Expr) -> Result<Node> {
        self.bare = matches!(expr.without_parens().kind, ExprKind::Name(_));
        let bound = self
            .bind_closed(expr)
            .and_then(|it| self.natural_or_group(it));
        let bound = self.or_as_objects(bound, |this| {
            let bound = this.bind_closed(expr);
            bound.and_then(|it| this.natural_or_group(it))
        });
        bound
            .and_then(assigned_where_read)
            .map_err(|fail| self.in_lambda(self.with_what_is_missing(fail)))
    }

    /// The plan of a condition.
    pub(crate) fn condition(&mut self, expr: &Expr) -> Result<Node> {
        let bound = self.bind(expr);
        let bound = bound.and_then(|it| self.boolean(it, expr.span));
        let bound = self.or_as_objects(bound, |this| {
            let bound = this.bind(expr);
            bound.and_then(|it| this.boolean(it, expr.span))
        });
        bound
            .and_then(assigned_where_read)
            .map_err(|fail| self.in_lambda(self.with_what_is_missing(fail)))
    }

    /// How many variables a plan needs.
    pub(crate) fn slots(&self) -> u32 {
        self.slots
    }

    /// Binds a tree in whatever meaning it has; what is dynamic as what it holds.
    pub(super) fn bind<'e>(&mut self, expr: &'e Expr) -> Result<Operand<'e>> {
        let bound = self.bind_closed(expr)?;
        Ok(self.opened(bound))
    }

    /// The same, with what is dynamic as the object it is.
    fn bind_closed<'e>(&mut self, expr: &'e Expr) -> Result<Operand<'e>> {
        let span = expr.span;
        let value = match &expr.kind {
            ExprKind::Literal(literal) => return self.literal(literal, span),
            ExprKind::DefaultLiteral => return Ok(Operand::Default(span)),
            ExprKind::Interpolated(parts) => self.interpolated(parts, span)?,
            ExprKind::Name(name) => return self.simple_name(name, span),
            ExprKind::AliasQualified(alias, name) => {
                return self.alias_qualified(alias, name, span);
            }
            ExprKind::Predefined(predefined) => {
                return Ok(Operand::Type(self.predefined(*predefined), span));
            }
            ExprKind::Pseudo(pseudo) => self.pseudo(*pseudo, span)?,
            ExprKind::This => self.this(span)?,
            ExprKind::Base => {
                return Err(Fail::cs(
                    "CS0175",
                    span,
                    "`base` is only valid before a member: base.Name",
                ));
            }
            ExprKind::Paren(inner) => return self.parenthesized(inner, span),
            ExprKind::Tuple(elements) => return self.tuple(expr, elements),
            ExprKind::Member { target, name, .. } => return self.member(target, name, span),
            ExprKind::MemberBinding(name) => return self.member_binding(name, span),
            ExprKind::ElementBinding(arguments) => self.element_binding(arguments, span)?,
            ExprKind::Call { target, arguments } => {
                return self.call(expr, target, arguments, span);
            }
            ExprKind::Index { target, arguments } => self.index(target, arguments, span)?,
            ExprKind::ConditionalAccess { target, access } => {
                self.conditional_access(target, access, span)?
            }
            ExprKind::Postfix(op, inner) => return self.postfix(*op, inner, span),
            ExprKind::Unary(op, inner) => self.unary(*op, inner, span)?,
            ExprKind::Binary(op, left, right) => return self.binary(*op, left, right, span),
            ExprKind::Assign(op, left, right) => self.assign(*op, left, right, span)?,
            ExprKind::Conditional(condition, yes, no) => {
                return self.conditional(expr, condition, yes, no);
            }
            ExprKind::Range(start, end) => self.range(start.as_deref(), end.as_deref(), span)?,
            ExprKind::Cast(ty, inner) => self.cast(ty, inner, span)?,
            ExprKind::As(inner, ty) => self.as_type(inner, ty, span)?,
            ExprKind::Is(inner, pattern) => self.is(inner, pattern, span)?,
            ExprKind::Switch(subject, arms) => return self.switch(expr, subject, arms),
            ExprKind::New(new) if new.ty.is_none() => return Ok(Operand::Untyped(expr)),
            ExprKind::New(new) => self.new_object(new, span)?,
            ExprKind::NewArray(new) => self.new_array(new, span)?,
            ExprKind::Anonymous(members) => self.anonymous(members, span)?,
            ExprKind::Collection(_) => return Ok(Operand::Untyped(expr)),
            ExprKind::TypeOf(ty) => self.type_of(ty, span)?,
            ExprKind::SizeOf(ty) => self.size_of(ty, span)?,
            ExprKind::Default(written) => {
                let ty = self.ty(written)?;
                let mut node = self.default_value(&ty, span)?;
                self.name_as_written(&mut node, written);
                node
            }
            ExprKind::Checked(checked, inner) => {
                let outer = (self.checked, self.unchecked);
                (self.checked, self.unchecked) = (*checked, !checked);
                let bound = self.bind(inner);
                (self.checked, self.unchecked) = outer;
                return bound.map(|it| self.spanning(it, span));
            }
            ExprKind::Lambda(lambda) => return Ok(Operand::Lambda(lambda, span)),
            ExprKind::Query(query) => self.query(query, span)?,
            ExprKind::With(inner, initializer) => self.with(inner, initializer, span)?,
            ExprKind::Ref(_) => {
                return Err(Fail::new(
                    span,
                    "`ref` cannot be evaluated here; leave it out to get the value",
                ));
            }
            ExprKind::Declaration(..) => {
                return Err(Fail::cs(
                    "CS8185",
                    span,
                    "a declaration is not allowed in this context",
                ));
            }
        };
        Ok(Operand::Value(value))
    }

    fn parenthesized<'e>(&mut self, inner: &'e Expr, span: Span) -> Result<Operand<'e>> {
        let bound = self.bind(inner)?;
        Ok(self.spanning(bound, span))
    }

    /// The same, told with a wider place.
    fn spanning<'e>(&self, operand: Operand<'e>, span: Span) -> Operand<'e> {
        match operand {
            Operand::Value(mut node) => {
                node.span = span;
                Operand::Value(node)
            }
            other => other,
        }
    }

    /// Binds what must be a value with a type of its own.
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Node> {
        let operand = self.bind(expr)?;
        self.natural(operand)
    }

    /// The value of an operand in its own type.
    pub(super) fn natural(&mut self, operand: Operand<'_>) -> Result<Node> {
        match operand {
            Operand::Value(node) => Ok(node),
            Operand::Null(span) => {
                // On its own a null has no type; it is shown as what every reference is.
                let constant = super::plan::Constant::Null;
                let mut node = Node::new(Op::Constant(constant.clone()), Type::OBJECT, span);
                node.constant = Some(constant);
                Ok(node)
            }
            Operand::Default(span) => Err(Fail::cs(
                "CS8716",
                span,
                "there is no target type for the default literal",
            )),
            Operand::Lambda(lambda, span) => self.natural_lambda(lambda, span),
            Operand::Group(group) if !self.is_found(&group) => {
                let of = group.ty.as_ref().map(|it| self.text(it));
                let (of, name) = (of.unwrap_or_default(), &group.name);
                let told = format!("`{of}` has no definition for `{name}`");
                Err(Fail::cs("CS1061", group.span, told))
            }
            Operand::Group(group) => Err(Fail::cs(
                "CS8917",
                group.span,
                format!("`{}` is a method; call it with arguments", group.name),
            )
            .hint(format!("write {}(…)", group.name))),
            Operand::Type(ty, span) => Err(Fail::cs(
                "CS0119",
                span,
                format!(
                    "`{}` is a type, which is not valid as a value here",
                    self.types.text(&ty)
                ),
            )
            .hint("use typeof(…) or one of its static members")),
            Operand::Namespace(name, span) => Err(Fail::cs(
                "CS0118",
                span,
                format!("`{name}` is a namespace, which is not valid as a value here"),
            )),
            Operand::Untyped(expr) => Err(self.no_natural_type(expr)),
        }
    }

    fn no_natural_type(&self, expr: &Expr) -> Box<Fail> {
        match &expr.kind {
            ExprKind::New(_) => {
                Fail::cs("CS8754", expr.span, "there is no target type for `new(…)`")
            }
            ExprKind::Collection(_) => Fail::cs(
                "CS9176",
                expr.span,
                "there is no target type for the collection expression",
            )
            .hint("cast it: (int[])[1, 2]"),
            ExprKind::Switch(..) => Fail::cs(
                "CS8506",
                expr.span,
                "no best type was found for the switch expression",
            ),
            ExprKind::Tuple(_) => Fail::cs(
                "CS0815",
                expr.span,
                "the tuple has an element without a type",
            ),
            _ => Fail::cs(
                "CS0173",
                expr.span,
                "the type of the conditional expression cannot be determined, as there is no conversion between its branches",
            ),
        }
    }

    /// A new slot.
    pub(super) fn slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Declares a variable of the expression.
    pub(super) fn declare(&mut self, name: &str, ty: &Type, names: TupleNames) -> u32 {
        let slot = self.slot();
        self.locals.push(Local {
            name: name.into(),
            slot,
            ty: ty.clone(),
            names,
            item: None,
            dynamic: self.dynamic_elements && *ty == Type::OBJECT,
            at: None,
        });
        slot
    }

    /// Declares a variable that is written in the text, if the lambda or expression has none of its name.
    pub(super) fn declare_written(
        &mut self,
        name: &Identifier,
        ty: &Type,
        names: TupleNames,
    ) -> Result<u32> {
        self.must_be_new(name)?;
        let slot = self.declare(&name.text, ty, names);
        self.note_written(name);
        Ok(slot)
    }

    /// Notes where the variable that was declared last is written.
    fn note_written(&mut self, name: &Identifier) {
        if let Some(local) = self.locals.last_mut().filter(|it| it.name == name.text) {
            local.at = Some(name.span);
        }
    }

    /// Refuses a name that another variable of the innermost lambda has.
    fn must_be_new(&self, name: &Identifier) -> Result<()> {
        // What is bound once more meets itself.
        let other = |it: &&Local| it.name == name.text && it.at.is_some_and(|at| at != name.span);
        // A lambda may call its variables as those around it are called.
        let (first, own) = self.own_locals;
        let parameters = self.locals.get(first..own).unwrap_or_default();
        let inside = self.locals.get(own..).unwrap_or_default();
        let code = match (
            inside.iter().any(|it| other(&it)),
            parameters.iter().any(|it| other(&it)),
        ) {
            (true, _) => "CS0128",
            (false, true) => "CS0136",
            (false, false) => return Ok(()),
        };
        let told = format!("the expression has a variable `{}` here already", name.text);
        Err(Fail::cs(code, name.span, told))
    }

    /// Declares a parameter, or all variables that one carries.
    pub(super) fn declare_parameter(&mut self, name: &str, ty: &Type, names: TupleNames) -> u32 {
        let names = match names.is_empty() {
            true => self.known_names(ty),
            false => names,
        };
        if !name.contains(CARRIED) {
            return self.declare(name, ty, names);
        }
        let slot = self.slot();
        let elements = self.tuple_elements(ty).unwrap_or_default();
        for (index, (name, element)) in name.split(CARRIED).zip(elements).enumerate() {
            self.locals.push(Local {
                name: name.into(),
                slot,
                ty: element,
                names: Rc::clone(&names),
                item: Some((index, ty.clone())),
                dynamic: false,
                at: None,
            });
        }
        slot
    }

    /// The value of a slot.
    pub(super) fn slot_node(&self, slot: u32, ty: &Type, span: Span) -> Node {
        Node::new(Op::Slot(slot), ty.clone(), span)
    }

    /// The value of a slot that holds another value, with its names.
    pub(super) fn held_in(&self, slot: u32, value: &Node) -> Node {
        let mut read = self.slot_node(slot, &value.ty, value.span);
        read.names = Rc::clone(&value.names);
        read
    }

    /// Remembers a slot that holds `$exception`: its type is that of this exception, and the next one has another.
    pub(super) fn note_exception(&mut self, subject: &Node, slot: u32) {
        if is_exception(subject) {
            self.exception_slots.push(slot);
        }
    }

    /// Whether a value is `$exception`, which may be of any type of exceptions wherever an expression asks.
    pub(super) fn may_be_any_exception(&self, subject: &Node) -> bool {
        is_exception(subject)
            || matches!(subject.op, Op::Slot(slot) if self.exception_slots.contains(&slot))
    }

    /// A type's C# text in quotes of messages.
    pub(super) fn text(&self, ty: &Type) -> String {
        self.types.text(ty).to_string()
    }

    /// The primitive behind a type: of enums `None`.
    pub(super) fn kind(&self, ty: &Type) -> Option<Kind> {
        well_known::kind(self.types, ty)
    }

    fn pseudo(&mut self, pseudo: PseudoVariable, span: Span) -> Result<Node> {
        let ty = match pseudo {
            PseudoVariable::ProcessId | PseudoVariable::ThreadId => Type::INT,
            PseudoVariable::HitCount => Type::Primitive(metadata::signature::Primitive::I8),
            PseudoVariable::Exception => match &self.context.exception {
                Some(ty) => ty.clone(),
                None => {
                    return Err(Fail::new(
                        span,
                        "there is no $exception: the thread has thrown none that is being handled here",
                    ));
                }
            },
            PseudoVariable::ReturnValue(number) => match self
                .context
                .return_values
                .iter()
                .find(|(it, ..)| *it == number)
            {
                Some((_, ty, names)) => {
                    let mut node = Node::new(Op::Pseudo(pseudo), ty.clone(), span);
                    node.names = names.clone();
                    return Ok(node);
                }
                None => {
                    let why = match number {
                        0 => "the last step did not leave a method that returns a value",
                        _ => "the last step did not leave so many methods that return a value",
                    };
                    return Err(Fail::new(span, format!("there is no {pseudo}: {why}")));
                }
            },
            PseudoVariable::Handle(number) => {
                match self.context.handles.iter().find(|(it, _)| *it == number) {
                    Some((_, ty)) => ty.clone(),
                    None => {
                        return Err(Fail::new(
                            span,
                            format!(
                                "there is no ${number}; values get such a number when they are kept"
                            ),
                        ));
                    }
                }
            }
        };
        Ok(Node::new(Op::Pseudo(pseudo), ty, span))
    }
}

/// Refuses a plan that reads a variable before it has a value.
fn assigned_where_read(plan: Node) -> Result<Node> {
    match definite::unassigned(&plan) {
        Some(span) => {
            let told = "the variable may have no value here: the pattern or call that gives it one may not have matched or run";
            Err(Fail::cs("CS0165", span, told))
        }
        None => Ok(plan),
    }
}

fn is_exception(node: &Node) -> bool {
    matches!(node.op, Op::Pseudo(PseudoVariable::Exception))
}
