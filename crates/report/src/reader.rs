//! Who a text is for: what is said is the same, where more can be had is not.

/// Who reads a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reader {
    /// An agent, who goes on by calling tools and pays for every word.
    #[default]
    Agent,
    /// A person at a terminal, who goes on by typing commands.
    Person,
}

impl Reader {
    /// The words for this reader.
    pub(crate) fn words<'a>(self, agent: &'a str, person: &'a str) -> &'a str {
        match self {
            Self::Agent => agent,
            Self::Person => person,
        }
    }
}
