//! An image in the layout of the Open Container Initiative, in a tar file that registries' tools and daemons load.
//!
//! It holds the programs and nothing else, to be copied into the images of JVM programs, which bring a C library and a JVM: `COPY --from=untorn / /`.

use std::io;

use serde_json::{Value, json};

use super::sum;
use super::tree::{Tree, gzip};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The image of one platform, with files whose paths start at its root.
pub fn image(
    version: &str,
    architecture: &str,
    files: &Tree,
    program: &str,
    level: u32,
) -> io::Result<Vec<u8>> {
    let mut layout = Tree::default();
    let plain = files.tar("")?;
    let layer = blob(&mut layout, LAYER, gzip(&plain, level)?);
    let config = json!({
        "architecture": architecture,
        "os": "linux",
        "created": "1980-01-01T00:00:00Z",
        "config": { "Entrypoint": [program], "WorkingDir": "/work" },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sum(&plain))] },
        "history": [{ "created_by": "cargo xtask dist" }],
    });
    let config = blob(&mut layout, CONFIG, text(&config));
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
        "annotations": labels(version),
    });
    let mut manifest = blob(&mut layout, MANIFEST, text(&manifest));
    manifest["platform"] = json!({ "architecture": architecture, "os": "linux" });
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": [manifest] });
    layout.add("index.json", text(&index));
    layout.add(
        "oci-layout",
        text(&json!({ "imageLayoutVersion": "1.0.0" })),
    );
    layout.tar("")
}

fn labels(version: &str) -> Value {
    json!({
        "org.opencontainers.image.title": "untorn",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
    })
}

fn text(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Puts bytes under their sum and gives what others say to refer to them.
fn blob(layout: &mut Tree, kind: &str, bytes: Vec<u8>) -> Value {
    let digest = sum(&bytes);
    let size = bytes.len();
    layout.add(format!("blobs/sha256/{digest}"), bytes);
    json!({ "mediaType": kind, "digest": format!("sha256:{digest}"), "size": size })
}
