//! What the program does, as it is shown: output as it comes, then where and why it stopped or ended.
//!
//! Invariant: everything that the program wrote before a stop is shown before it.

use host::api::{
    BreakpointId, Error, Event, Origin, OutputCursor, OutputQuery, Reply, Request, State, Status,
    StopReason,
};
use report::{Reader, Render as _, Report, build, gather};

use crate::place::Spot;
use crate::repl::Repl;

/// What the program is called in reports.
pub(crate) const NAME: &str = "The program";
/// Bytes of output read at once.
const PAGE: u32 = 64 * 1024;

impl Repl {
    /// Takes an event in and shows what is to be seen of it; whether the program settled after the resume `after`.
    pub(crate) fn note(&mut self, event: Event, after: u32) -> bool {
        match event {
            Event::Output { .. } => self.show_output(),
            Event::Breakpoint(breakpoint) => {
                self.known.insert(breakpoint.id.0, breakpoint);
            }
            Event::Progress { message } if self.interactive => {
                self.say(&format!("{} …", report::text::one_line(&message, 200)));
            }
            Event::Stopped(status) if status.resumes >= after => {
                // A stop may be told twice: as an event and as an answer.
                if status.stop.as_ref().map(|stop| stop.id) != self.shown {
                    match self.passes_stop {
                        true => self.pass_stop(&status),
                        false => self.show_stop(&status),
                    }
                }
                return true;
            }
            Event::Exited(status) | Event::Detached(status) => {
                self.show_end(&status);
                return true;
            }
            _ => {}
        }
        false
    }

    /// Shows what the program has written since.
    pub(crate) fn show_output(&mut self) {
        loop {
            let query = OutputQuery {
                from: OutputCursor(self.told.output),
                stream: None,
                max_bytes: PAGE,
                tail: false,
            };
            let Ok(Reply::Output(page)) = self.live.ask(Request::DrainOutput(query)) else {
                return;
            };
            if page.lost > 0 {
                let lost = report::text::bytes(page.lost);
                self.say(&format!(
                    "({lost} of its output came too fast and are lost)"
                ));
            }
            for chunk in &page.chunks {
                self.screen
                    .program(&self.keyboard, chunk.stream, &chunk.text);
            }
            let done = page.next >= page.end || page.next.0 <= self.told.output;
            self.told.output = page.next.0;
            if done {
                return;
            }
        }
    }

    /// Takes note of a stop that is not shown, since the program goes on from it.
    fn pass_stop(&mut self, status: &Status) {
        self.show_output();
        if let Some(stop) = &status.stop {
            self.shown = Some(stop.id);
            self.drop_temporary(&stop.reasons);
        }
    }

    /// Shows where the program stopped and why.
    pub(crate) fn show_stop(&mut self, status: &Status) {
        self.show_output();
        let Some(stop) = &status.stop else { return };
        self.shown = Some(stop.id);
        let session = self.live.session.clone();
        let ask = |request| session.request(request, std::time::Instant::now() + crate::repl::LOOK);
        let mut stack = gather::stack(&ask, stop, false);
        if let Some(stack) = &mut stack {
            self.told.mark_changes(stack);
        }
        let shown = stack.as_ref().and_then(|stack| {
            let mut frames = stack.frames.iter();
            frames.find(|frame| frame.source.is_some())
        });
        let place = shown.and_then(|frame| frame.source.as_ref());
        self.last_spot = place.map(Spot::of).or(self.last_spot.take());
        self.refocus(None, shown.map_or(0, |frame| frame.index));
        self.listing.reset();
        self.drop_temporary(&stop.reasons);
        let mut report = build::report(NAME, status, stack.as_ref());
        self.tell_news(&mut report, status, false);
        if self.orders.stopped(&stop.reasons) {
            self.say(&report.render_for(Reader::Person));
            self.show_displays();
        }
    }

    /// Shows how the program ended, and takes a new host for the next run.
    fn show_end(&mut self, status: &Status) {
        self.show_output();
        if let Ok(Reply::Breakpoints { breakpoints, .. }) = self.live.ask(Request::Breakpoints) {
            let numbered = breakpoints.into_iter().map(|it| (it.id.0, it));
            self.known = numbered.collect();
        }
        let mut report = build::report(NAME, status, None);
        self.tell_news(&mut report, status, true);
        self.exit.clone_from(&status.exit);
        let text = report.render_for(Reader::Person);
        // It is not the program that lets go.
        let ours = text
            .strip_prefix(NAME)
            .filter(|it| it.starts_with(" let go"));
        let text = ours.map(|it| format!("ndbg{it}")).unwrap_or(text);
        self.say(&text);
        if let Some(died) = self.live.session.died()
            && died.code == host::api::ErrorCode::HostDied
        {
            self.fail(&died);
            if !self.interactive {
                self.quit.get_or_insert(crate::FAILED);
            }
        }
        if let Err(error) = self.renew() {
            self.fail(&error);
        }
    }

    /// Adds what is new since the last report.
    fn tell_news(&mut self, report: &mut Report, status: &Status, ended: bool) {
        report.breakpoints = self.told.changed_breakpoints(&self.known, ended);
        // What is known of one is how it was when it was bound; the stop has counted since.
        if !ended
            && !report.breakpoints.is_empty()
            && let Ok(Reply::Breakpoints { breakpoints, .. }) = self.live.ask(Request::Breakpoints)
        {
            build::count_anew(&mut report.breakpoints, &breakpoints);
        }
        report.notes = build::notes(status, self.told.notes);
        report.notes.extend(build::stuck(status));
        self.told.notes = status.notes.len();
        let introduced = std::mem::replace(&mut self.told.introduced, report.program.is_some());
        if introduced || ended || !self.interactive {
            report.program = None;
        }
        if ended && status.state == State::Detached && status.origin == Some(Origin::Launched) {
            report.notes.push("it runs on by itself".into());
        }
    }

    /// Removes temporary breakpoints that have done their work.
    fn drop_temporary(&mut self, reasons: &[StopReason]) {
        let hit = reasons.iter().flat_map(|reason| match reason {
            StopReason::Breakpoint { ids } => ids.as_slice(),
            _ => &[],
        });
        let hit: Vec<_> = hit.filter(|id| self.temporary.remove(&id.0)).collect();
        for id in hit {
            if let Err(error) = self.remove_breakpoint(*id) {
                self.fail(&error);
            }
        }
    }

    /// Removes a breakpoint.
    pub(crate) fn remove_breakpoint(&mut self, id: BreakpointId) -> Result<(), Error> {
        self.live.ask(Request::RemoveBreakpoint(id))?;
        self.known.remove(&id.0);
        self.told.breakpoints.remove(&id.0);
        self.temporary.remove(&id.0);
        self.orders.forget(id.0);
        Ok(())
    }
}
