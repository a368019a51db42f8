//! What the program does by itself, told to the client in the order it happened.

use std::sync::PoisonError;

use host::api::{
    Event, ExceptionStage, Exit, OutputQuery, Reply, Request as EngineRequest, State, Status, Stop,
    StopReason, Stream, ThreadId, Trace,
};

use crate::adapter::{Adapter, Phase};
use crate::inventory::{symbol_file, symbol_status};
use crate::message::Refusal;
use crate::types::{
    ExitedEventBody, Module, ModuleEventBody, ModuleEventBodyReason, OutputEventBody,
    StoppedEventBody, TerminatedEventBody, ThreadEventBody,
};

/// Output asked for at once.
const PAGE: u32 = 64 * 1024;

impl Adapter {
    pub(crate) fn session_event(&mut self, event: Event) {
        match event {
            Event::Stopped(status) => {
                self.tell_output();
                if self.phase == Phase::Debugging {
                    self.tell_stop(&status);
                }
                host::release_startup_code();
            }
            Event::Exited(status) => {
                self.tell_output();
                if self.phase == Phase::Debugging {
                    self.tell_exit(&status);
                }
            }
            Event::Detached(status) => {
                for note in &status.notes {
                    self.say(note);
                }
                if self.phase == Phase::Debugging {
                    self.ended();
                }
            }
            // The engine answers nothing while it evaluates; `evaluate_beside` makes up for it.
            Event::Output { .. } if self.evaluating.is_some() => {}
            Event::Output { .. } => self.tell_output(),
            Event::Breakpoint(breakpoint) => self.breakpoint_changed(&breakpoint),
            Event::Running(_) => self.forget_looks(),
            Event::ModuleLoaded { module, user_code } => {
                self.module_changed(&module, Some(user_code), ModuleEventBodyReason::New);
            }
            Event::ModuleUnloaded { module } => {
                self.module_changed(&module, None, ModuleEventBodyReason::Removed);
            }
            Event::ThreadStarted(thread) => self.thread_changed(thread, true),
            Event::ThreadEnded(thread) => self.thread_changed(thread, false),
            // The editor is told of the process when it can be debugged.
            Event::Starting(_) => {}
            // They stand in the output, in order with what the program wrote.
            Event::Trace(_) | Event::Log(_) => {}
            Event::Progress { message } => self.say(&message),
        }
    }

    /// Tells what happened while the program was being started, when nobody was told yet.
    pub(crate) fn catch_up(&mut self) {
        self.tell_output();
        let Some(status) = self.session.as_ref().map(host::Session::status) else {
            return;
        };
        match status.state {
            State::Stopped => self.tell_stop(&status),
            State::Exited => self.tell_exit(&status),
            State::Detached => self.ended(),
            State::Starting | State::Running => {}
        }
    }

    fn tell_stop(&mut self, status: &Status) {
        let Some(stop) = &status.stop else { return };
        if self.told_stop == Some(stop.id) {
            return;
        }
        self.told_stop = Some(stop.id);
        self.client.tell(&self.stopped(stop));
    }

    fn stopped(&self, stop: &Stop) -> StoppedEventBody {
        let mut ids = Vec::new();
        for reason in &stop.reasons {
            match reason {
                StopReason::Breakpoint { ids: hit } | StopReason::Exception { ids: hit, .. } => {
                    ids.extend_from_slice(hit);
                }
                StopReason::ConditionFailed { id, .. } => ids.push(*id),
                _ => {}
            }
        }
        let described = stop.reasons.first().map(|reason| match reason {
            StopReason::Entry => ("entry", "Stopped at the entry of the program"),
            StopReason::Pause => ("pause", "Paused"),
            StopReason::UnhandledException => ("exception", "Unhandled exception"),
            StopReason::Exception { stage, .. } => match stage {
                ExceptionStage::Thrown => ("exception", "Exception thrown"),
                ExceptionStage::UserUnhandled => ("exception", "Exception left the user's code"),
                ExceptionStage::Unhandled => ("exception", "Unhandled exception"),
            },
            StopReason::Breakpoint { .. } if self.breakpoints.has_function(&ids) => {
                ("function breakpoint", "Stopped at a function breakpoint")
            }
            StopReason::Breakpoint { .. } => ("breakpoint", "Stopped at a breakpoint"),
            StopReason::ConditionFailed { .. } => ("breakpoint", "A condition cannot be evaluated"),
            StopReason::Step => ("step", "Step complete"),
            StopReason::RunTo => ("step", "Ran to the line"),
            StopReason::Goto => ("goto", "The next statement was set"),
            StopReason::AssertionFailed { .. } => ("exception", "An assertion failed"),
            StopReason::FailFast { .. } => ("exception", "The program gives up"),
            StopReason::DebuggerBreak => ("breakpoint", "Debugger.Break() was called"),
        });
        let (reason, description) = described.unwrap_or(("pause", "Stopped"));
        let said = stop.reasons.iter().find_map(|reason| match reason {
            StopReason::ConditionFailed {
                condition, error, ..
            } => Some(format!("{condition}: {}", without_code(error))),
            StopReason::AssertionFailed { message, .. } => message.clone(),
            StopReason::FailFast { message, exception } => {
                let said = [message.as_deref(), exception.as_deref()];
                let said: Vec<_> = said.into_iter().flatten().collect();
                (!said.is_empty()).then(|| said.join("\n"))
            }
            _ => None,
        });
        let text = stop
            .exception
            .as_ref()
            .map(|exception| match &exception.message {
                Some(message) => format!("{}: {message}", exception.type_name),
                None => exception.type_name.clone(),
            });
        StoppedEventBody {
            reason: reason.into(),
            description: Some(description.into()),
            text: said.or(text),
            thread_id: stop.thread.and_then(|thread| i32::try_from(thread.0).ok()),
            all_threads_stopped: Some(true),
            hit_breakpoint_ids: Some(self.breakpoints.numbers(&ids)).filter(|it| !it.is_empty()),
            preserve_focus_hint: None,
        }
    }

    fn tell_exit(&mut self, status: &Status) {
        match &status.exit {
            Some(Exit::Signal {
                by_debugger: true, ..
            }) => {
                for note in &status.notes {
                    self.say(note);
                }
            }
            Some(Exit::Signal { name, .. }) => {
                self.say(&format!("the program was ended by {name}"))
            }
            Some(Exit::Unknown { reason }) => {
                self.say(&format!("how the program ended is not known: {reason}"));
            }
            Some(Exit::Code(_)) | None => {}
        }
        if let Some(exit_code) = status.exit.as_ref().and_then(Exit::shell_code) {
            self.client.tell(&ExitedEventBody { exit_code });
            if let Some(terminal) = self.terminal.take() {
                terminal.ended(exit_code.to_le_bytes()[0]);
            }
        }
        self.ended();
    }

    fn thread_changed(&mut self, thread: ThreadId, started: bool) {
        if started {
            self.live_threads.insert(thread);
        } else {
            self.live_threads.remove(&thread);
        }
        self.client.tell(&ThreadEventBody {
            reason: if started { "started" } else { "exited" }.into(),
            thread_id: i32::try_from(thread.0).unwrap_or_default(),
        });
    }

    fn module_changed(&self, module: &str, user_code: Option<bool>, reason: ModuleEventBodyReason) {
        let name = module.rsplit('/').next().unwrap_or(module);
        self.client.tell(&ModuleEventBody {
            reason,
            module: Module {
                id: serde_json::Value::String(name.into()),
                name: name.into(),
                path: module.starts_with('/').then(|| module.into()),
                is_user_code: user_code,
                // What has symbols is the user's.
                symbol_status: user_code.map(symbol_status),
                symbol_file_path: user_code.filter(|it| *it).and_then(|_| symbol_file(module)),
                ..Module::default()
            },
        });
    }

    /// Nothing more will come of this program.
    pub(crate) fn ended(&mut self) {
        if self.phase != Phase::Ended {
            self.refuse_waiting_start(&Refusal::new(
                "noProgram",
                "the debugger ended before the program was started",
            ));
            self.phase = Phase::Ended;
            self.forget_looks();
            self.client.tell(&TerminatedEventBody::default());
        }
    }

    /// Passes on the program's output up to now.
    pub(crate) fn tell_output(&mut self) {
        loop {
            let query = OutputQuery {
                from: self.told,
                stream: None,
                max_bytes: PAGE,
                tail: false,
            };
            let Some(session) = &self.session else { return };
            let deadline = std::time::Instant::now() + crate::adapter::ANSWER;
            let Ok(Reply::Output(page)) =
                session.request(EngineRequest::DrainOutput(query), deadline)
            else {
                return;
            };
            if page.lost > 0 {
                self.say(&format!(
                    "{} bytes of output were lost: too much came at once",
                    page.lost
                ));
            }
            for chunk in page.chunks {
                let category = match chunk.stream {
                    Stream::Stdout => "stdout",
                    Stream::Stderr => "stderr",
                    Stream::Trace => {
                        self.tell_traces(&chunk.text);
                        continue;
                    }
                };
                self.tell_text(category, chunk.text);
            }
            let more = page.next < page.end && page.next > self.told;
            self.told = page.next;
            if !more {
                return;
            }
        }
    }

    /// Tells what breakpoints logged, each message with the line that it comes from.
    fn tell_traces(&mut self, mut text: &str) {
        while !text.is_empty() {
            let next = {
                let mut traces = self.traces.lock().unwrap_or_else(PoisonError::into_inner);
                let at = traces.iter().position(|trace| {
                    let rest = text.strip_prefix(trace.text.as_str());
                    rest.is_some_and(|rest| rest.starts_with('\n'))
                });
                // Those before it were never shown: their output was lost.
                at.and_then(|at| traces.drain(..=at).next_back())
            };
            let Some(trace) = next else {
                // What the program wrote for its debugger is no breakpoint's.
                let end = text.find('\n').map_or(text.len(), |at| at + 1);
                let (line, rest) = text.split_at(end);
                self.tell_text("console", line.to_owned());
                text = rest;
                continue;
            };
            let (line, rest) = text.split_at(trace.text.len() + 1);
            self.tell_trace(&trace, line);
            text = rest;
        }
    }

    fn tell_trace(&mut self, trace: &Trace, line: &str) {
        let place = trace.source.as_ref().map(|source| {
            let path = source.path.to_string_lossy();
            (self.source_of(&path, true), source)
        });
        let (source, at) = place.unzip();
        self.client.tell(&OutputEventBody {
            category: Some("console".into()),
            output: line.to_owned(),
            line: at.map(|it| self.client_line(it.line.0)),
            column: at.and_then(|it| it.column).map(|it| self.client_column(it)),
            source,
            ..OutputEventBody::default()
        });
    }

    fn tell_text(&self, category: &str, output: String) {
        self.client.tell(&OutputEventBody {
            category: Some(category.into()),
            output,
            ..OutputEventBody::default()
        });
    }

    /// Says something in the editor's console.
    pub(crate) fn say(&self, text: &str) {
        self.tell_text("console", format!("{text}\n"));
    }
}

/// An error's first line without the engine's word for it.
pub(crate) fn without_code(error: &str) -> &str {
    let line = error.lines().next().unwrap_or_default();
    let is_code = |it: &str| it.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    match line.split_once(": ") {
        Some((code, rest)) if is_code(code) => rest,
        _ => line,
    }
}
