//! What we can do, as told at `initialize`: everything here works, and nothing that works is left out.

use crate::adapter::{Adapter, Phase, arguments};
use crate::message::{Refusal, Request};
use crate::types::{Capabilities, ExceptionBreakpointsFilter, InitializeRequestArguments};

/// Stops at every exception as it is thrown.
pub(crate) const ALL: &str = "all";
/// Stops at exceptions that leave the user's code.
pub(crate) const USER_UNHANDLED: &str = "user-unhandled";

impl Adapter {
    pub(crate) fn initialize(&mut self, request: &Request) {
        let result = if self.phase == Phase::New {
            arguments::<InitializeRequestArguments>(request)
        } else {
            Err(Refusal::new("badOrder", "initialize was answered before"))
        };
        let result = result.map(|about| {
            self.about = about;
            self.phase = Phase::Configuring;
            capabilities()
        });
        let initialized = result.is_ok();
        self.client.answer(request, result);
        if initialized {
            self.client.tell_bare("initialized");
            // Started while the client says what it wants. What is wrong with a host is told when one is needed.
            if let Err(refusal) = self.engine() {
                tracing::debug!(?refusal, "no host is started ahead");
            }
        }
    }
}

fn capabilities() -> Capabilities {
    let yes = Some(true);
    Capabilities {
        supports_configuration_done_request: yes,
        supports_function_breakpoints: yes,
        supports_conditional_breakpoints: yes,
        supports_hit_conditional_breakpoints: yes,
        supports_log_points: yes,
        supports_exception_info_request: yes,
        supports_exception_filter_options: yes,
        exception_breakpoint_filters: Some(vec![
            filter(
                ALL,
                "All exceptions",
                "Stops wherever an exception is thrown",
                false,
            ),
            filter(
                USER_UNHANDLED,
                "User-unhandled exceptions",
                "Stops when an exception leaves the code of this program",
                true,
            ),
        ]),
        support_terminate_debuggee: yes,
        supports_terminate_request: yes,
        supports_restart_request: yes,
        supports_modules_request: yes,
        supports_loaded_sources_request: yes,
        supports_breakpoint_locations_request: yes,
        supports_read_memory_request: yes,
        supports_set_variable: yes,
        supports_set_expression: yes,
        supports_evaluate_for_hovers: yes,
        supports_clipboard_context: yes,
        supports_completions_request: yes,
        completion_trigger_characters: Some(vec![".".into(), "$".into()]),
        supports_goto_targets_request: yes,
        supports_step_in_targets_request: yes,
        supports_value_formatting_options: yes,
        supports_delayed_stack_trace_loading: yes,
        supports_cancel_request: yes,
        ..Capabilities::default()
    }
}

fn filter(id: &str, label: &str, description: &str, default: bool) -> ExceptionBreakpointsFilter {
    ExceptionBreakpointsFilter {
        filter: id.into(),
        label: label.into(),
        description: Some(description.into()),
        default: Some(default),
        supports_condition: Some(true),
        condition_description: Some(
            "Exception types separated by commas, such as System.IO.IOException; ! leaves one out"
                .into(),
        ),
    }
}
