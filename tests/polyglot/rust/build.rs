//! Generates code from the protos beside this folder.

use std::io::Result;
use std::path::PathBuf;

fn main() -> Result<()> {
    let protos = std::fs::read_dir("../protos/sodafountain/v1")?
        .map(|entry| entry.map(|file| file.path()))
        .collect::<Result<Vec<PathBuf>>>()?;
    tonic_prost_build::configure().compile_protos(&protos, &["../protos".into(), "../third_party".into()])
}
