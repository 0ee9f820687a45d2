//! Options for files that others may have planted.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileExt, OpenOptionsExt as _};

/// Opens a link itself, whose kind is not that of a regular file.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Lets directories be opened too; their kind is checked afterwards.
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// Returns options for files and directories.
pub fn non_blocking() -> OpenOptions {
    with_flags(FILE_FLAG_BACKUP_SEMANTICS)
}

/// Returns options like those of [`non_blocking`] that never lead through a link at the end of the path: the link itself is
/// opened, and writing to it does not reach its target.
pub fn no_follow() -> OpenOptions {
    with_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
}

fn with_flags(flags: u32) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(flags);
    options
}

/// Always fails: the access of an open file cannot be changed.
pub fn clear_append(_file: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Reading and writing at an offset. Windows moves the position of the file with it, which no user of this trait needs.
pub trait PositionedIo {
    /// Reads at most as much as fits, and returns how much.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Fills the buffer; a shorter file is an error.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Writes everything.
    fn write_all_at(&self, buffer: &[u8], offset: u64) -> io::Result<()>;
}

impl PositionedIo for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.seek_read(buffer, offset)
    }

    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.seek_read(buffer, offset) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write_all_at(&self, mut buffer: &[u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.seek_write(buffer, offset) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    buffer = &buffer[count..];
                    offset += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
