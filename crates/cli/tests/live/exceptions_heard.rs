//! What nobody catches, where the program itself asks to hear of that.

use host::api::{ExceptionStage, Exit, Handler, StopReason};
use testkit::sandbox::Sandbox;

use crate::stacks_told as told;

/// The program's own handler runs before the runtime tells a debugger of it, and may end the program.
#[test]
fn it_stops_the_program_before_that_hears_of_it() {
    for scenario in ["main", "thread", "pool", "aborts"] {
        let sandbox = Sandbox::new();
        let program = sandbox.launch("exceptions_heard").args([scenario]).start();
        let stop = program.wait_stop();
        assert_eq!(stop.reasons, [StopReason::UnhandledException], "{scenario}");
        let exception = stop.exception.expect("an exception");
        let flight = exception.flight.expect("a flight");
        assert_eq!(flight.stage, ExceptionStage::Unhandled);
        assert_eq!(flight.handler, Handler::Nobody);
        let stack = told::stack(&program);
        let top = stack.lines().next().unwrap_or_default();
        assert!(top.contains("InvalidOperationException"), "{stack}");
        program.cont();
        let end = program.wait_exit();
        match scenario {
            "aborts" => assert!(matches!(end, Exit::Signal { number: 6, .. }), "{end:?}"),
            _ => assert_eq!(end, Exit::Code(7)),
        }
    }
}
