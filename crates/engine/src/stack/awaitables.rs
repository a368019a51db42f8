//! What is awaited in the framework, in words of its users: the objects behind an await have names that nobody has met.
//!
//! They are told apart by the names of their types, which differ between versions; one that is not known here is told by its
//! own name.

use cordebug::value::Value;

use crate::fields::Fields;

/// The operations of a socket, as the framework numbers them.
const SOCKET: [&str; 10] = [
    "",
    "AcceptAsync",
    "ConnectAsync",
    "DisconnectAsync",
    "ReceiveAsync",
    "ReceiveFromAsync",
    "ReceiveMessageFromAsync",
    "SendAsync",
    "SendPacketsAsync",
    "SendToAsync",
];

impl Fields<'_> {
    /// The call that made an object which somebody awaits; the object's type where that is not known.
    pub(super) fn awaitable(&mut self, object: &Value) -> String {
        let full = self.types(object).into_iter().next().unwrap_or_default();
        if full.starts_with("System.Net.Sockets.Socket.AwaitableSocketAsyncEventArgs") {
            return self.socket_operation(object);
        }
        let text = self.type_text(object);
        match known(&full, &text) {
            Some(call) => call.into(),
            None => text,
        }
    }

    fn socket_operation(&mut self, object: &Value) -> String {
        let operation = self.number(object, "_completedOperation");
        let operation = operation.and_then(|it| SOCKET.get(usize::try_from(it).ok()?));
        match operation.filter(|it| !it.is_empty()) {
            Some(operation) => format!("Socket.{operation}"),
            None => "an operation of a Socket".into(),
        }
    }
}

/// The call behind a type of the framework, by its full name, and its name with the arguments that it has.
fn known(full: &str, closed: &str) -> Option<&'static str> {
    let bare = full.split('<').next().unwrap_or(full);
    let channels = "System.Threading.Channels.";
    if let Some(name) = bare.strip_prefix(channels) {
        return Some(match name {
            "BlockedReadAsyncOperation" => "ChannelReader.ReadAsync",
            "WaitingReadAsyncOperation" => "ChannelReader.WaitToReadAsync",
            "BlockedWriteAsyncOperation" | "VoidAsyncOperationWithData" => {
                "ChannelWriter.WriteAsync"
            }
            "WaitingWriteAsyncOperation" => "ChannelWriter.WaitToWriteAsync",
            // Before .NET 10 one type served for three calls.
            "AsyncOperation" if closed.ends_with("<bool>") => {
                "ChannelReader.WaitToReadAsync or ChannelWriter.WaitToWriteAsync"
            }
            "AsyncOperation" => "ChannelReader.ReadAsync",
            _ => return None,
        });
    }
    Some(match bare {
        "System.Threading.SemaphoreSlim.TaskNode" => "SemaphoreSlim.WaitAsync",
        "System.Threading.PeriodicTimer.State" => "PeriodicTimer.WaitForNextTickAsync",
        "System.IO.Pipelines.Pipe.DefaultPipeReader" => "PipeReader.ReadAsync",
        "System.IO.Pipelines.Pipe.DefaultPipeWriter" => "PipeWriter.FlushAsync",
        "Microsoft.Win32.SafeHandles.SafeFileHandle.ThreadPoolValueTaskSource" => {
            "a read or write of a file"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::known;

    #[test]
    fn types_of_the_framework_are_told_as_the_calls_that_made_them() {
        let channel = |name: &str| {
            let open = name.replace("bool", "TResult");
            known(&format!("System.Threading.Channels.{open}"), name)
        };
        assert_eq!(
            channel("AsyncOperation<int>"),
            Some("ChannelReader.ReadAsync")
        );
        assert_eq!(
            channel("AsyncOperation<bool>"),
            Some("ChannelReader.WaitToReadAsync or ChannelWriter.WaitToWriteAsync")
        );
        assert_eq!(
            channel("BlockedWriteAsyncOperation<string>"),
            Some("ChannelWriter.WriteAsync")
        );
        assert_eq!(
            known("System.Threading.SemaphoreSlim.TaskNode", ""),
            Some("SemaphoreSlim.WaitAsync")
        );
        // A type of the user's that is called so is told as it is.
        assert_eq!(known("Shop.SemaphoreSlim.TaskNode", ""), None);
    }
}
