//! SIGINT, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends at once.

use std::cell::Cell;
use std::rc::Rc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::Exit;
use crate::measure::Interrupt;

/// Listens for the rest of the program's life.
#[derive(Debug, Clone)]
pub(crate) struct Signals {
    interrupt: Interrupt,
    exit: Rc<Cell<Option<Exit>>>,
}

impl Signals {
    /// Starts to listen, on the current runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let (sender, interrupted) = watch::channel(false);
        let exit = Rc::new(Cell::new(None));
        let first = Rc::clone(&exit);
        tokio::task::spawn_local(async move {
            loop {
                let received = tokio::select! {
                    _ = interrupt.recv() => Exit::Interrupted,
                    _ = terminate.recv() => Exit::Terminated,
                    _ = hang_up.recv() => Exit::HungUp,
                };
                if first.get().is_some() {
                    std::process::exit(received as i32);
                }
                first.set(Some(received));
                sender.send_replace(true);
            }
        });
        Ok(Self { interrupt: Interrupt::new(interrupted), exit })
    }

    /// The wish to end that the first signal is.
    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The exit code that the first signal asks for.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit.get()
    }

    /// Runs `future` to its end, or to the first signal.
    pub(crate) async fn or_interrupted<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        self.interrupt.or_interrupted(future).await
    }
}
