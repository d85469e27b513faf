//! The wish to end early, as measuring sees it: where it comes from is the commands' business.

use tokio::sync::watch;

/// Becomes true once, and stays so.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(watch::Receiver<bool>);

impl Interrupt {
    /// The wish that comes over `receiver`.
    pub(crate) fn new(receiver: watch::Receiver<bool>) -> Self {
        Self(receiver)
    }

    /// For those who wait for it themselves.
    pub(crate) fn receiver(&self) -> watch::Receiver<bool> {
        self.0.clone()
    }

    /// Runs `future` to its end, or to the interruption.
    pub(crate) async fn or_interrupted<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut interrupted = self.receiver();
        tokio::select! {
            result = future => Some(result),
            _ = interrupted.wait_for(|interrupted| *interrupted) => None,
        }
    }
}
