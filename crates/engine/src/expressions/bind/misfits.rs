//! Why no overload fits, told as C# does it: of what is wrong with several, the one that came nearest to being called.

use syntax::Span;

use super::constraints::Violation;
use super::overloads::Arg;
use super::{Binder, Group, Operand};
use crate::expressions::error::Fail;
use crate::types::{Method, Type};

/// Why no overload is chosen: what is wrong with the nearest one, and whether several are equally good.
pub(super) type Unresolved = (Option<Box<(Method, Misfit)>>, bool);

/// Why a method cannot be called with the arguments.
pub(super) enum Misfit {
    Count,
    Named(Box<str>),
    Inference,
    Arity,
    Missing(String),
    Argument(usize, Type),
    /// A type argument is not what its parameter demands.
    Constraint(Violation),
    /// A parameter is named twice, or named although an argument stands in its place already.
    Twice(Box<str>, bool),
    /// An argument without a name comes behind a named one that is out of its place.
    Moved(usize),
    /// An argument lacks this modifier, or has one too many.
    Modifier(usize, Option<&'static str>),
}

impl Misfit {
    /// Whether the number of arguments alone is wrong.
    pub(super) fn is_of_count(&self) -> bool {
        matches!(self, Self::Count | Self::Missing(_))
    }

    /// How far the method was from being called.
    fn distance(&self) -> u8 {
        match self {
            Self::Argument(..) | Self::Modifier(..) => 0,
            Self::Constraint(_) => 1,
            Self::Inference => 2,
            Self::Missing(_) => 3,
            Self::Twice(..) => 4,
            Self::Named(_) => 5,
            Self::Moved(_) => 6,
            Self::Count => 7,
            Self::Arity => 8,
        }
    }
}

/// The nearest of several. If several lack arguments, the number of arguments is what is wrong.
pub(super) fn nearer(mut all: Vec<(Method, Misfit)>) -> Option<Box<(Method, Misfit)>> {
    let is_missing = |it: &&(Method, Misfit)| matches!(it.1, Misfit::Missing(_));
    let conflict = all.iter().filter(is_missing).count() > 1;
    let (at, _) = all
        .iter()
        .enumerate()
        .min_by_key(|(_, it)| it.1.distance())?;
    let (method, misfit) = all.swap_remove(at);
    let misfit = match misfit {
        Misfit::Missing(_) if conflict => Misfit::Count,
        other => other,
    };
    Some(Box::new((method, misfit)))
}

impl Binder<'_> {
    pub(super) fn bad_argument(
        &mut self,
        arguments: &[Arg<'_>],
        index: usize,
        to: &Type,
        span: Span,
    ) -> Box<Fail> {
        let Some(argument) = arguments.get(index) else {
            return Fail::cs("CS1503", span, "an argument does not fit");
        };
        if let Operand::Lambda(lambda, at) = &argument.operand {
            return self.lambda_misfit(lambda, to, *at);
        }
        if let Operand::Group(group) = &argument.operand
            && let Some(fail) = self.returns_other(group, to)
        {
            return fail;
        }
        let given = match &argument.operand {
            Operand::Value(node) => self.text(&node.ty),
            Operand::Null(_) => "null".into(),
            Operand::Default(_) => "default".into(),
            Operand::Group(_) => "method group".into(),
            _ => "expression".into(),
        };
        Fail::cs(
            "CS1503",
            argument.span,
            format!(
                "argument {}: `{given}` cannot be converted to `{}`",
                index + 1,
                self.text(to)
            ),
        )
    }

    /// What is wrong with a call of an extension method; what it is called on is the first argument.
    pub(super) fn extension_misfit(
        &mut self,
        group: &Group,
        methods: &[Method],
        arguments: &[Arg<'_>],
        (method, misfit): (Method, Misfit),
        span: Span,
    ) -> Box<Fail> {
        let name = &group.name;
        if let Some(fail) = self.lambda_error(methods, &group.type_arguments, arguments) {
            return fail;
        }
        let given = arguments.len().saturating_sub(1);
        match misfit {
            Misfit::Argument(0, to) => self.receiver_misfit(group, Some(&to), span),
            // Each method of LINQ has a twin for queries of databases: what the other arguments tell is enough for that one.
            Misfit::Inference
                if methods.iter().any(|it| {
                    self.is_of_linq(it) && self.inferred_without_receiver(it, arguments)
                }) =>
            {
                self.receiver_misfit(group, None, span)
            }
            Misfit::Missing(_) if self.is_of_linq(&method) => count_misfit(name, given, span),
            Misfit::Count => count_misfit(name, given, span),
            Misfit::Arity => {
                let of = group.ty.as_ref().map(|it| self.text(it));
                let told = format!(
                    "`{}` has no definition for `{name}`, nor has it an extension method of that name with {} type arguments",
                    of.unwrap_or_default(),
                    group.type_arguments.len()
                );
                Fail::cs("CS1061", span, told)
            }
            other => self.told_misfit(group, arguments, Some((method, other)), true, span),
        }
    }

    fn receiver_misfit(&self, group: &Group, to: Option<&Type>, span: Span) -> Box<Fail> {
        let (name, of) = (&group.name, group.ty.as_ref().map(|it| self.text(it)));
        let told = format!(
            "`{}` has no definition for `{name}`, and no extension method of that name fits",
            of.unwrap_or_default()
        );
        let fail = Fail::cs("CS1929", span, told);
        match to {
            Some(to) => fail.hint(format!("the nearest one is for `{}`", self.text(to))),
            None => fail,
        }
    }

    /// A method that takes what a delegate is called with, but returns something else.
    pub(super) fn returns_other(&mut self, group: &Group, to: &Type) -> Option<Box<Fail>> {
        if let Err(fail) = self.group_to(group, to)
            && matches!(fail.code, Some("CS0123" | "CS0407"))
        {
            return Some(fail);
        }
        let invoke = self.invoke(to)?;
        let inputs = invoke.parameters.iter();
        let inputs: Vec<Type> = inputs.map(|it| it.ty.without_ref().clone()).collect();
        let returned = self.group_return(group, &inputs)?;
        let told = format!(
            "`{}` returns `{}`, where `{}` is wanted",
            group.name,
            self.text(&returned),
            self.text(&invoke.returns)
        );
        Some(Fail::cs("CS0407", group.span, told))
    }

    /// Whether a group has a method that could be called: extension methods are found by their names alone.
    pub(super) fn is_found(&mut self, group: &Group) -> bool {
        let Some(ty) = group.ty.as_ref().filter(|_| group.methods.is_empty()) else {
            return true;
        };
        let all = self.extension_methods(&group.name).concat();
        all.iter().any(|it| self.may_extend(it, ty))
    }

    fn is_of_linq(&self, method: &Method) -> bool {
        let class = &method.declared_in;
        self.types.is_named(class, "System.Linq", "Enumerable")
    }

    fn inferred_without_receiver(&mut self, method: &Method, arguments: &[Arg<'_>]) -> bool {
        if method.parameters.len() != arguments.len() {
            return false;
        }
        let rest = arguments.get(1..).unwrap_or_default();
        let parameters = method.parameters.iter().skip(1);
        let wanted: Vec<Type> = parameters.map(|it| it.ty.without_ref().clone()).collect();
        self.infer(method.arity as usize, &wanted, rest).is_some()
    }

    pub(super) fn misfit(
        &mut self,
        group: &Group,
        arguments: &[Arg<'_>],
        misfit: Option<Box<(Method, Misfit)>>,
        span: Span,
    ) -> Box<Fail> {
        if group.methods.is_empty() {
            return self.receiver_misfit(group, None, span);
        }
        let methods = group.methods.clone();
        if let Some(fail) = self.lambda_error(&methods, &group.type_arguments, arguments) {
            return fail;
        }
        let single = methods.len() == 1;
        self.told_misfit(group, arguments, misfit.map(|it| *it), single, span)
    }

    fn told_misfit(
        &mut self,
        group: &Group,
        arguments: &[Arg<'_>],
        misfit: Option<(Method, Misfit)>,
        single: bool,
        span: Span,
    ) -> Box<Fail> {
        let name = &group.name;
        match misfit {
            Some((_, Misfit::Argument(index, to))) => {
                self.bad_argument(arguments, index, &to, span)
            }
            Some((_, Misfit::Modifier(index, modifier))) => {
                let at = arguments.get(index).map_or(span, |it| it.span);
                match modifier {
                    Some(modifier) => Fail::cs(
                        "CS1620",
                        at,
                        format!("argument {} must be passed with `{modifier}`", index + 1),
                    ),
                    None => Fail::cs(
                        "CS1615",
                        at,
                        format!(
                            "argument {} may not be passed with `ref` or `out`",
                            index + 1
                        ),
                    ),
                }
            }
            Some((_, Misfit::Constraint((code, told)))) => Fail::cs(code, span, told),
            Some((_, Misfit::Twice(parameter, is_named))) => match is_named {
                true => Fail::cs("CS1740", span, format!("`{parameter}` is named twice")),
                false => Fail::cs(
                    "CS1744",
                    span,
                    format!("`{parameter}` is named although an argument stands in its place"),
                ),
            },
            Some((_, Misfit::Moved(index))) => {
                let before = index.checked_sub(1).and_then(|it| arguments.get(it));
                Fail::cs(
                    "CS8323",
                    before.map_or(span, |it| it.span),
                    "a named argument that is out of its place is followed by one without a name",
                )
            }
            Some((_, Misfit::Named(parameter))) => Fail::cs(
                "CS1739",
                span,
                format!("the best overload for `{name}` has no parameter named `{parameter}`"),
            ),
            Some((_, Misfit::Missing(parameter))) => Fail::cs(
                "CS7036",
                span,
                format!(
                    "there is no argument for the required parameter `{parameter}` of `{name}`"
                ),
            ),
            Some((_, Misfit::Inference)) => Fail::cs(
                "CS0411",
                span,
                format!("the type arguments of `{name}` cannot be inferred"),
            )
            .hint("write them: Name<int>(…)"),
            Some((method, Misfit::Arity)) if single => Fail::cs(
                if method.arity == 0 {
                    "CS0308"
                } else {
                    "CS0305"
                },
                span,
                format!("`{name}` takes {} type arguments", method.arity),
            ),
            Some((_, Misfit::Arity)) => Fail::cs(
                "CS0305",
                span,
                format!(
                    "no overload of `{name}` takes {} type arguments",
                    group.type_arguments.len()
                ),
            ),
            Some((_, Misfit::Count)) | None => count_misfit(name, arguments.len(), span),
        }
    }
}

fn count_misfit(name: &str, given: usize, span: Span) -> Box<Fail> {
    let told = format!("no overload of `{name}` takes {given} arguments");
    Fail::cs("CS1501", span, told)
}
