//! A web server on loopback with scripted responses and a log of requests.

// Each test program uses its own part of this module.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whose length is given by `Content-Length`.
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }
}

/// The fault of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The connection is reset after half of the body.
    Reset,
    /// The connection is closed after half of the body.
    Cut,
    /// No response is sent until the client disconnects.
    Hang,
    /// The body is repeated until the client disconnects.
    Endless,
    /// The body is repeated, one byte at a time, until the client disconnects.
    Drip,
    /// `Content-Length` exceeds the length of the body by this number of bytes.
    Short(usize),
    /// No `Content-Length` is sent; the connection ends with the body.
    Unsized,
}

/// A response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub fault: Option<Fault>,
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A page with this head.
    pub(crate) fn html(head: &str) -> Self {
        let body = format!("<!doctype html><html><head>{head}</head><body>text</body></html>").into_bytes();
        Self { body, ..Self::status(200) }.with("Content-Type", "text/html; charset=utf-8")
    }

    pub(crate) fn text(text: &str) -> Self {
        Self { body: text.as_bytes().to_vec(), ..Self::status(200) }.with("Content-Type", "text/plain")
    }

    pub(crate) fn redirect(status: u16, location: &str) -> Self {
        Self::status(status).with("Location", location)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn failing(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }
}

type Handler = dyn Fn(&Seen) -> Reply + Send + Sync;

/// A running server. It stops when it is dropped.
pub(crate) struct Server {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    /// The thread that accepts connections.
    accepting: Option<std::thread::JoinHandle<()>>,
}

struct Shared {
    handler: Box<Handler>,
    log: Mutex<Vec<Seen>>,
    running: AtomicUsize,
    most: AtomicUsize,
    connections: AtomicUsize,
    is_stopped: AtomicBool,
    /// Number of requests after which the server closes every connection and accepts no more.
    dies_after: Option<usize>,
    tls: Option<Arc<rustls::ServerConfig>>,
}

impl Server {
    /// A server whose responses `handler` returns.
    pub(crate) fn start(handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", None, None, handler)
    }

    /// A server that stops after `dies_after` requests.
    pub(crate) fn dying(dies_after: usize, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at("127.0.0.1:0", Some(dies_after), None, handler)
    }

    /// A server with TLS.
    pub(crate) fn with_tls(
        tls: Arc<rustls::ServerConfig>,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start_at("127.0.0.1:0", None, Some(tls), handler)
    }

    /// A server at the address of another one that has stopped.
    pub(crate) fn again(address: SocketAddr, handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_at(&address.to_string(), None, None, handler)
    }

    fn start_at(
        address: &str,
        dies_after: Option<usize>,
        tls: Option<Arc<rustls::ServerConfig>>,
        handler: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            log: Mutex::default(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            dies_after,
            tls,
        });
        let address = listener.local_addr().unwrap();
        let own = Arc::clone(&shared);
        let accepting = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.is_stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), own) = (stream, Arc::clone(&own)) else { continue };
                own.connections.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || own.serve(stream, address));
            }
        });
        Self { address, shared, accepting: Some(accepting) }
    }

    /// The URL of a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub(crate) fn log(&self) -> Vec<Seen> {
        self.shared.log.lock().unwrap().clone()
    }

    /// The sorted paths of all requests except those for robots.txt.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<_> =
            self.log().into_iter().map(|seen| seen.path).filter(|path| path != "/robots.txt").collect();
        paths.sort();
        paths
    }

    /// The number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Maximum number of concurrent requests.
    pub(crate) fn most_at_a_time(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }

    /// Maximum number of requests within one second.
    pub(crate) fn most_in_a_second(&self) -> usize {
        let times: Vec<_> = self.log().into_iter().map(|seen| seen.at).collect();
        let within =
            |start: &Instant| times.iter().filter(|at| *at >= start && **at < *start + Duration::from_secs(1)).count();
        times.iter().map(within).max().unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop(self.address);
        // The thread closes the listener, so later connections are refused and not reset.
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn stop(&self, address: SocketAddr) {
        if !self.is_stopped.swap(true, Ordering::SeqCst) {
            // Wakes the accepting thread.
            drop(TcpStream::connect(address));
        }
    }

    fn reply(&self, seen: &Seen) -> Reply {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        let reply = (self.handler)(seen);
        self.running.fetch_sub(1, Ordering::SeqCst);
        reply
    }

    fn serve(&self, stream: TcpStream, address: SocketAddr) {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        if let Some(tls) = &self.tls {
            let Ok(connection) = rustls::ServerConnection::new(Arc::clone(tls)) else { return };
            self.converse(&mut rustls::StreamOwned::new(connection, stream), None, address);
        } else {
            let peeked = stream.try_clone().unwrap();
            self.converse(&mut &stream, Some(&peeked), address);
        }
    }

    fn converse(&self, stream: &mut (impl Read + Write), plain: Option<&TcpStream>, address: SocketAddr) {
        loop {
            let mut early = None;
            // Closing a connection with an unread request makes the system reset it.
            if let Some(plain) = plain {
                let mut bytes = [0; 16 << 10];
                let Ok(count @ 1..) = plain.peek(&mut bytes) else { return };
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                // The body of a POST request may not have arrived yet.
                if let Some(seen) = parsed(&text).filter(|seen| seen.method != "POST") {
                    let reply = self.reply(&seen);
                    if reply.fault == Some(Fault::Reset) {
                        self.log.lock().unwrap().push(seen);
                        let _ = stream
                            .write_all(&head(&reply))
                            .and_then(|()| stream.write_all(&reply.body[..reply.body.len() / 2]));
                        return;
                    }
                    early = Some(reply);
                }
            }
            let Some(text) = request(stream) else { return };
            let Some(mut seen) = parsed(&text) else { return };
            let length = seen.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
            seen.body = vec![0; length];
            if stream.read_exact(&mut seen.body).is_err() {
                return;
            }
            if self.is_stopped.load(Ordering::SeqCst) {
                return;
            }
            let number = {
                let mut log = self.log.lock().unwrap();
                log.push(seen.clone());
                log.len()
            };
            if self.dies_after.is_some_and(|most| number > most) {
                self.log.lock().unwrap().pop();
                self.stop(address);
                return;
            }
            let reply = early.unwrap_or_else(|| self.reply(&seen));
            let body = if seen.method == "HEAD" { &[][..] } else { &reply.body };
            match reply.fault {
                Some(Fault::Hang) => {
                    let _ = stream.read(&mut [0]);
                    return;
                }
                Some(Fault::Endless | Fault::Drip) => {
                    let (piece, pause) = if reply.fault == Some(Fault::Drip) { (1, 20) } else { (body.len(), 0) };
                    // The channel has no messages: receiving waits for the pause.
                    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
                    let mut sent = stream.write_all(&head(&reply));
                    for piece in body.chunks(piece).cycle() {
                        let _ = receiver.recv_timeout(Duration::from_millis(pause));
                        sent = sent.and_then(|()| stream.write_all(piece)).and_then(|()| stream.flush());
                        if sent.is_err() || self.is_stopped.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                }
                Some(fault) => {
                    let end =
                        if matches!(fault, Fault::Short(_) | Fault::Unsized) { body.len() } else { body.len() / 2 };
                    let _ = stream.write_all(&head(&reply)).and_then(|()| stream.write_all(&body[..end]));
                    let _ = stream.flush();
                    if let Some(plain) = plain {
                        let _ = plain.shutdown(Shutdown::Both);
                    }
                    return;
                }
                None => {
                    let sent = stream.write_all(&[&head(&reply)[..], body].concat()).and_then(|()| stream.flush());
                    if sent.is_err() {
                        return;
                    }
                }
            }
        }
    }
}

/// Reads the head of a request, up to the empty line.
fn request(stream: &mut impl Read) -> Option<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        text.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

fn parsed(text: &str) -> Option<Seen> {
    let mut lines = text.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    Some(Seen { method, path, headers, body: Vec::new(), at: Instant::now() })
}

fn head(reply: &Reply) -> Vec<u8> {
    let length = match reply.fault {
        Some(Fault::Endless | Fault::Drip | Fault::Unsized) => "Connection: close\r\n".to_owned(),
        Some(Fault::Short(more)) => format!("Content-Length: {}\r\n", reply.body.len() + more),
        _ => format!("Content-Length: {}\r\n", reply.body.len()),
    };
    let mut text = format!("HTTP/1.1 {} Status\r\n{length}", reply.status);
    for (name, value) in &reply.headers {
        text += &[name, ": ", value, "\r\n"].concat();
    }
    (text + "\r\n").into_bytes()
}
