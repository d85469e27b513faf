//! Logs a measuring client in: greeting, encryption, password. mysql_async keeps its stream to
//! itself, so this much of its work is done here, with the packets and the scrambles of
//! `mysql_common`. Ends with a [`Wire`].

use std::io;
use std::sync::Arc;

use mysql_async::{DriverError, Error, IoError, ServerError};
use mysql_common::collations::CollationId;
use mysql_common::constants::CapabilityFlags;
use mysql_common::crypto;
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, ErrPacket, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::wire::{Stream, Wire};
use crate::engine::blocking::Blocking;
use crate::target::{MySqlHost, MySqlTarget, Secret, TlsMode};

/// The longest packet that the client announces.
const MAX_PACKET_BYTES: u32 = 1 << 30;

/// A connection that waits for a command.
pub(super) struct LoggedIn {
    pub(super) wire: Wire,
    /// The server's number of the connection.
    pub(super) id: u32,
}

/// How a client waits for the server's replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// In the event loop, with the other clients of its thread.
    Together,
    /// In the kernel: there is nobody else in its thread. Encrypted streams wait together anyway.
    Alone,
}

/// Connects to `target` and logs in; encrypted when a configuration is given, and the server can or
/// the target insists.
pub(super) async fn log_in(
    target: &MySqlTarget,
    encryption: Option<&Arc<ClientConfig>>,
    waiting: Waiting,
) -> Result<LoggedIn, Error> {
    match &target.host {
        MySqlHost::Socket(path) => {
            let stream = UnixStream::connect(path).await?;
            let login = Login::greeted(target, stream, true).await?.finish().await?;
            match waiting {
                Waiting::Together => Ok(login.wired()),
                Waiting::Alone => login.blocking(Blocking::unix),
            }
        }
        MySqlHost::Tcp { name, port } => {
            let stream = TcpStream::connect((name.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            let login = Login::greeted(target, stream, false).await?;
            match encryption {
                Some(config) if login.server_encrypts => {
                    Ok(login.encrypted(name, config).await?.finish().await?.wired())
                }
                Some(_) if target.tls > TlsMode::Preferred => {
                    Err(DriverError::NoClientSslFlagFromServer.into())
                }
                _ => {
                    let login = login.finish().await?;
                    match waiting {
                        Waiting::Together => Ok(login.wired()),
                        Waiting::Alone => login.blocking(Blocking::tcp),
                    }
                }
            }
        }
    }
}

/// A login under way.
struct Login<'t, S> {
    target: &'t MySqlTarget,
    stream: S,
    /// Nobody else can read what is sent.
    is_secret: bool,
    /// Number of the next packet to be sent.
    sequence: u8,
    id: u32,
    version: (u16, u16, u16),
    capabilities: CapabilityFlags,
    server_encrypts: bool,
    plugin: AuthPlugin<'static>,
    nonce: Vec<u8>,
}

impl<'t, S: Stream> Login<'t, S> {
    /// Reads the server's greeting.
    async fn greeted(
        target: &'t MySqlTarget,
        mut stream: S,
        is_secret: bool,
    ) -> Result<Self, Error> {
        let mut sequence = 0;
        let greeting = read(&mut stream, &mut sequence).await?;
        if greeting.first() == Some(&0xFF) {
            return Err(refusal(&greeting, CapabilityFlags::empty()));
        }
        let greeting: HandshakePacket<'_> = ParseBuf(&greeting).parse(())?;
        let version = greeting.maria_db_server_version_parsed();
        let version = version.or_else(|| greeting.server_version_parsed()).unwrap_or_default();
        let plugin = match greeting.auth_plugin() {
            Some(AuthPlugin::CachingSha2Password) => AuthPlugin::CachingSha2Password,
            // Another one is switched to when the server says which.
            _ => AuthPlugin::MysqlNativePassword,
        };
        Ok(Self {
            target,
            stream,
            is_secret,
            sequence,
            id: greeting.connection_id(),
            version,
            capabilities: wanted() & greeting.capabilities()
                | CapabilityFlags::CLIENT_CONNECT_WITH_DB,
            server_encrypts: greeting.capabilities().contains(CapabilityFlags::CLIENT_SSL),
            plugin,
            nonce: greeting.nonce(),
        })
    }

    /// Names user and database, proves the password.
    async fn finish(mut self) -> Result<Self, Error> {
        let password = self.target.password.as_ref().map(Secret::expose);
        let proof = self.plugin.gen_data(password, &self.nonce);
        let response = HandshakeResponse::new(
            proof.as_deref(),
            self.version,
            Some(self.target.user.as_bytes()),
            Some(self.target.database.as_bytes()),
            Some(self.plugin.borrow()),
            self.capabilities,
            None,
            MAX_PACKET_BYTES,
        );
        let mut bytes = Vec::new();
        response.serialize(&mut bytes);
        self.write(&bytes).await?;
        loop {
            let packet = self.read().await?;
            match packet.first() {
                Some(0x00) => return Ok(self),
                Some(0xFF) => return Err(refusal(&packet, self.capabilities)),
                Some(0xFE) => self.switch(&packet, password).await?,
                // caching_sha2_password: 3 says that the proof is known, 4 wants the password itself.
                Some(0x01) if packet.get(1) == Some(&3) => {}
                Some(0x01) if packet.get(1) == Some(&4) => {
                    self.send_password(password.unwrap_or_default()).await?;
                }
                _ => return Err(DriverError::UnexpectedPacket { payload: packet }.into()),
            }
        }
    }

    /// The connection, for statements.
    fn wired(self) -> LoggedIn
    where
        S: 'static,
    {
        LoggedIn { wire: Wire::new(Box::new(self.stream), self.capabilities), id: self.id }
    }

    /// The connection, for statements that block their thread.
    fn blocking<B: Stream + 'static>(
        self,
        convert: impl FnOnce(S) -> io::Result<B>,
    ) -> Result<LoggedIn, Error> {
        let stream = convert(self.stream)?;
        Ok(LoggedIn { wire: Wire::new(Box::new(stream), self.capabilities), id: self.id })
    }

    /// Proves the password by another plugin.
    async fn switch(&mut self, packet: &[u8], password: Option<&str>) -> Result<(), Error> {
        let request: AuthSwitchRequest<'_> = ParseBuf(packet).parse(())?;
        self.plugin = request.auth_plugin().into_owned();
        self.nonce = request.plugin_data().to_vec();
        match self.plugin {
            AuthPlugin::CachingSha2Password | AuthPlugin::MysqlNativePassword => {}
            _ => {
                let name = String::from_utf8_lossy(self.plugin.as_bytes()).into_owned();
                return Err(DriverError::UnknownAuthPlugin { name }.into());
            }
        }
        let proof = self.plugin.gen_data(password, &self.nonce);
        self.write(proof.as_deref().unwrap_or_default()).await
    }

    /// Sends the password where nobody can read it, else encrypted with the server's key.
    async fn send_password(&mut self, password: &str) -> Result<(), Error> {
        let mut bytes = password.as_bytes().to_vec();
        bytes.push(0);
        if !self.is_secret {
            self.write(&[0x02]).await?;
            let key = self.read().await?;
            for (byte, nonce) in bytes.iter_mut().zip(self.nonce.iter().cycle()) {
                *byte ^= nonce;
            }
            bytes = crypto::encrypt(&bytes, key.get(1..).unwrap_or_default());
        }
        self.write(&bytes).await
    }

    async fn read(&mut self) -> io::Result<Vec<u8>> {
        read(&mut self.stream, &mut self.sequence).await
    }

    async fn write(&mut self, packet: &[u8]) -> Result<(), Error> {
        // A login's packets are far shorter than 16 MiB.
        let length = u32::try_from(packet.len()).map_err(io::Error::other)?.to_le_bytes();
        let mut bytes = vec![length[0], length[1], length[2], self.sequence];
        bytes.extend_from_slice(packet);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.write_all(&bytes).await?;
        Ok(self.stream.flush().await?)
    }
}

impl<'t> Login<'t, TcpStream> {
    /// Goes on encrypted, with the server that should be `host`.
    async fn encrypted(
        mut self,
        host: &str,
        config: &Arc<ClientConfig>,
    ) -> Result<Login<'t, TlsStream<TcpStream>>, Error> {
        self.capabilities |= CapabilityFlags::CLIENT_SSL;
        let mut request = Vec::new();
        SslRequest::new(self.capabilities, MAX_PACKET_BYTES, CollationId::UTF8MB4_GENERAL_CI as u8)
            .serialize(&mut request);
        self.write(&request).await?;
        let server = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(config));
        Ok(Login {
            stream: connector.connect(server, self.stream).await?,
            target: self.target,
            is_secret: true,
            sequence: self.sequence,
            id: self.id,
            version: self.version,
            capabilities: self.capabilities,
            server_encrypts: true,
            plugin: self.plugin,
            nonce: self.nonce,
        })
    }
}

/// What the client can do. Rows found are counted, not rows changed, as on the other engines.
fn wanted() -> CapabilityFlags {
    CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_LONG_FLAG
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
        | CapabilityFlags::CLIENT_DEPRECATE_EOF
        | CapabilityFlags::CLIENT_MULTI_STATEMENTS
        | CapabilityFlags::CLIENT_MULTI_RESULTS
        | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
        | CapabilityFlags::CLIENT_FOUND_ROWS
}

/// Reads a packet byte for byte, and nothing beyond it.
async fn read<S: Stream>(stream: &mut S, sequence: &mut u8) -> io::Result<Vec<u8>> {
    let mut header = [0; 4];
    stream.read_exact(&mut header).await?;
    *sequence = header[3].wrapping_add(1);
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
    let mut packet = vec![0; length as usize];
    stream.read_exact(&mut packet).await?;
    Ok(packet)
}

fn refusal(packet: &[u8], capabilities: CapabilityFlags) -> Error {
    match ParseBuf(packet).parse::<ErrPacket<'_>>(capabilities) {
        Ok(ErrPacket::Error(error)) => Error::Server(ServerError {
            code: error.error_code(),
            message: error.message_str().into_owned(),
            state: error
                .sql_state_ref()
                .map(|state| state.as_str().into_owned())
                .unwrap_or_default(),
        }),
        Ok(ErrPacket::Progress(_)) => {
            DriverError::UnexpectedPacket { payload: packet.to_vec() }.into()
        }
        Err(error) => Error::Io(IoError::Io(error)),
    }
}
