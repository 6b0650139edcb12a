//! Reads the robots.txt that the URLs of a set are checked against.

use crate::check::robots::RobotsTxt;
use crate::files::{self, Options, RobotsFile};
use std::path::PathBuf;
use std::sync::Arc;

/// The robots.txt of the options, else the one in the folder of the set; `None` if there is none.
///
/// # Errors
/// [`files::Error`] if the file cannot be read.
pub fn robots_txt(options: &Options, paths: &[PathBuf]) -> Result<Option<Arc<RobotsTxt>>, files::Error> {
    let (path, name) = match &options.robots {
        RobotsFile::Ignored => return Ok(None),
        RobotsFile::At(path) => (path.clone(), path.display().to_string()),
        // Messages name a robots.txt in the folder of the set without its path.
        RobotsFile::Beside => match files::robots_beside(paths) {
            Some(path) => (path, "robots.txt".to_owned()),
            None => return Ok(None),
        },
    };
    let bytes = files::read_robots(&path)?;
    Ok(Some(Arc::new(RobotsTxt::parse(name, &bytes, options.base_url.as_deref()))))
}
