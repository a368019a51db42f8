//! `ndbg mcp`: the MCP server, on standard input and output or over HTTP.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use ::mcp::http::{Address, Bound, Door, PATIENCE, TOKEN_VARIABLE, Token};
use ::mcp::{AllowAttach, Policy, Roots};
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
    /// Only looks at programs: no code of theirs is run for a client, nothing is set, attached ones are not ended, and none
    /// is launched but those below --root
    #[arg(long)]
    read_only: bool,
    /// Which running programs may be attached to: those of this user, any that the system allows, or none
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = AttachTo::Own)]
    allow_attach: AttachTo,
    /// Launches and attaches to programs below this folder only, and reads sources named by path there only; may be given
    /// several times
    #[arg(long, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// Ends a session of which nothing is asked for so long: a launched program is ended, an attached one runs on
    #[arg(long, value_name = "MINUTES", value_parser = minutes)]
    idle_limit: Option<Duration>,
    /// Prints the tool reference (docs/tools.md) instead.
    #[arg(long, hide = true)]
    reference: bool,
}

/// Which running programs may be attached to.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AttachTo {
    Own,
    Any,
    None,
}

impl Mcp {
    /// Runs until the client is gone; the exit code is 0, or 128 + the signal that ended it.
    pub(crate) fn run(self) -> io::Result<u8> {
        if self.reference {
            io::stdout().write_all(::mcp::reference().as_bytes())?;
            return Ok(0);
        }
        engine::share_one_heap();
        let wrong = |why: String| {
            let _ = writeln!(io::stderr(), "error: {why}");
            Ok(crate::exit::USAGE)
        };
        let policy = match self.policy() {
            Ok(policy) => policy,
            Err(why) => return wrong(why),
        };
        let ended = match self.http.clone() {
            None => ::mcp::serve_stdio(HostProgram::default(), policy)?,
            Some(address) => match self.door(address) {
                Ok(door) => serve_http(door, policy)?,
                Err(why) => return wrong(why),
            },
        };
        Ok(ended.exit_code())
    }

    /// What clients may do, or why that makes no sense.
    fn policy(&self) -> Result<Policy, String> {
        Ok(Policy {
            read_only: self.read_only,
            attach: match self.allow_attach {
                AttachTo::None => AllowAttach::None,
                AttachTo::Own => AllowAttach::Own,
                AttachTo::Any => AllowAttach::Any,
            },
            roots: Roots::new(&self.root).map_err(|why| format!("--root {why}"))?,
            idle_limit: self.idle_limit,
        })
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

/// Minutes, perhaps with a fraction.
fn minutes(text: &str) -> Result<Duration, String> {
    let minutes: f64 = text
        .parse()
        .map_err(|_| "a number of minutes is needed, such as 30".to_owned())?;
    match Duration::try_from_secs_f64(minutes * 60.0) {
        Ok(limit) if limit >= Duration::from_secs(1) => Ok(limit),
        _ => Err("it must be at least a second".into()),
    }
}

fn serve_http((door, is_new): (Door, bool), policy: Policy) -> io::Result<::mcp::Ended> {
    let token = door.token.clone();
    let bound = Bound::new(door)?;
    let mut text = format!("listening on {}\n", bound.url()?);
    if is_new {
        text += &format!("token: {}\n", token.reveal());
        text += "clients send it as `Authorization: Bearer TOKEN`; it is not shown again\n";
    }
    // Whoever started us may not read it.
    let _ = io::stderr().write_all(text.as_bytes());
    bound.serve(HostProgram::default(), policy)
}
