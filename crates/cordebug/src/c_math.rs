//! Functions of the C library that Rust computes on its own: the runtime calls the library's.
//!
//! They are what the process has loaded, so a caller first makes sure that the program has the same library.

// SAFETY: these are functions of the C standard library with these very types; they touch nothing but their argument
// and `errno`, so that any number may be given to them.
unsafe extern "C" {
    /// The inverse of the hyperbolic sine.
    pub safe fn asinh(number: f64) -> f64;
    /// The inverse of the hyperbolic cosine.
    pub safe fn acosh(number: f64) -> f64;
    /// The inverse of the hyperbolic tangent.
    pub safe fn atanh(number: f64) -> f64;
}

/// The cube root, if the library has it. Linked by its name it would be Rust's own, which may differ in the last bit.
pub fn cbrt(number: f64) -> Option<f64> {
    // SAFETY: the name is a valid C string, and any handle that is the default may be asked.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"cbrt".as_ptr()) };
    if symbol.is_null() {
        return None;
    }
    // SAFETY: a function of this name in the C library takes and returns a double.
    let function: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(symbol) };
    Some(function(number))
}
