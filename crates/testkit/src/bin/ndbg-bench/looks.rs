//! Looks at values of a stopped program, and expressions.

use std::error::Error;

use host::api::{Evaluate, Variable, VariablesQuery};
use testkit::fixtures::Fixture;
use testkit::sandbox::Sandbox;

use crate::Outcome;
use crate::figures::Figure;
use crate::program::{Memory, Program, breakpoint, launch};

const SAMPLES: usize = 150;
const WARM_UP: usize = 10;

/// What is looked at, at each of the three stops of a round.
struct Looks {
    one: Figure,
    many: Figure,
    list: Figure,
    page: Figure,
    getter: Figure,
    local: Figure,
    arithmetic: Figure,
}

/// Looks at variables, the first ones after a stop and with nothing kept from the stop before; expressions.
pub(crate) fn values(sandbox: &Sandbox) -> Outcome {
    let fixture = Fixture::named("bench_values");
    let stops = ["one", "many", "inside"].map(|marker| breakpoint(&fixture, marker));
    let launch = launch(&fixture, &["looks"], stops.to_vec());
    let program = Program::launch(sandbox, Memory::Fast, launch)?;
    let mut round_trip = Figure::time("values.round_trip");
    let mut looks = Looks {
        one: Figure::time("values.one"),
        many: Figure::time("values.many"),
        list: Figure::time("values.list"),
        page: Figure::time("values.page"),
        getter: Figure::time("values.getter"),
        local: Figure::time("values.local"),
        arithmetic: Figure::time("values.arithmetic"),
    };
    for sample in 0..WARM_UP + SAMPLES {
        if sample == WARM_UP {
            looks.all().for_each(Figure::clear);
            round_trip.clear();
        }
        round_trip.timed(|| program.round_trip())?;
        looks.round(&program)?;
    }
    round_trip.print();
    let Looks {
        one,
        many,
        list,
        page,
        getter,
        local,
        arithmetic,
    } = looks;
    for figure in [one, many, list, page, getter, local, arithmetic] {
        figure.print();
    }
    Ok(())
}

impl Looks {
    fn all(&mut self) -> impl Iterator<Item = &mut Figure> {
        [
            &mut self.one,
            &mut self.many,
            &mut self.list,
            &mut self.page,
            &mut self.getter,
            &mut self.local,
            &mut self.arithmetic,
        ]
        .into_iter()
    }

    /// The program is stopped in `One`, and is so again afterwards.
    fn round(&mut self, program: &Program) -> Outcome {
        let one = self.one.timed(|| {
            program.stack(1)?;
            program.variables(named("only"))
        })?;
        check(&one, 1, "1")?;
        program.next_stop()?;
        let many = self
            .many
            .timed(|| program.variables(VariablesQuery::default()))?;
        check(&many, 20, "Count = 1000")?;
        program.next_stop()?;
        let list = self.list.timed(|| program.variables(inside("orders", 0)))?;
        check(&list, 100, "order 0 of")?;
        let page = self
            .page
            .timed(|| program.variables(inside("numbers", 5_000_000)))?;
        check(&page, 100, "0")?;
        let mut total = Evaluate::read("order.Total");
        total.side_effects = true;
        let total = self.getter.timed(|| program.evaluate(total))?;
        let local = self.local.timed(|| program.evaluate(Evaluate::read("a")))?;
        let sum = Evaluate::read("a + b * c");
        let sum = self.arithmetic.timed(|| program.evaluate(sum))?;
        if (total.as_str(), local.as_str(), sum.as_str()) != ("17", "2", "14") {
            return Err(format!("not 17, 2 and 14 but {total}, {local} and {sum}").into());
        }
        program.next_stop()
    }
}

fn named(name: &str) -> VariablesQuery {
    VariablesQuery {
        names: vec![name.into()],
        ..VariablesQuery::default()
    }
}

fn inside(path: &str, start: u64) -> VariablesQuery {
    VariablesQuery {
        path: Some(path.into()),
        start,
        count: 100,
        ..VariablesQuery::default()
    }
}

/// What is fast must also be right.
fn check(variables: &[Variable], count: usize, first: &str) -> Result<(), Box<dyn Error>> {
    let text = variables.first().map(|it| it.value.text.as_str());
    if variables.len() != count || !text.is_some_and(|text| text.contains(first)) {
        let found = variables.len();
        return Err(format!("not {count} values, the first {first}, but {found}: {text:?}").into());
    }
    Ok(())
}
