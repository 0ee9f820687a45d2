//! Standard input and output as the transport of the protocol. Invalid messages are answered as invalid
//! requests.

use std::io;

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{Stdin, Stdout};

use super::lines::{CheckedLines, INVALID_ID};

/// The pipe to the client.
pub(super) struct Stdio {
    pipe: AsyncRwTransport<RoleServer, CheckedLines<Stdin>, Stdout>,
    /// Set if the client has sent a request.
    met: bool,
}

/// Standard input and output.
pub(super) fn stdio() -> Stdio {
    Stdio {
        pipe: AsyncRwTransport::new_server(CheckedLines::new(tokio::io::stdin()), tokio::io::stdout()),
        met: false,
    }
}

fn is_invalid_line(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if request.id == RequestId::String(INVALID_ID.into()))
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.pipe.send(message)
    }

    /// Returns the next message. A notification before the first request would end the session; it has no
    /// meaning, so it is dropped.
    ///
    /// This future may be cancelled at any time, so the reply to an invalid line is sent by a task of its own.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.pipe.receive().await?;
            if is_invalid_line(&message) {
                let error = ErrorData::invalid_request("Invalid request", None);
                tokio::spawn(self.pipe.send(TxJsonRpcMessage::<RoleServer>::error(error, None)));
                continue;
            }
            self.met |= matches!(message, JsonRpcMessage::Request(_));
            if self.met {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.pipe.close().await
    }
}
