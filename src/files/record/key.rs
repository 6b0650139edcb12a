//! The user's key, which authenticates commit records and backups.
//!
//! 32 random bytes in the user's state folder, created when they are first needed. A record is authenticated by a keyed
//! BLAKE3 hash, so that nobody without the key can write a record that is carried out without confirmation.

use crate::files::lock::{check_own_folder, create_private_folder};
use crate::files::temporary::{SUFFIX, temporary_prefix};
use crate::files::trust;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The name of the key file in the state folder.
const FILE_NAME: &str = "record.key";

/// Length of a key in bytes.
const LEN: usize = 32;

/// A key that authenticates files which this user's processes have written.
#[derive(Clone)]
pub(in crate::files) struct Key([u8; LEN]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// Loads the key of a state folder; `None` if it is missing, invalid or readable by others.
    pub(in crate::files) fn load(state: &Path) -> Option<Self> {
        let path = state.join(FILE_NAME);
        let mut file = trust::open_own(&path).ok()?;
        if !is_private(&file.metadata().ok()?) || check_own_folder(state).is_err() {
            return None;
        }
        let bytes = trust::read_at_most(&mut file, LEN as u64).ok()?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Loads the key, or creates it if it is missing, invalid or readable by others.
    ///
    /// # Errors
    /// If it cannot be written, or the state folder belongs to or is writable by another user.
    pub(in crate::files) fn load_or_create(state: &Path) -> io::Result<Self> {
        if let Some(key) = Self::load(state) {
            return Ok(key);
        }
        create_private_folder(state)?;
        check_own_folder(state)?;
        let mut bytes = [0; LEN];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let mut file =
            tempfile::Builder::new().prefix(&temporary_prefix(FILE_NAME)).suffix(SUFFIX).tempfile_in(state)?;
        file.write_all(&bytes)?;
        file.as_file().sync_all()?;
        match fs::symlink_metadata(state.join(FILE_NAME)) {
            // If another process creates a key at the same time, its key is used.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Err(error) = file.persist_noclobber(state.join(FILE_NAME)) {
                    return Self::load(state).ok_or(error.error);
                }
            }
            _ => {
                file.persist(state.join(FILE_NAME)).map_err(|error| error.error)?;
            }
        }
        Self::load(state).ok_or_else(|| io::Error::other("the key cannot be read back"))
    }

    /// The authentication code of these bytes for one kind of file.
    pub(in crate::files) fn code(&self, kind: &str, bytes: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // The length separates the kind from the bytes.
        hasher.update(&(kind.len() as u64).to_le_bytes()).update(kind.as_bytes()).update(bytes);
        hasher.finalize()
    }

    /// Whether a hexadecimal code is that of these bytes. Compares in constant time.
    pub(in crate::files) fn confirms(&self, kind: &str, bytes: &[u8], code: &str) -> bool {
        blake3::Hash::from_hex(code).is_ok_and(|code| code == self.code(kind, bytes))
    }
}

/// Whether only the owner can read and write a file.
fn is_private(metadata: &fs::Metadata) -> bool {
    #[cfg(unix)]
    let is_private = {
        const OTHERS: u32 = 0o077;
        std::os::unix::fs::MetadataExt::mode(metadata) & OTHERS == 0
    };
    #[cfg(not(unix))]
    let is_private = {
        let _ = metadata;
        true
    };
    is_private
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn path(state: &Path) -> std::path::PathBuf {
        state.join(FILE_NAME)
    }

    #[test]
    fn a_key_is_created_once_and_readable_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state/sited");
        assert!(Key::load(&state).is_none());
        let key = Key::load_or_create(&state).unwrap();
        let code = key.code("record", b"bytes");
        assert_eq!(Key::load_or_create(&state).unwrap().code("record", b"bytes"), code);
        assert_eq!(fs::metadata(path(&state)).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(key.confirms("record", b"bytes", &code.to_hex()));
        assert!(!key.confirms("backup", b"bytes", &code.to_hex()) && !key.confirms("record", b"byte", &code.to_hex()));
        assert!(!key.confirms("record", b"bytes", "") && !key.confirms("record", b"bytes", "zz"));
    }

    #[test]
    fn a_key_that_is_readable_by_others_or_malformed_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("sited");
        let first = Key::load_or_create(&state).unwrap().code("record", b"");
        let spoil: [&dyn Fn(); 4] = [
            &|| fs::set_permissions(path(&state), fs::Permissions::from_mode(0o644)).unwrap(),
            &|| fs::write(path(&state), "short").unwrap(),
            &|| fs::write(path(&state), [0; LEN + 1]).unwrap(),
            &|| {
                fs::write(folder.path().join("known"), [0; LEN]).unwrap();
                fs::remove_file(path(&state)).unwrap();
                symlink("../known", path(&state)).unwrap();
            },
        ];
        let mut codes = vec![first];
        for spoil in spoil {
            spoil();
            assert!(Key::load(&state).is_none());
            let code = Key::load_or_create(&state).unwrap().code("record", b"");
            assert!(!codes.contains(&code));
            codes.push(code);
        }
        assert_eq!(fs::read(folder.path().join("known")).unwrap(), [0; LEN], "the link's target is unchanged");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Key::load(&state).is_none() && Key::load_or_create(&state).is_err());
    }
}
