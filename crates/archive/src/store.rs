//! Where an archive is: a folder, or a bucket of an object store.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientOptions, ObjectStore, ObjectStoreExt, ObjectStoreScheme, PutMode,
    PutOptions, PutPayload, RetryConfig,
};
use tokio::runtime::Runtime;
use url::Url;

use crate::error::Error;
use crate::secrets;

/// For how many seconds a store that does not answer is asked again.
const TIMEOUT_VARIABLE: &str = "UNTORN_ARCHIVE_TIMEOUT";
const TIMEOUT: u64 = 60;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// Where in the store it begins.
    pub(crate) root: Path,
    /// As it is called in messages, without anything that could be secret.
    pub(crate) name: String,
    /// Set for a folder.
    pub(crate) folder: Option<PathBuf>,
    /// The edge: everything asynchronous runs here.
    pub(crate) runtime: Runtime,
}

/// What became of a file that was to be put into the archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Put {
    Done,
    /// Somebody put one of that name there before.
    There,
}

impl Archive {
    /// Opens a folder, or a URL `file://`, `s3://`, `gs://` or `az://` with the credentials of the environment.
    ///
    /// Nothing is read or written yet.
    pub fn open(place: &str) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .thread_name("archive")
            .build()
            .map_err(Error::Threads)?;
        let bad = |what: String| Error::Url {
            url: shown(place),
            what: secrets::without(&what),
        };
        if !place.contains("://") {
            return Ok(Self::folder(FilePath::new(place), runtime));
        }
        let url = Url::parse(place).map_err(|error| bad(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad(
                "credentials and options belong into the environment, not into the URL".to_owned(),
            ));
        }
        let (scheme, root) = ObjectStoreScheme::parse(&url).map_err(|error| bad(line(&error)))?;
        let retry = retry();
        let wait = retry.retry_timeout;
        let client = ClientOptions::default()
            .with_connect_timeout(wait.min(Duration::from_secs(5)))
            .with_timeout(wait.min(Duration::from_secs(30)));
        // A server on this machine is spoken to in clear where the environment asks for it, as for the usual clients.
        let allows =
            |of: &str| std::env::var(format!("{of}_ALLOW_HTTP")).is_ok_and(|value| value == "true");
        let plain = ["AWS", "GOOGLE", "AZURE"].into_iter().any(allows)
            || std::env::var("AWS_ENDPOINT_URL").is_ok_and(|value| local(&value))
            || std::env::var("AWS_ENDPOINT_URL_S3").is_ok_and(|value| local(&value));
        let client = client.with_allow_http(plain);
        let store: Arc<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::Local => {
                let path = url
                    .to_file_path()
                    .map_err(|()| bad("not a path of this machine".to_owned()))?;
                return Ok(Self::folder(&path, runtime));
            }
            ObjectStoreScheme::AmazonS3 => Arc::new(
                AmazonS3Builder::from_env()
                    .with_url(place)
                    .with_retry(retry)
                    .with_client_options(client)
                    .build()
                    .map_err(|error| bad(line(&error)))?,
            ),
            ObjectStoreScheme::GoogleCloudStorage => Arc::new(
                GoogleCloudStorageBuilder::from_env()
                    .with_url(place)
                    .with_retry(retry)
                    .with_client_options(client)
                    .build()
                    .map_err(|error| bad(line(&error)))?,
            ),
            ObjectStoreScheme::MicrosoftAzure => Arc::new(
                MicrosoftAzureBuilder::from_env()
                    .with_url(place)
                    .with_retry(retry)
                    .with_client_options(client)
                    .build()
                    .map_err(|error| bad(line(&error)))?,
            ),
            _ => {
                return Err(bad(
                    "archives are folders or URLs with file, s3, gs or az".to_owned()
                ));
            }
        };
        Ok(Self {
            store,
            root,
            name: shown(place).trim_end_matches('/').to_owned(),
            folder: None,
            runtime,
        })
    }

    fn folder(path: &FilePath, runtime: Runtime) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let root = Path::from_absolute_path(&path).unwrap_or_default();
        Self {
            store: Arc::new(LocalFileSystem::new()),
            root,
            name: path.display().to_string(),
            folder: Some(path),
            runtime,
        }
    }

    /// A file of the archive as messages call it.
    pub(crate) fn place(&self, file: &Path) -> String {
        match &self.folder {
            Some(_) => format!("/{file}"),
            None => {
                let within = file.as_ref().strip_prefix(self.root.as_ref());
                let within = within.unwrap_or(file.as_ref()).trim_start_matches('/');
                format!("{}/{within}", self.name)
            }
        }
    }

    pub(crate) fn failed(&self, file: &Path, error: &object_store::Error) -> Error {
        Error::Store {
            place: self.place(file),
            what: secrets::without(&line(error)),
        }
    }

    /// Puts a file there in one step: it is whole or not there, and never takes another's place.
    pub(crate) fn put(&self, file: &Path, bytes: Vec<u8>) -> Result<Put, Error> {
        let options = PutOptions::from(PutMode::Create);
        let put = self.store.put_opts(file, PutPayload::from(bytes), options);
        match self.runtime.block_on(put) {
            Ok(_) => {
                self.settle(file)?;
                Ok(Put::Done)
            }
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Put::There),
            Err(error) => Err(self.failed(file, &error)),
        }
    }

    pub(crate) fn remove(&self, file: &Path) -> Result<(), Error> {
        match self.runtime.block_on(self.store.delete(file)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(file, &error)),
        }
    }

    /// Waits until a file of a folder is on the disk, for what was acknowledged should outlive a loss of power.
    fn settle(&self, file: &Path) -> Result<(), Error> {
        if self.folder.is_none() {
            return Ok(());
        }
        let path = self.place(file);
        let opened = std::fs::File::open(&path).and_then(|file| file.sync_all());
        opened.map_err(|error| Error::Store {
            place: path,
            what: error.to_string(),
        })
    }
}

fn local(endpoint: &str) -> bool {
    ["http://127.0.0.1", "http://localhost", "http://[::1]"]
        .iter()
        .any(|start| endpoint.starts_with(start))
}

fn retry() -> RetryConfig {
    let asked = std::env::var(TIMEOUT_VARIABLE).ok();
    let seconds = asked.and_then(|text| text.parse().ok()).unwrap_or(TIMEOUT);
    RetryConfig {
        backoff: BackoffConfig::default(),
        max_retries: 10,
        retry_timeout: Duration::from_secs(seconds),
    }
}

/// A place without a user, a password or a query.
fn shown(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://") else {
        return place.to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest
        .split_once('/')
        .map_or((rest, ""), |(host, path)| (host, path));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}/{path}")
}

/// What went wrong, on one line, with its causes.
pub(crate) fn line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_with_credentials_is_refused_without_repeating_them() {
        let error = Archive::open("s3://me:hush-hush@bucket/x?token=hush").expect_err("refused");
        let said = error.to_string();
        assert!(said.contains("environment"), "{said}");
        assert!(!said.contains("hush"), "{said}");
    }

    #[test]
    fn an_unknown_kind_of_place_is_refused() {
        let error = Archive::open("ftp://host/x").expect_err("refused");
        assert!(error.to_string().starts_with("ftp://host/x: "), "{error}");
    }
}
