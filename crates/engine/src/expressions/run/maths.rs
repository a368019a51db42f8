//! What `Math` leaves to the C library: computed here where both processes have the very same one.

use std::cell::Cell;
use std::fs;

thread_local! {
    /// Whether a program has our library, once that was asked.
    static SHARED: Cell<Option<(u32, bool)>> = const { Cell::new(None) };
}

/// Whether a process has loaded the file that computes for us, so that the results are equal to the last bit.
pub(super) fn is_shared(pid: u32) -> bool {
    if let Some((asked, is_shared)) = SHARED.get()
        && asked == pid
    {
        return is_shared;
    }
    // What links the library is used here, or it would not be loaded.
    let ours = library("self").filter(|_| std::hint::black_box(0.5f64).sin() > 0.0);
    let is_shared = ours.is_some() && ours == library(&pid.to_string());
    SHARED.set(Some((pid, is_shared)));
    is_shared
}

/// The device and file number of the mathematical library that a process has loaded.
fn library(process: &str) -> Option<(String, String)> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let mut files = maps.lines().filter_map(|line| {
        let mut parts = line.split_ascii_whitespace().skip(3);
        let (device, number, path) = (parts.next()?, parts.next()?, parts.next()?);
        let name = path.rsplit('/').next()?;
        name.starts_with("libm.so.")
            .then(|| (device.to_owned(), number.to_owned()))
    });
    files.next()
}

/// The function of the C library that a member of `Math` calls.
pub(super) fn function(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "Exp" => f64::exp,
        "Log" => f64::ln,
        "Log10" => f64::log10,
        "Log2" => f64::log2,
        "Sin" => f64::sin,
        "Cos" => f64::cos,
        "Tan" => f64::tan,
        "Asin" => f64::asin,
        "Acos" => f64::acos,
        "Atan" => f64::atan,
        "Sinh" => f64::sinh,
        "Cosh" => f64::cosh,
        "Tanh" => f64::tanh,
        "Asinh" => |it| cordebug::c_math::asinh(it),
        "Acosh" => |it| cordebug::c_math::acosh(it),
        "Atanh" => |it| cordebug::c_math::atanh(it),
        _ => return None,
    })
}

/// The same of those that take two numbers.
pub(super) fn function_of_two(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "Pow" => f64::powf,
        "Atan2" => f64::atan2,
        "Log" => logarithm,
        _ => return None,
    })
}

fn logarithm(number: f64, base: f64) -> f64 {
    if number.is_nan() {
        number
    } else if base.is_nan() {
        base
    } else if base == 1.0 || number != 1.0 && (base == 0.0 || base == f64::INFINITY) {
        f64::NAN
    } else {
        number.ln() / base.ln()
    }
}
