//! What the runtime's HRESULTs are called, and what the ones a user can meet mean.
//!
//! The constants and the table of names are generated; the explanations are ours.

mod codes;

pub use codes::*;

use codes::NAMES;

use crate::com::HRESULT;

/// Win32 errors that the runtime wraps in an HRESULT but does not list among its own.
const WIN32: [(u32, &str); 6] = [
    (0x8007_0018, "ERROR_BAD_LENGTH"),
    (0x8007_007a, "ERROR_INSUFFICIENT_BUFFER"),
    (0x8007_007e, "ERROR_MOD_NOT_FOUND"),
    (0x8007_012b, "ERROR_PARTIAL_COPY"),
    (0x8007_01e7, "ERROR_INVALID_ADDRESS"),
    (0x8007_0490, "ERROR_NOT_FOUND"),
];

/// The name of a code, if it has one.
pub fn name(hr: HRESULT) -> Option<&'static str> {
    let value = hr.0.cast_unsigned();
    if let Ok(at) = NAMES.binary_search_by_key(&value, |(value, _)| *value) {
        return NAMES.get(at).map(|(_, name)| *name);
    }
    let found = WIN32.iter().find(|(known, _)| *known == value)?;
    Some(found.1)
}

/// What a code means for the person who debugs, and what to do about it.
///
/// The text continues a message: lower case, no final dot.
pub fn explanation(hr: HRESULT) -> Option<&'static str> {
    let text = match hr {
        CORDBG_E_UNRECOVERABLE_ERROR => {
            "the debugger and the runtime lost track of each other; end this session and start a new one"
        }
        CORDBG_E_PROCESS_TERMINATED => "the program has ended; launch or attach again",
        CORDBG_E_PROCESS_DETACHED => "the debugger has let go of this program; attach again",
        CORDBG_E_PROCESS_NOT_SYNCHRONIZED => "the program is running; pause it first",
        CORDBG_E_SUPERFLOUS_CONTINUE => {
            "the program was not stopped, so there was nothing to continue"
        }
        CORDBG_E_OBJECT_NEUTERED => {
            "this belongs to an earlier stop, or to a thread or module that is gone; ask for it again at the present stop"
        }
        CORDBG_E_INVALID_OBJECT => {
            "the object is no longer valid; read it again at the present stop"
        }
        CORDBG_E_HANDLE_HAS_BEEN_DISPOSED => {
            "the handle to the object was given back; read the object again"
        }
        CORDBG_E_CLASS_NOT_LOADED => {
            "the runtime has not loaded this type yet; let the program run past its first use"
        }
        CORDBG_E_MODULE_NOT_LOADED => {
            "the module is not loaded, or no longer; let the program run to where it is used"
        }
        CORDBG_E_STATIC_VAR_NOT_AVAILABLE => {
            "the static field has no storage yet; it exists once the type's initialiser has run"
        }
        CORDBG_E_VARIABLE_IS_ACTUALLY_LITERAL => {
            "this is a constant with no storage; its value is in the metadata and cannot be changed"
        }
        CORDBG_E_IL_VAR_NOT_AVAILABLE => {
            "the variable has no home at this instruction; stop elsewhere in its scope, or build without optimisation"
        }
        CORDBG_E_FIELD_NOT_AVAILABLE => "the runtime keeps no storage for this field",
        CORDBG_E_FIELD_NOT_STATIC => "the field belongs to an instance; read it from an object",
        CORDBG_E_FIELD_NOT_INSTANCE => "the field is static; read it from its type",
        CORDBG_E_ENC_HANGING_FIELD => {
            "the field was added by an edit while the program ran and has no storage in this object yet"
        }
        CORDBG_E_BAD_REFERENCE_VALUE => {
            "the reference does not point at an object; the variable may not be assigned yet"
        }
        CORDBG_E_CORRUPT_OBJECT => {
            "the object's memory makes no sense; something may have overwritten it"
        }
        CORDBG_E_READVIRTUAL_FAILURE => "the memory at this address cannot be read",
        CORDBG_E_GC_STRUCTURES_INVALID => {
            "a garbage collection is under way, so the heap cannot be walked; continue a little and stop again"
        }
        CORDBG_E_CODE_NOT_AVAILABLE => {
            "the method has no code yet or no longer; it is compiled when it is first called"
        }
        CORDBG_E_FUNCTION_NOT_IL => {
            "the method has no IL: it is native, abstract or supplied by the runtime"
        }
        CORDBG_E_UNABLE_TO_SET_BREAKPOINT => {
            "no breakpoint can be placed at this instruction; choose another line"
        }
        CORDBG_E_CANT_SET_TO_JMC => {
            "this code cannot be marked as the user's own, usually because it is optimised"
        }
        CORDBG_E_SET_IP_NOT_ALLOWED_ON_NONLEAF_FRAME => {
            "the next statement can be moved in the innermost frame only; step out first"
        }
        CORDBG_E_SET_IP_NOT_ALLOWED_ON_EXCEPTION => {
            "the next statement cannot be moved while an exception is being handled"
        }
        CORDBG_E_SET_IP_IMPOSSIBLE => {
            "execution cannot be moved there; choose a statement of the same block, or build without optimisation"
        }
        CORDBG_E_CANT_SET_IP_INTO_FINALLY
        | CORDBG_E_CANT_SET_IP_OUT_OF_FINALLY
        | CORDBG_E_CANT_SET_IP_OUT_OF_FINALLY_ON_WIN64 => {
            "execution cannot be moved into or out of a finally block"
        }
        CORDBG_E_CANT_SET_IP_INTO_CATCH | CORDBG_E_CANT_SET_IP_OUT_OF_CATCH_ON_WIN64 => {
            "execution cannot be moved into or out of a catch block"
        }
        CORDBG_E_CANT_SETIP_INTO_OR_OUT_OF_FILTER => {
            "execution cannot be moved into or out of an exception filter"
        }
        CORDBG_E_SET_VALUE_NOT_ALLOWED_ON_NONLEAF_FRAME => {
            "this variable lives in a register and can be changed in the innermost frame only"
        }
        CORDBG_E_FUNC_EVAL_BAD_START_POINT => {
            "code cannot be run on this thread where it stopped; step once, or use another thread"
        }
        CORDBG_E_FUNC_EVAL_NOT_COMPLETE => {
            "the evaluation has not finished; wait for it or abort it"
        }
        CORDBG_E_FUNC_EVAL_CANNOT_UPDATE_REGISTER_IN_NONLEAF_FRAME => {
            "the call would write to a variable that lives in a register of an outer frame; pass a copy instead"
        }
        CORDBG_E_ILLEGAL_IN_STACK_OVERFLOW => {
            "no code can be run on a thread whose stack has overflowed; only reading works"
        }
        CORDBG_E_ILLEGAL_AT_GC_UNSAFE_POINT => {
            "no code can be run here, as a garbage collection could not happen at this instruction; step once"
        }
        CORDBG_E_ILLEGAL_IN_PROLOG => "no code can be run at the very start of a method; step once",
        CORDBG_E_ILLEGAL_IN_NATIVE_CODE => {
            "no code can be run while the thread is in native code; choose another thread, or run to managed code"
        }
        CORDBG_E_ILLEGAL_IN_OPTIMIZED_CODE => {
            "no code can be run from this optimised code; step to a call, or build without optimisation"
        }
        CORDBG_E_BAD_THREAD_STATE => {
            "the thread has ended, has not begun, or cannot answer in its present state"
        }
        CORDBG_E_THREAD_NOT_SCHEDULED => {
            "the thread is not scheduled to run, so it has no context to read"
        }
        CORDBG_E_PAST_END_OF_STACK => "the stack has no more frames",
        CORDBG_E_NONINTERCEPTABLE_EXCEPTION => "this exception cannot be intercepted",
        CORDBG_E_CURRENT_EXCEPTION_IS_OUTSIDE_CURRENT_EXECUTION_SCOPE => {
            "the exception belongs to code below the running evaluation; finish the evaluation first"
        }
        CORDBG_E_DEBUGGER_ALREADY_ATTACHED => {
            "another debugger is attached to this process; detach it first"
        }
        CORDBG_E_DEBUGGING_DISABLED => {
            "debugging is switched off in this process; start it without DOTNET_EnableDiagnostics=0"
        }
        CORDBG_E_DEBUGGING_NOT_POSSIBLE => {
            "this runtime cannot be debugged by the debugging library that was loaded"
        }
        CORDBG_E_INCOMPATIBLE_PROTOCOL | CORDBG_E_MISMATCHED_CORWKS_AND_DACWKS_DLLS => {
            "the debugging libraries are not those of this runtime; use the ones that were installed with it"
        }
        CORDBG_E_DEBUG_COMPONENT_MISSING => {
            "a debugging library is missing beside the runtime; reinstall the runtime"
        }
        CORDBG_E_NOTREADY => {
            "the runtime is not ready for this yet; let the program run a little further"
        }
        CORDBG_E_TIMEOUT => "the runtime did not answer in time; try again",
        CORDBG_E_CANNOT_BE_ON_ATTACH => {
            "this works only for a program that was launched by the debugger"
        }
        CORDBG_E_MUST_BE_IN_CREATE_PROCESS => {
            "this can be set only while the process is being created"
        }
        CORDBG_E_MUST_BE_IN_LOAD_MODULE => "this can be set only while the module is being loaded",
        CORDBG_E_DETACH_FAILED_OUTSTANDING_EVALS => {
            "an evaluation is still running; finish or abort it, then detach"
        }
        CORDBG_E_DETACH_FAILED_OUTSTANDING_STEPPERS => {
            "a step is still under way; cancel it, then detach"
        }
        CORDBG_E_DETACH_FAILED_OUTSTANDING_BREAKPOINTS => {
            "breakpoints are still set; remove them, then detach"
        }
        CORDBG_E_MISSING_METADATA => {
            "the module's metadata cannot be read; its file may be gone or changed"
        }
        CORDBG_E_TARGET_INCONSISTENT => {
            "the program's memory was caught in the middle of a change; continue a little and stop again"
        }
        CORDBG_E_UNSUPPORTED => "this runtime does not offer the operation",
        _ => return None,
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::codes::N_CORDBG;
    use super::*;

    #[track_caller]
    fn check(hr: HRESULT, value: u32, text: &str) {
        assert_eq!(hr.0.cast_unsigned(), value);
        assert_eq!(hr.to_string(), text);
    }

    #[test]
    fn values_and_names() {
        check(
            CORDBG_E_PROCESS_NOT_SYNCHRONIZED,
            0x8013_1302,
            "CORDBG_E_PROCESS_NOT_SYNCHRONIZED (0x80131302)",
        );
        check(
            CORDBG_E_PROCESS_TERMINATED,
            0x8013_1301,
            "CORDBG_E_PROCESS_TERMINATED (0x80131301)",
        );
        check(
            CORDBG_S_FUNC_EVAL_HAS_NO_RESULT,
            0x0013_1316,
            "CORDBG_S_FUNC_EVAL_HAS_NO_RESULT (0x00131316)",
        );
        check(
            CORDBG_S_AT_END_OF_STACK,
            0x0013_1324,
            "CORDBG_S_AT_END_OF_STACK (0x00131324)",
        );
        check(S_FALSE, 1, "S_FALSE (0x00000001)");
        // Two names, one value: the one everybody knows is printed.
        check(COR_E_ARGUMENT, 0x8007_0057, "E_INVALIDARG (0x80070057)");
        check(
            HRESULT(0x8007_012b_u32.cast_signed()),
            0x8007_012b,
            "ERROR_PARTIAL_COPY (0x8007012b)",
        );
        check(
            HRESULT(0x8765_4321_u32.cast_signed()),
            0x8765_4321,
            "0x87654321",
        );
    }

    #[test]
    fn tables_are_sorted_and_names_unique() {
        for table in [NAMES.as_slice(), &WIN32] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
        }
        let names: BTreeSet<&str> = NAMES.iter().chain(&WIN32).map(|(_, name)| *name).collect();
        assert_eq!(names.len(), NAMES.len() + WIN32.len());
    }

    /// A debugger code must not hide behind another name of the same value.
    #[test]
    fn every_debugger_code_keeps_its_name() {
        let listed = NAMES
            .iter()
            .filter(|(_, name)| name.starts_with("CORDBG_"))
            .count();
        assert_eq!(listed, N_CORDBG);
    }

    #[test]
    fn explanations_continue_a_message() {
        let texts: Vec<&str> = NAMES
            .iter()
            .filter_map(|(value, _)| explanation(HRESULT(value.cast_signed())))
            .collect();
        assert!(texts.len() >= 40, "{}", texts.len());
        for text in texts {
            assert!(
                !text.ends_with('.') && !text.starts_with(char::is_uppercase),
                "{text}"
            );
        }
        assert_eq!(explanation(S_OK), None);
    }
}
