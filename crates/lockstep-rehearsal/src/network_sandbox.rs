//! The network of a client: loopback only if the machine allows it, otherwise the host's network with proxies
//! that point nowhere.
//!
//! A socket belongs to the network namespace of the *thread* that created it, and a process to that of the
//! thread that started it. A short-lived thread enters the namespace, binds the model's socket and starts the
//! client there, while the rest of this process stays outside and serves that socket like any other.
//!
//! Entering needs CAP_SYS_ADMIN: root, and not in an ordinary container. An unprivileged user namespace would
//! not work, because a process with threads cannot enter one. Otherwise [`NetworkAccess::Host`] is used: the
//! client's proxies point to a closed port and its nonessential traffic is disabled, which affects the client
//! but not the processes that its `Bash` tool starts.

use std::io;

/// The network that the client can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkAccess {
    /// A namespace of its own, with nothing but loopback.
    LoopbackOnly,
    /// The host's network, with proxies to nowhere.
    Host {
        /// The reason why no namespace was used.
        why: String,
    },
}

#[derive(Debug)]
pub(crate) enum NetworkSandbox {
    Host {
        why: String,
    },
    #[cfg(target_os = "linux")]
    Namespace(std::fs::File),
}

impl NetworkSandbox {
    /// The most secluded network to be had on this machine.
    pub(crate) fn most_isolated() -> Self {
        #[cfg(target_os = "linux")]
        match linux::new_namespace() {
            Ok(namespace) => Self::Namespace(namespace),
            Err(why) => Self::host(why),
        }
        #[cfg(not(target_os = "linux"))]
        Self::host("network namespaces exist on Linux only")
    }

    pub(crate) fn host(why: impl Into<String>) -> Self {
        Self::Host { why: why.into() }
    }

    pub(crate) fn network(&self) -> NetworkAccess {
        match self {
            Self::Host { why } => NetworkAccess::Host { why: why.clone() },
            #[cfg(target_os = "linux")]
            Self::Namespace(_) => NetworkAccess::LoopbackOnly,
        }
    }

    /// Runs `work` in this network: sockets it creates and processes it starts stay there.
    pub(crate) fn run_inside<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        match self {
            Self::Host { .. } => work(),
            #[cfg(target_os = "linux")]
            Self::Namespace(namespace) => std::thread::scope(|scope| {
                let inside = scope.spawn(|| {
                    linux::enter(namespace)?;
                    work()
                });
                inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    //! Namespaces through `unshare` and `ip`: creating one here would need unsafe code.

    use std::fs::File;
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    pub(super) use lockstep_fs::process::enter_network as enter;

    /// A namespace with loopback up, and whether a thread of ours may enter it.
    pub(super) fn new_namespace() -> Result<File, String> {
        // `read` holds the namespace until our end of its input is closed, which our own end closes too.
        let script = "ip link set lo up && echo up && read -r _";
        let mut holder = Command::new("unshare")
            .args(["--net", "sh", "-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("unshare does not start: {error}"))?;
        let mut up = [0; 3];
        let ready = holder.stdout.take().map(|mut stdout| stdout.read_exact(&mut up));
        let opened = match ready {
            Some(Ok(())) => {
                File::open(format!("/proc/{}/ns/net", holder.id())).map_err(|error| error.to_string())
            }
            _ => Err(String::new()),
        };
        let output = holder.wait_with_output().map_err(|error| error.to_string())?;
        let namespace =
            opened.map_err(|why| format!("{why}{}", String::from_utf8_lossy(&output.stderr).trim()))?;
        let entered = std::thread::scope(|scope| scope.spawn(|| enter(&namespace)).join());
        match entered {
            Ok(Ok(())) => Ok(namespace),
            Ok(Err(error)) => Err(format!("its network namespace cannot be entered: {error}")),
            Err(_) => Err("its network namespace cannot be entered".into()),
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Write as _;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::process::Command;

    use super::*;

    #[test]
    fn a_namespace_has_loopback_and_nothing_else_and_its_sockets_serve_outside() {
        let place = NetworkSandbox::most_isolated();
        if let NetworkAccess::Host { why } = place.network() {
            let _ = writeln!(io::stderr(), "SKIPPED network namespace: {why}");
            return;
        }
        let listener = place.run_inside(|| TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        TcpStream::connect(address).expect_err("the host must not see it");
        let accepted = std::thread::spawn(move || listener.accept().unwrap());
        place.run_inside(|| TcpStream::connect(address)).unwrap();
        accepted.join().unwrap();

        let output = place.run_inside(|| Command::new("ip").args(["-o", "link"]).output()).unwrap();
        let links = String::from_utf8(output.stdout).unwrap();
        assert!(links.lines().all(|link| link.contains(": lo:")) && links.contains("UP"), "{links}");
    }
}
