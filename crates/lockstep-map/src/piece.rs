//! Texts and lists of which there are tens of thousands, most of them pieces of one that was read whole: what is not changed is not
//! copied, and giving one to another costs a count.

use std::ops::Deref;
use std::sync::Arc;

/// A text; a part of a larger one where it was read with others.
#[derive(Clone)]
pub struct Text {
    all: Arc<str>,
    start: u32,
    end: u32,
}

impl Text {
    /// A part of `all`; `None` where there is no such part.
    pub(crate) fn part(all: &Arc<str>, start: u32, end: u32) -> Option<Self> {
        all.get(start as usize..end as usize)?;
        Some(Self { all: Arc::clone(all), start, end })
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.all[self.start as usize..self.end as usize]
    }
}

/// Places in a list; a part of a larger list where they were read with others.
#[derive(Clone)]
pub struct Places {
    all: Arc<[u32]>,
    start: u32,
    end: u32,
}

impl Places {
    /// A part of `all`; `None` where there is no such part.
    pub(crate) fn part(all: &Arc<[u32]>, start: u32, end: u32) -> Option<Self> {
        all.get(start as usize..end as usize)?;
        Some(Self { all: Arc::clone(all), start, end })
    }
}

impl Deref for Places {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.all[self.start as usize..self.end as usize]
    }
}

/// How many there are, of what nobody has four billion of.
fn length(count: usize) -> u32 {
    u32::try_from(count).expect("no project has 4 G of anything")
}

impl From<Vec<u32>> for Places {
    fn from(places: Vec<u32>) -> Self {
        let end = length(places.len());
        Self { all: places.into(), start: 0, end }
    }
}

impl<T: AsRef<str>> From<T> for Text {
    fn from(text: T) -> Self {
        let end = length(text.as_ref().len());
        Self { all: text.as_ref().into(), start: 0, end }
    }
}

macro_rules! as_what_it_holds {
    ($($piece:ty)*) => {$(
        impl std::fmt::Debug for $piece {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                (**self).fmt(f)
            }
        }

        impl PartialEq for $piece {
            fn eq(&self, other: &Self) -> bool {
                **self == **other
            }
        }

        impl Eq for $piece {}
    )*};
}

as_what_it_holds!(Text Places);
