//! `ndbg mcp`: the MCP server, on standard input and output or over HTTP.

use std::io::{self, Write as _};
use std::path::PathBuf;

use ::mcp::http::{Address, Bound, Door, PATIENCE, TOKEN_VARIABLE, Token};
use host::HostProgram;

/// Arguments of `ndbg mcp`.
#[derive(Debug, clap::Args)]
pub(crate) struct Mcp {
    /// Serves clients over HTTP instead: on a port (7415, 127.0.0.1:7415; without one a free port of 127.0.0.1) or a
    /// socket (unix:PATH); the address and a random token are printed to standard error
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<Address>,
    /// Takes the token that clients must send from this file instead of a random one
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    /// Lets --http be an address that other machines reach; whoever has the token can run any program as you, and
    /// nothing is encrypted
    #[arg(long, requires = "http")]
    allow_remote: bool,
    /// A name of this machine that HTTP clients may use besides localhost and addresses
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,
    /// An origin whose web pages may send requests, such as http://localhost:6274; there is none otherwise
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
    /// Prints the tool reference (docs/tools.md) instead.
    #[arg(long, hide = true)]
    reference: bool,
}

impl Mcp {
    /// Runs until the client is gone; the exit code is 0, or 128 + the signal that ended it.
    pub(crate) fn run(self) -> io::Result<u8> {
        if self.reference {
            io::stdout().write_all(::mcp::reference().as_bytes())?;
            return Ok(0);
        }
        engine::share_one_heap();
        let ended = match self.http.clone() {
            None => ::mcp::serve_stdio(HostProgram::default())?,
            Some(address) => match self.door(address) {
                Ok(door) => serve_http(door)?,
                Err(why) => {
                    let _ = writeln!(io::stderr(), "error: {why}");
                    return Ok(crate::exit::USAGE);
                }
            },
        };
        Ok(ended.exit_code())
    }

    /// The door that was asked for, with the word whether its token has to be told; or why not.
    fn door(self, address: Address) -> Result<(Door, bool), String> {
        if address.is_remote() && !self.allow_remote {
            return Err(
                "this address can be reached from other machines, and whoever has the token can run any program as \
                 you; use 127.0.0.1 (and a tunnel such as ssh -L), or say --allow-remote"
                    .into(),
            );
        }
        let variable = std::env::var(TOKEN_VARIABLE).ok();
        let (token, is_new) = match (self.token_file, variable) {
            (Some(file), _) => (Token::in_file(&file)?, false),
            (None, Some(text)) => {
                let token = Token::chosen(&text);
                (
                    token.map_err(|why| format!("{TOKEN_VARIABLE}: {why}"))?,
                    false,
                )
            }
            (None, None) => {
                let token = Token::random();
                let failed = |error| format!("no random token can be made: {error}");
                (token.map_err(failed)?, true)
            }
        };
        let door = Door {
            address,
            token,
            hosts: self.allow_host,
            origins: self.allow_origin,
            patience: PATIENCE,
        };
        Ok((door, is_new))
    }
}

fn serve_http((door, is_new): (Door, bool)) -> io::Result<::mcp::Ended> {
    let token = door.token.clone();
    let bound = Bound::new(door)?;
    let mut text = format!("listening on {}\n", bound.url()?);
    if is_new {
        text += &format!("token: {}\n", token.reveal());
        text += "clients send it as `Authorization: Bearer TOKEN`; it is not shown again\n";
    }
    // Whoever started us may not read it.
    let _ = io::stderr().write_all(text.as_bytes());
    bound.serve(HostProgram::default())
}
