//! Options of commands that send requests: request rates, and which hosts are allowed.

pub(crate) mod site_probe;

use super::Failure;
use crate::files;
use crate::net::client::{Settings, SettingsError};
use crate::net::credentials::Credentials;
use crate::net::hosts::{HostRule, Hosts};
use crate::net::pace::Limits;
use crate::net::probe::{USER_AGENT, refusal};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// How requests are sent to a site.
#[derive(Debug, Clone, Args)]
pub struct SiteOptions {
    /// Maximum requests per second to one host; 0 means no limit
    #[arg(long, value_name = "N", value_parser = rate, default_value = "5")]
    pub rate: f64,
    /// Maximum concurrent requests to one host
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), default_value = "4")]
    pub concurrency: u16,
    /// Send this header with each request; may be repeated
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub header: Vec<(String, String)>,
    /// Send the user name and password in the environment variable VARIABLE (USER:PASSWORD), to the site's own host
    /// only
    #[arg(long, value_name = "VARIABLE", value_parser = variable)]
    pub basic_auth: Option<String>,
    /// Allow requests to addresses that are not public, such as 127.0.0.1
    #[arg(long)]
    pub allow_private: bool,
    /// Allow requests and redirects to this host too: HOST or HOST:PORT; may be repeated
    #[arg(long, value_name = "HOST", value_parser = host)]
    pub allow_host: Vec<HostRule>,
    /// The User-Agent header; probe looks up its first word in robots.txt
    #[arg(long, value_name = "TEXT", default_value = USER_AGENT)]
    pub user_agent: String,
    /// Trust the certificates of this PEM file instead of the system's
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
}

impl SiteOptions {
    /// The settings of the HTTP client. Credentials are sent only to the host of `own`, a URL of the site.
    pub(super) fn settings(&self, timeout: Duration, own: Option<&Url>) -> Result<Settings, Failure> {
        let read = |path: &PathBuf| std::fs::read(path).map_err(|error| files::Error::system("read", path, error));
        Ok(Settings {
            user_agent: self.user_agent.clone(),
            headers: self.header.clone(),
            credentials: own.map(|own| self.credentials(own)).transpose()?.flatten(),
            timeout,
            idle_timeout: None,
            allow_private: self.allow_private,
            loopback: Vec::new(),
            certificates: self.cacert.as_ref().map(read).transpose()?,
            connections: usize::from(self.concurrency),
        })
    }

    /// The credentials of the variable of `--basic-auth`.
    fn credentials(&self, own: &Url) -> Result<Option<Credentials>, Failure> {
        let Some(name) = &self.basic_auth else { return Ok(None) };
        let usage = |what: &str| {
            let hint = format!("set it before the command runs: export {name}='USER:PASSWORD'");
            Failure::Usage(format!("the environment variable {name} {what}"), hint)
        };
        let text = std::env::var(name).map_err(|_| usage("of --basic-auth is not set"))?;
        let credentials = Credentials::basic(&text, own);
        credentials.map(Some).ok_or_else(|| usage("of --basic-auth does not hold USER:PASSWORD"))
    }

    /// The first option that is not the default.
    pub(super) fn first_option(&self) -> Option<&'static str> {
        let Self { rate, concurrency, header, basic_auth, allow_private, allow_host, cacert, .. } = self;
        let options = [
            ((*rate - 5.0).abs() > f64::EPSILON, "--rate"),
            (*concurrency != 4, "--concurrency"),
            (!header.is_empty(), "--header"),
            (basic_auth.is_some(), "--basic-auth"),
            (*allow_private, "--allow-private"),
            (!allow_host.is_empty(), "--allow-host"),
            (cacert.is_some(), "--cacert"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    /// The request limits per host.
    pub(super) fn limits(&self) -> Limits {
        Limits { rate: self.rate, concurrency: usize::from(self.concurrency) }
    }

    /// The error of settings that no client can be made of.
    pub(super) fn settings_failure(&self, error: &SettingsError) -> Failure {
        settings_failure(error, self.cacert.as_deref())
    }

    /// Refuses sites whose address is not public, before any request is sent.
    pub(super) fn refuse_private<'u>(
        &self,
        sites: impl Iterator<Item = &'u Url>,
        hosts: &Hosts,
    ) -> Result<(), Failure> {
        if self.allow_private {
            return Ok(());
        }
        sites.filter(|url| hosts.contains(url)).try_for_each(refuse_private_url)
    }
}

/// The error of settings that no client can be made of; `cacert` is the file of the certificates.
pub(super) fn settings_failure(error: &SettingsError, cacert: Option<&Path>) -> Failure {
    match error {
        SettingsError::Header(_) => {
            Failure::Usage(error.to_string(), "for example: --header 'Accept-Language: de'".to_owned())
        }
        SettingsError::Certificates => {
            let path = cacert.unwrap_or_else(|| Path::new("")).display();
            let hint = "certificates begin with -----BEGIN CERTIFICATE-----".to_owned();
            Failure::Usage(format!("{path}: {error}"), hint)
        }
    }
}

/// Refuses a URL whose address is not public, before any request is sent.
pub(super) fn refuse_private_url(url: &Url) -> Result<(), Failure> {
    match refusal(std::iter::once(url)) {
        Some(message) => Err(Failure::Usage(message, "--allow-private allows it".to_owned())),
        None => Ok(()),
    }
}

/// Reads a rate.
fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "expected a number of requests, such as 5 or 0.5".to_owned())
}

/// Reads a number of seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let time = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.filter(|time| !time.is_zero()).ok_or_else(|| "expected a number of seconds, such as 10".to_owned())
}

/// Reads the name of an environment variable.
fn variable(text: &str) -> Result<String, String> {
    let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_name = is_name && text.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    let expected = "expected the name of an environment variable; others can see passwords on a command line";
    if is_name { Ok(text.to_owned()) } else { Err(expected.to_owned()) }
}

/// Reads a header.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or_else(|| "expected NAME: VALUE".to_owned())?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Reads a host.
fn host(text: &str) -> Result<HostRule, String> {
    HostRule::parse(text).ok_or_else(|| "expected a host, such as www.example.com or 127.0.0.1:8000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_options_are_read() {
        assert_eq!((rate("0.5"), rate("0")), (Ok(0.5), Ok(0.0)));
        assert!(["-1", "inf", "NaN", "x"].into_iter().all(|text| rate(text).is_err()));
        assert!(["0", "-1", "1e300", "x"].into_iter().all(|text| seconds(text).is_err()));
        assert_eq!(header("A-B: c: d"), Ok(("A-B".to_owned(), "c: d".to_owned())));
        assert_eq!(variable("SITE_LOGIN"), Ok("SITE_LOGIN".to_owned()));
        assert!(["", "user:password", "2", "a-b"].into_iter().all(|text| variable(text).is_err()));
        assert!(header("x").is_err() && host("https://e.com/").is_err() && host("e.com").is_ok());
    }
}
