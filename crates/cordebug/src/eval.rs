//! Running code in the target: calls, new objects, new strings.
//!
//! An [`Eval`] belongs to one thread and does one thing at a time: it is set up while the process is stopped, runs when
//! the process does, and its end is a callback. Which arguments fit is the caller's business: the library checks little,
//! and a wrong one can end the program.

use crate::bindings::*;
use crate::com::{Com, in_array};
use crate::error::{Error, clr, clr_nullable, clr_out};
use crate::module::{Class, Function, missing};
use crate::process::Process;
use crate::thread::Thread;
use crate::types::Type;
use crate::value::Value;

/// One evaluation on a thread.
#[derive(Debug, Clone)]
pub struct Eval(Com<ICorDebugEval>);

impl Thread {
    /// A new evaluation; an error if the thread is not where code can be run.
    pub fn eval(&self) -> Result<Eval, Error> {
        Ok(Eval(clr_out!(self.0, ICorDebugThread::CreateEval())?))
    }
}

impl Process {
    /// Lets all threads but one stay stopped, or run, when the process runs.
    pub fn freeze_all(&self, frozen: bool, except: &Thread) -> Result<(), Error> {
        let state = if frozen { THREAD_SUSPEND } else { THREAD_RUN };
        clr!(
            self.0,
            ICorDebugController::SetAllThreadsDebugState(state, except.0.as_raw())
        )?;
        Ok(())
    }

    /// Has the runtime tell, or not, when code gives a notification of this class ([`Callback::CustomNotification`]).
    ///
    /// [`Callback::CustomNotification`]: crate::callback::Callback::CustomNotification
    pub fn notify_of(&self, class: &Class, wanted: bool) -> Result<(), Error> {
        let this = self
            .0
            .cast::<ICorDebugProcess3>()
            .ok_or_else(|| missing("ICorDebugProcess3"))?;
        clr!(
            this,
            ICorDebugProcess3::SetEnableCustomNotification(class.0.as_raw(), wanted.into())
        )?;
        Ok(())
    }
}

impl Eval {
    fn second(&self) -> Result<Com<ICorDebugEval2>, Error> {
        self.0
            .cast::<ICorDebugEval2>()
            .ok_or_else(|| missing("ICorDebugEval2"))
    }

    /// Sets up a call; `type_arguments` are the class's, then the method's.
    pub fn call(
        &self,
        function: &Function,
        type_arguments: &[Type],
        arguments: &[Value],
    ) -> Result<(), Error> {
        let this = self.second()?;
        let types: Vec<_> = type_arguments.iter().map(|it| it.0.clone()).collect();
        let values: Vec<_> = arguments.iter().map(|it| it.0.clone()).collect();
        clr!(
            this,
            ICorDebugEval2::CallParameterizedFunction(
                function.0.as_raw(),
                count(&types),
                in_array(&types),
                count(&values),
                in_array(&values)
            )
        )?;
        Ok(())
    }

    /// Sets up a new object and the call of its constructor.
    pub fn new_object(
        &self,
        constructor: &Function,
        type_arguments: &[Type],
        arguments: &[Value],
    ) -> Result<(), Error> {
        let this = self.second()?;
        let types: Vec<_> = type_arguments.iter().map(|it| it.0.clone()).collect();
        let values: Vec<_> = arguments.iter().map(|it| it.0.clone()).collect();
        clr!(
            this,
            ICorDebugEval2::NewParameterizedObject(
                constructor.0.as_raw(),
                count(&types),
                in_array(&types),
                count(&values),
                in_array(&values)
            )
        )?;
        Ok(())
    }

    /// Sets up a new object whose fields are zero; no constructor runs.
    pub fn new_zeroed(&self, class: &Class, type_arguments: &[Type]) -> Result<(), Error> {
        let this = self.second()?;
        let types: Vec<_> = type_arguments.iter().map(|it| it.0.clone()).collect();
        clr!(
            this,
            ICorDebugEval2::NewParameterizedObjectNoConstructor(
                class.0.as_raw(),
                count(&types),
                in_array(&types)
            )
        )?;
        Ok(())
    }

    /// Sets up a new array of one dimension.
    pub fn new_array(&self, element: &Type, length: u32) -> Result<(), Error> {
        let this = self.second()?;
        let (lengths, bounds) = ([length], [0_u32]);
        clr!(
            this,
            ICorDebugEval2::NewParameterizedArray(
                element.0.as_raw(),
                1,
                lengths.as_ptr(),
                bounds.as_ptr()
            )
        )?;
        Ok(())
    }

    /// Sets up a new string of any units.
    pub fn new_string(&self, units: &[u16]) -> Result<(), Error> {
        let this = self.second()?;
        let length = u32::try_from(units.len()).unwrap_or(u32::MAX);
        clr!(
            this,
            ICorDebugEval2::NewStringWithLength(units.as_ptr(), length)
        )?;
        Ok(())
    }

    /// A value of a type for use as an argument: zero, or null. Runs nothing.
    pub fn default_value(&self, of: &Type) -> Result<Value, Error> {
        let this = self.second()?;
        Ok(Value::new(clr_out!(
            this,
            ICorDebugEval2::CreateValueForType(of.0.as_raw())
        )?))
    }

    /// A zero of a primitive type, or a null for `element::CLASS`, for use as an argument. Runs nothing.
    pub fn zero(&self, element_type: u32) -> Result<Value, Error> {
        Ok(Value::new(clr_out!(
            self.0,
            ICorDebugEval::CreateValue(element_type as CorElementType, std::ptr::null_mut())
        )?))
    }

    /// What came out: the result or the exception; `None` for a call that returns nothing.
    pub fn result(&self) -> Result<Option<Value>, Error> {
        let (_, value) = clr_nullable!(self.0, ICorDebugEval::GetResult())?;
        Ok(value.map(Value::new))
    }

    /// Asks the thread to give up; the end is still told by a callback.
    pub fn abort(&self) -> Result<(), Error> {
        clr!(self.0, ICorDebugEval::Abort())?;
        Ok(())
    }

    /// Makes the thread give up even in code that must not be interrupted; the program may be broken afterwards.
    pub fn rude_abort(&self) -> Result<(), Error> {
        let this = self.second()?;
        clr!(this, ICorDebugEval2::RudeAbort())?;
        Ok(())
    }

    /// Whether a callback's evaluation is this one.
    pub fn is(&self, other: &Com<ICorDebugEval>) -> bool {
        let identity = |eval: &Com<ICorDebugEval>| {
            eval.cast::<crate::com::IUnknown>()
                .map(|it| it.as_raw() as usize)
        };
        identity(&self.0) == identity(other)
    }
}

fn count<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}
