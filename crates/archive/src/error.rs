//! Why an archive cannot be written or asked; each is one line that names the place.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{url}: {what}")]
    Url { url: String, what: String },
    #[error("{place}: {what}")]
    Store { place: String, what: String },
    #[error("{place}: cannot be written as Parquet: {what}")]
    Encode { place: String, what: String },
    #[error("{file}: {what}")]
    File { file: String, what: String },
    #[error("the question cannot be answered: {0}")]
    Question(String),
    #[error("cannot start the threads that read the archive: {0}")]
    Threads(#[source] std::io::Error),
}
