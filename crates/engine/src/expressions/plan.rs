//! What to do to get the value of an expression: a tree of small operations whose types are all known.
//!
//! A plan holds no value of the program and no object of the debugger library, so it can be kept and run again at
//! every stop in the same method. It says whether it may run code in the program ([`Node::may_act`]).

use std::rc::Rc;

use syntax::Span;
use syntax::tree::{BinaryOp, PseudoVariable, UnaryOp};

use super::intrinsics::Intrinsic;
use super::scalar::{Kind, Scalar};
use crate::types::{Method, Named, Type};

/// An operation with its type and its place in the text.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// What to do.
    pub(crate) op: Op,
    /// The static type of the result.
    pub(crate) ty: Type,
    /// Names of tuple elements, in depth-first order; empty if there are none.
    pub(crate) names: Rc<[Option<Rc<str>>]>,
    /// Its value, if it is a constant expression.
    pub(crate) constant: Option<Constant>,
    /// Where it stands.
    pub(crate) span: Span,
}

/// The value of a constant expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Constant {
    /// A null of some reference type.
    Null,
    /// A primitive, an enum's number, a string.
    Scalar(Scalar),
}

/// A field as a plan names it.
#[derive(Debug, Clone)]
pub(crate) struct FieldRef {
    /// The type that declares it.
    pub(crate) declared_in: Rc<Named>,
    /// Its name.
    pub(crate) name: Rc<str>,
    /// Its `FieldDef`.
    pub(crate) token: metadata::Token,
    /// What it holds.
    pub(crate) ty: Type,
}

/// A method to call, with its type arguments.
#[derive(Debug, Clone)]
pub(crate) struct Callee {
    /// The method, its parameters replaced.
    pub(crate) method: Method,
    /// What its own type parameters stand for.
    pub(crate) arguments: Vec<Type>,
    /// Computed by us instead of being run, if it is known.
    pub(crate) intrinsic: Option<Intrinsic>,
    /// Whether the object's type decides which override runs.
    pub(crate) is_virtual: bool,
    /// Whether an operator of numbers is checked for overflow.
    pub(crate) checked: bool,
}

/// How a value is converted.
#[derive(Debug, Clone)]
pub(crate) enum Conversion {
    /// The same value under another type: to a base, to a nullable, between enum and number of equal kind.
    Keep,
    /// To another primitive; null stays null.
    Numeric(Kind, bool),
    /// Of a value type to a reference type.
    Box,
    /// Of a reference to a value type, or to a nullable one.
    Unbox,
    /// Of a reference to another type, if its object is of that type.
    Cast,
    /// Of a nullable to its value.
    Unwrap,
    /// A reference or boxed value, or null if it is not of the type.
    As,
}

/// A piece of an interpolated string.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    /// Text.
    Text(Rc<[u16]>),
    /// A value with alignment and format.
    Hole(Node, Option<i32>, Option<Rc<str>>),
}

/// A test of a value in a slot.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// Anything fits.
    Any,
    /// It is null.
    Null,
    /// Its run-time type is this or derives from it, and it is not null.
    Is(Type),
    /// It equals a constant.
    Equal(Constant, Type),
    /// It compares so to a constant.
    Compare(BinaryOp, Scalar),
    /// Both.
    And(Box<Test>, Box<Test>),
    /// Either.
    Or(Box<Test>, Box<Test>),
    /// Not this.
    Not(Box<Test>),
    /// Takes something of the value, puts it into a slot and tests that.
    Part {
        /// What to take; it reads the value's slot.
        part: Box<Node>,
        /// Where to put it.
        slot: u32,
        /// What it must be.
        test: Box<Test>,
    },
    /// Puts the value into a slot of another type.
    Bind {
        /// The slot.
        slot: u32,
        /// The value converted; it reads the value's slot.
        value: Box<Node>,
    },
    /// A boolean of its own.
    Check(Box<Node>),
}

/// An arm of a switch.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    /// What the value must be.
    pub(crate) test: Test,
    /// `when`.
    pub(crate) guard: Option<Node>,
    /// The result.
    pub(crate) value: Node,
}

/// A step of an initialiser; it reads the new object from its slot.
#[derive(Debug, Clone)]
pub(crate) enum Initial {
    /// Sets a member or element.
    Set(Node, Node),
    /// Calls `Add`.
    Add(Node),
    /// Calls `Add` for each element of a sequence, which goes to the slot.
    AddAll(Node, u32, Node),
    /// Evaluates what stands in the brackets of an element in which nothing is set.
    Evaluate(Node),
    /// Puts the object that a member leads to into a slot and sets that up.
    Inside(Node, u32, Vec<Initial>),
}

impl Initial {
    fn parts(&self, f: &mut dyn FnMut(&Node)) {
        match self {
            Initial::Set(place, value) => {
                f(place);
                f(value);
            }
            Initial::Add(node) | Initial::Evaluate(node) => f(node),
            Initial::AddAll(sequence, _, call) => {
                f(sequence);
                f(call);
            }
            Initial::Inside(member, _, steps) => {
                f(member);
                steps.iter().for_each(|it| it.parts(f));
            }
        }
    }
}

/// A value of a collection expression; of a sequence, each element goes to the slot and becomes what is computed from there.
pub(crate) type Collected = (Option<(u32, Node)>, Node);

/// A lambda: its parameters' slots and its body.
#[derive(Debug, Clone)]
pub(crate) struct Closure {
    /// Where the arguments go.
    pub(crate) slots: Vec<u32>,
    /// Slots of enclosing lambdas that the body reads: their values may be others by the time it runs.
    pub(crate) captures: Vec<u32>,
    /// What to compute.
    pub(crate) body: Node,
    /// The type of the delegate, if it is a method that the program has: then it can be made there.
    pub(crate) method_of: Option<Type>,
}

/// The operations.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// A constant; also null.
    Constant(Constant),
    /// The default value of the node's type.
    Default,
    /// A variable of the frame, by its number in the scope.
    Variable(usize),
    /// A variable of the expression itself.
    Slot(u32),
    /// `$exception` and its like.
    Pseudo(PseudoVariable),
    /// A field of an object or struct.
    Field(Box<Node>, FieldRef),
    /// A static field.
    StaticField(FieldRef),
    /// The length of an array.
    Length(Box<Node>),
    /// An element of an array.
    Element(Box<Node>, Vec<Node>),
    /// A predefined operator; null gives null.
    Unary(UnaryOp, Box<Node>, bool),
    /// A predefined operator; if it is lifted, operands may be null.
    Binary(BinaryOp, Box<Node>, Box<Node>, bool),
    /// `&&`, or `||` if false.
    Logical(bool, Box<Node>, Box<Node>),
    /// Whether two references lead to the same object; or not, if false.
    Same(bool, Box<Node>, Box<Node>),
    /// Equality of delegates, tuples and what else is compared part by part: all parts must be true.
    All(bool, Vec<Node>),
    /// An operator of values that may be null: the slots they go to, the operator, whether it compares, and whether it
    /// asks for equality.
    Lifted(Vec<(u32, Node)>, Box<Node>, bool, Option<bool>),
    /// Concatenation of the texts of values.
    Concat(Vec<Node>),
    /// An interpolated string.
    Interpolate(Vec<Piece>),
    /// `a ? b : c`
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// `a ? ref b : ref c`: one of two places.
    ConditionalRef(Box<Node>, Box<Node>, Box<Node>),
    /// `a ?? b`; the third converts a value of `a` that is in its slot.
    Coalesce(Box<Node>, u32, Box<Node>, Box<Node>),
    /// `a?.b`: puts `a` into a slot, and gives null or the rest of the chain.
    Access(Box<Node>, u32, Box<Node>),
    /// Puts values into slots, then computes.
    Let(Vec<(u32, Node)>, Box<Node>),
    /// A conversion.
    Convert(Conversion, Box<Node>),
    /// Whether the value, put into the slot, passes the test.
    Is(Box<Node>, u32, Box<Test>),
    /// The first arm whose test the value passes.
    Switch(Box<Node>, u32, Vec<Arm>),
    /// A value tuple.
    Tuple(Vec<Node>),
    /// A call.
    Call(Rc<Callee>, Option<Box<Node>>, Vec<Node>),
    /// The call of a delegate.
    Invoke(Box<Node>, Vec<Node>),
    /// A new object.
    New(Rc<Callee>, Vec<Node>),
    /// A new array of a length.
    NewArray(Box<Node>),
    /// A new array of several dimensions by their lengths, and its values row by row; without any they are the default.
    Grid(Vec<Node>, Vec<Node>),
    /// A new array of values.
    ArrayOf(Vec<Node>),
    /// Values, and sequences of which each element goes to a slot and is converted, as an array or list.
    Collection(Vec<Collected>),
    /// Puts a new object into a slot and sets it up.
    Initialize(Box<Node>, u32, Vec<Initial>),
    /// An object with these members that exists only here.
    Anonymous(Vec<(Rc<str>, Node)>),
    /// `typeof(T)`
    TypeOf(Type),
    /// An operation on something dynamic that is bound when it runs, its operands with the slots they go to.
    Late(Rc<super::bind::Late>, Vec<(u32, Node)>),
    /// A lambda.
    Lambda(Rc<Closure>),
    /// Sets what the first leads to.
    Assign(Box<Node>, Box<Node>),
    /// `x++` and its like: the place, the new value computed from the old one in the slot, whether the old is the result.
    Update(Box<Node>, u32, Box<Node>, bool),
    /// `place ??= value`: the place, the slot for what is there already, what is made of that, and what to set otherwise.
    Fill(Box<Node>, u32, Box<Node>, Box<Node>),
    /// `(a, b) = value`: the places, the slot for the value, the value, and what each place gets of it.
    Spread(Vec<Option<Node>>, u32, Box<Node>, Vec<Node>),
    /// A part of an array by start and end.
    Slice(Box<Node>, Box<Node>),
    /// An index or range.
    Index(Box<Node>, bool),
    /// A range of two indices.
    Range(Option<Box<Node>>, Option<Box<Node>>),
    /// An argument that is passed by reference: where what the method leaves there goes, and what is there before.
    Reference(Referred, Box<Node>),
}

/// What an argument that is passed by reference is.
#[derive(Debug, Clone)]
pub(crate) enum Referred {
    /// A variable of the expression itself: `out var x`.
    Slot(u32),
    /// A place of the program.
    Place(Box<Node>),
    /// `out _`
    Nothing,
}

impl Node {
    /// A node that is no constant. Its tuples have the names of what it only passes on.
    pub(crate) fn new(op: Op, ty: Type, span: Span) -> Self {
        let passed_on = match &op {
            Op::Let(_, of) | Op::Slice(of, _) if of.ty == ty => Some(Rc::clone(&of.names)),
            _ => None,
        };
        Self {
            op,
            ty,
            names: passed_on.unwrap_or_default(),
            constant: None,
            span,
        }
    }

    /// A constant of a primitive or enum type.
    pub(crate) fn constant(value: Scalar, ty: Type, span: Span) -> Self {
        let constant = Constant::Scalar(value);
        Self {
            op: Op::Constant(constant.clone()),
            ty,
            names: Rc::default(),
            constant: Some(constant),
            span,
        }
    }

    /// The value of a constant that is not null.
    pub(crate) fn scalar(&self) -> Option<&Scalar> {
        match &self.constant {
            Some(Constant::Scalar(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether it is a text that is written in the expression.
    pub(crate) fn is_literal(&self) -> bool {
        match &self.op {
            Op::Convert(_, inner) => inner.is_literal(),
            _ => matches!(self.constant, Some(Constant::Scalar(Scalar::String(_)))),
        }
    }

    /// Whether an operation may run code in the program or write to it. Members that are computed here count, as there
    /// are values that they cannot be computed for.
    pub(crate) fn may_act(&self) -> bool {
        let mut found = false;
        self.visit(&mut |node| {
            found |= matches!(
                node.op,
                Op::Call(..)
                    | Op::New(..)
                    | Op::Concat(_)
                    | Op::Interpolate(_)
                    | Op::Assign(..)
                    | Op::Update(..)
                    | Op::Fill(..)
                    | Op::Spread(..)
                    | Op::Initialize(..)
                    | Op::Late(..)
            );
            // Only the program knows which string a literal is.
            if let Op::Same(_, one, other) = &node.op {
                found |= one.is_literal() || other.is_literal();
            }
        });
        found
    }

    /// The variables of the frame that are assigned and not read: these may have no value before.
    pub(crate) fn first_assigned(&self) -> Vec<usize> {
        let mut assigned = Vec::new();
        let mut used = Vec::new();
        self.visit(&mut |node| match &node.op {
            Op::Assign(place, _) => assigned.extend(place.variable()),
            Op::Reference(Referred::Place(place), _) => assigned.extend(place.variable()),
            Op::Spread(places, ..) => {
                assigned.extend(places.iter().flatten().filter_map(Node::variable));
            }
            Op::Variable(number) => used.push(*number),
            _ => {}
        });
        let times = |number: usize| used.iter().filter(|it| **it == number).count();
        // Once as the place.
        assigned.retain(|it| times(*it) == 1);
        assigned
    }

    fn variable(&self) -> Option<usize> {
        match self.op {
            Op::Variable(number) => Some(number),
            _ => None,
        }
    }

    /// Calls `f` for this node and all below it.
    pub(crate) fn visit(&self, f: &mut dyn FnMut(&Node)) {
        f(self);
        self.parts(&mut |it| it.visit(f));
    }

    /// Calls `f` for what this node is made of, in the order in which it is computed.
    pub(crate) fn parts(&self, f: &mut dyn FnMut(&Node)) {
        let all = |nodes: &[Node], f: &mut dyn FnMut(&Node)| nodes.iter().for_each(f);
        match &self.op {
            Op::Constant(_)
            | Op::Default
            | Op::Variable(_)
            | Op::Slot(_)
            | Op::Pseudo(_)
            | Op::StaticField(_)
            | Op::TypeOf(_) => {}
            Op::Grid(lengths, values) => {
                all(lengths, f);
                all(values, f);
            }
            Op::Field(one, _)
            | Op::Length(one)
            | Op::Unary(_, one, _)
            | Op::Convert(_, one)
            | Op::NewArray(one)
            | Op::Index(one, _)
            | Op::Reference(_, one) => f(one),
            Op::Binary(_, one, two, _)
            | Op::Logical(_, one, two)
            | Op::Same(_, one, two)
            | Op::Access(one, _, two)
            | Op::Assign(one, two)
            | Op::Update(one, _, two, _)
            | Op::Slice(one, two) => {
                f(one);
                f(two);
            }
            Op::Conditional(one, two, three)
            | Op::ConditionalRef(one, two, three)
            | Op::Coalesce(one, _, two, three)
            | Op::Fill(one, _, two, three) => {
                f(one);
                f(two);
                f(three);
            }
            Op::Element(one, rest) | Op::Invoke(one, rest) => {
                f(one);
                all(rest, f);
            }
            Op::Call(_, target, rest) => {
                if let Some(target) = target {
                    f(target);
                }
                all(rest, f);
            }
            Op::All(_, nodes)
            | Op::Concat(nodes)
            | Op::Tuple(nodes)
            | Op::New(_, nodes)
            | Op::ArrayOf(nodes) => all(nodes, f),
            Op::Interpolate(pieces) => {
                for piece in pieces {
                    if let Piece::Hole(node, ..) = piece {
                        f(node);
                    }
                }
            }
            Op::Let(values, body) | Op::Lifted(values, body, ..) => {
                values.iter().for_each(|(_, it)| f(it));
                f(body);
            }
            Op::Is(one, _, test) => {
                f(one);
                test.parts(f);
            }
            Op::Switch(one, _, arms) => {
                f(one);
                for arm in arms {
                    arm.test.parts(f);
                    if let Some(guard) = &arm.guard {
                        f(guard);
                    }
                    f(&arm.value);
                }
            }
            Op::Collection(items) => items.iter().for_each(|(each, it)| {
                f(it);
                if let Some((_, each)) = each {
                    f(each);
                }
            }),
            Op::Initialize(one, _, steps) => {
                f(one);
                steps.iter().for_each(|it| it.parts(f));
            }
            Op::Anonymous(members) => members.iter().for_each(|(_, it)| f(it)),
            Op::Lambda(closure) => f(&closure.body),
            Op::Late(_, operands) => operands.iter().for_each(|(_, it)| f(it)),
            Op::Spread(places, _, value, parts) => {
                places.iter().flatten().for_each(&mut *f);
                f(value);
                all(parts, f);
            }
            Op::Range(one, two) => {
                for node in [one, two].into_iter().flatten() {
                    f(node);
                }
            }
        }
    }
}

impl Test {
    fn parts(&self, f: &mut dyn FnMut(&Node)) {
        match self {
            Test::Any | Test::Null | Test::Is(_) | Test::Equal(..) | Test::Compare(..) => {}
            Test::And(one, two) | Test::Or(one, two) => {
                one.parts(f);
                two.parts(f);
            }
            Test::Not(one) => one.parts(f),
            Test::Part { part, test, .. } => {
                f(part);
                test.parts(f);
            }
            Test::Bind { value, .. } => f(value),
            Test::Check(node) => f(node),
        }
    }
}
