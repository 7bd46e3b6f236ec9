//! The file of a model, `model.bin`.
//!
//! ```text
//! "manyview model 1\n"                      file type and format version
//! header length (u64), header (JSON)        settings, views, sizes and weights of the pieces, hash of the network
//! numbers of each piece                     as in checkpoints: seconds, scales, weights, column scales (f64); U, then every V (f32), then
//!                                           the V of each view that was added later and that U explains (f32)
//! each view                                 entries of each row (u32), columns (u32), weights (f64; one if all are the same); of an
//!                                           undirected view what is above the diagonal
//! CRC-32 of everything before it (u32)
//! ```
//! All numbers are little-endian. `run.json` has the length and the checksum, so that the files of two runs are told apart, and the hash of
//! the network includes the ids in `nodes.txt`.

use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::KeptModel;
use crate::method::Fit;
use crate::mnmf::{Consensus, Mnmf, Stage};
use crate::piece::{
    Explained, FittedFactors, FittedPiece, PieceHeader, Summed, read_rows, write_numbers, write_rows,
};
use crate::preset::largest_dim;
use crate::result::{ModelRecord, RUN, ResultFolder};
use manyview_base::error::{Error, Result};
use manyview_base::linalg::Csr;
use manyview_base::message::switch;
use manyview_data::embedding::Kind;
use manyview_data::io::{Disk, Files, OpenFile};
use manyview_data::network::{EdgeCounts, Network, View};

/// The name of the file.
pub const MODEL: &str = "model.bin";

const MAGIC: &[u8; 17] = b"manyview model 1\n";
const FILE_TYPE: &[u8] = b"manyview model ";
/// Upper bound of the header length, so that a damaged length does not lead to a huge allocation.
const LONGEST_HEADER: u64 = 1 << 26;

#[derive(Serialize, Deserialize)]
struct Header {
    /// Of manyview.
    version: String,
    config: Map<String, Value>,
    fingerprint: String,
    nodes: usize,
    dim: usize,
    sampled: bool,
    vector_scale: f64,
    matrix_scales: Vec<f64>,
    pieces: Vec<OfPiece>,
    views: Vec<OfView>,
    /// How many of the views were fitted together; the others were added later.
    fitted_views: usize,
}

#[derive(Serialize, Deserialize)]
struct OfPiece {
    stage: usize,
    shares: Vec<f64>,
    sizes: PieceHeader,
    /// The views that were added later and that U explains.
    explained: Vec<usize>,
}

impl OfPiece {
    fn of(FittedPiece { stage, piece, shares, explained }: &FittedPiece) -> Self {
        OfPiece {
            stage: *stage,
            shares: shares.clone(),
            sizes: PieceHeader::of(piece),
            explained: explained.iter().map(|later| later.view).collect(),
        }
    }

    /// The number of bytes of its numbers; `None` if no piece has such sizes.
    fn bytes(&self) -> Option<u64> {
        let factor =
            (self.sizes.v_rows as u64).checked_mul(self.sizes.columns.len() as u64)?.checked_mul(4)?;
        self.sizes.bytes()?.checked_add(factor.checked_mul(self.explained.len() as u64)?)
    }

    fn read(&self, reader: &mut impl Read, nodes: usize) -> io::Result<FittedPiece> {
        let all = 0..nodes;
        let piece = self.sizes.read(reader, &all)?;
        let explained = self.explained.iter().map(|&view| {
            let v_t = read_rows(reader, self.sizes.v_rows, self.sizes.columns.len(), &all)?;
            Ok(Explained { view, v_t })
        });
        let explained = explained.collect::<io::Result<_>>()?;
        Ok(FittedPiece { stage: self.stage, piece, shares: self.shares.clone(), explained })
    }
}

fn write_piece(fitted: &FittedPiece, writer: &mut impl Write) -> io::Result<()> {
    // Times differ between runs that are otherwise the same; the bytes of their models do not.
    write_numbers(&fitted.piece, 0.0, writer)?;
    fitted.explained.iter().try_for_each(|later| write_rows(&later.v_t, writer))
}

#[derive(Serialize, Deserialize)]
struct OfView {
    name: String,
    directed: bool,
    /// What is stored.
    entries: usize,
    /// Whether one weight stands for all.
    same: bool,
}

impl OfView {
    fn of(view: &View) -> Self {
        let weights = view.adjacency.values();
        let same = weights.windows(2).all(|pair| pair[0] == pair[1]);
        OfView { name: view.name.clone(), directed: view.directed, entries: view.edges(), same }
    }

    fn bytes(&self, nodes: usize) -> Option<u64> {
        let weights = if self.same { self.entries.min(1) } else { self.entries };
        (nodes as u64)
            .checked_mul(4)?
            .checked_add((self.entries as u64).checked_mul(4)?)?
            .checked_add((weights as u64).checked_mul(8)?)
    }
}

/// The size of the model of a fit with this plan, in bytes, up to a few thousand.
pub fn file_bytes(settings: &Mnmf, stages: &[Stage], network: &Network) -> u64 {
    let (nodes, views) = (network.nodes().len() as u64, network.views().len());
    let factors = |stage: &Stage| {
        let shared = stage.kind == Kind::Consensus && settings.consensus == Consensus::Shared;
        let vs = if shared { settings.targets(views) } else { 1 };
        stage.columns.len() as u64 * (1 + vs as u64)
    };
    let of_views =
        network.views().iter().filter_map(|view| OfView::of(view).bytes(nodes as usize)).sum::<u64>();
    4 * nodes * stages.iter().map(factors).sum::<u64>() + of_views
}

/// Writes the model of a fit, without a copy of its network; returns what `run.json` says of it.
///
/// # Errors
/// Those of the writer.
///
/// # Panics
/// When the fit did not keep its factors.
pub fn write_model(fit: &Fit, network: &Network, writer: &mut impl Write) -> io::Result<ModelRecord> {
    let config = fit.config.as_object().cloned().unwrap_or_default();
    let parts = Parts {
        network,
        config: &config,
        factors: fit.factors.as_ref().expect("the factors were kept"),
        vector_scale: fit.vector_scale,
        dim: fit.embedding.dim(),
        sampled: is_sampled(fit),
        fitted_views: network.views().len(),
    };
    parts.write_to(writer)
}

/// Whether the proximity matrices of a fit were sampled.
pub(super) fn is_sampled(fit: &Fit) -> bool {
    fit.views.iter().any(|view| view.sampled.is_some())
}

/// What is written.
struct Parts<'a> {
    network: &'a Network,
    config: &'a Map<String, Value>,
    factors: &'a FittedFactors,
    vector_scale: f64,
    dim: usize,
    sampled: bool,
    fitted_views: usize,
}

impl Parts<'_> {
    fn write_to(&self, writer: &mut impl Write) -> io::Result<ModelRecord> {
        let header = Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: self
                .config
                .iter()
                .filter(|(name, _)| *name != "threads")
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            fingerprint: format!("{:016x}", self.network.fingerprint()),
            nodes: self.network.nodes().len(),
            dim: self.dim,
            sampled: self.sampled,
            vector_scale: self.vector_scale,
            matrix_scales: self.factors.matrix_scales.clone(),
            pieces: self.factors.pieces.iter().map(OfPiece::of).collect(),
            views: self.network.views().iter().map(OfView::of).collect(),
            fitted_views: self.fitted_views,
        };
        let header_text = serde_json::to_vec(&header)?;
        let mut writer = Counted { inner: Summed { inner: writer, sum: crc32fast::Hasher::new() }, bytes: 0 };
        writer.write_all(MAGIC)?;
        writer.write_all(&(header_text.len() as u64).to_le_bytes())?;
        writer.write_all(&header_text)?;
        self.factors.pieces.iter().try_for_each(|fitted| write_piece(fitted, &mut writer))?;
        let both = self.network.views().iter().zip(&header.views);
        both.into_iter().try_for_each(|(view, of)| write_view(view, of.same, &mut writer))?;
        let Counted { inner: Summed { inner, sum }, bytes } = writer;
        let sum = sum.finalize();
        inner.write_all(&sum.to_le_bytes())?;
        Ok(ModelRecord { file: MODEL.to_owned(), bytes: bytes + 4, checksum: format!("{sum:08x}") })
    }
}

impl KeptModel {
    /// Writes the model; returns what `run.json` says of it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_to(&self, writer: &mut impl Write) -> io::Result<ModelRecord> {
        let KeptModel { network, config, factors, vector_scale, dim, sampled, fitted_views, .. } = self;
        let (vector_scale, dim, sampled, fitted_views) = (*vector_scale, *dim, *sampled, *fitted_views);
        Parts { network, config, factors, vector_scale, dim, sampled, fitted_views }.write_to(writer)
    }

    /// Opens the model in a result folder.
    ///
    /// # Errors
    /// [`Error::Config`] when the folder has no model; [`Error::Parse`] when it is damaged or of another version; [`Error::Network`] when it
    /// does not belong to the other files; [`Error::Io`] when it cannot be read.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_from(&Disk, folder)
    }

    /// As [`open`](Self::open), from files that need not be on a disk.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_from(files: &dyn Files, folder: &Path) -> Result<Self> {
        let place = folder.display();
        if files.kind(&folder.join(RUN)).is_err() {
            return Err(Error::network(format!(
                "{place} is not a result folder: {RUN} is missing; give the folder that manyview embed wrote"
            )));
        }
        let record = ResultFolder::open_record_from(files, folder)?;
        let written: Option<ModelRecord> =
            record.get("model").and_then(|model| serde_json::from_value(model.clone()).ok());
        let Some(written) = written else {
            let method = record.get("method").and_then(Value::as_str).unwrap_or("mnmf");
            let advice = match method {
                "mnmf" => format!("run manyview embed again with {}", switch("save_model")),
                other => format!("only mnmf has one, and this is a result of {other}"),
            };
            return Err(Error::config(format!("{place} has no model; {advice}")));
        };
        let path = folder.join(MODEL);
        let file = files.open(&path).map_err(|error| Error::io(&path, error))?;
        let damaged = |problem: String| Error::parse(path.display().to_string(), problem);
        let (model, sum, fingerprint) = read(file, &mut |nodes| {
            ResultFolder::open_ids_from(files, folder).map(|ids| (ids.len() == nodes).then_some(ids))
        })
        .map_err(|problem| match problem {
            Problem::Damage(sentence) => damaged(sentence),
            Problem::Other(error) => error,
        })?;
        let apart = |what: &str| {
            Error::network(format!(
                "{place}: the files do not belong together: {what}; use all files of one run of manyview embed"
            ))
        };
        if sum != written.checksum {
            return Err(apart("model.bin is not the one that run.json names"));
        }
        match model {
            Some(model) if format!("{:016x}", model.network.fingerprint()) == fingerprint => Ok(model),
            _ => Err(apart("nodes.txt does not have the nodes of model.bin")),
        }
    }
}

/// Why a model cannot be read.
enum Problem {
    Damage(String),
    Other(Error),
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::Damage(format!("cannot be read ({error}); fit again with --save-model"))
    }
}

type Ids<'a> = dyn FnMut(usize) -> Result<Option<manyview_data::network::Nodes>> + 'a;

/// Reads a model, its checksum, and the hash of its network; no model if the ids are not as many as its nodes.
fn read(
    file: OpenFile,
    ids: &mut Ids<'_>,
) -> std::result::Result<(Option<KeptModel>, String, String), Problem> {
    let damage = |what: &str| Problem::Damage(format!("is damaged ({what}); fit again with --save-model"));
    let content = file.length.checked_sub(4).ok_or_else(|| damage("it is truncated"))?;
    let mut stored = BufReader::with_capacity(1 << 18, file.reader);
    let mut reader = Summed { inner: (&mut stored).take(content), sum: crc32fast::Hasher::new() };
    let (header, begin) = read_header(&mut reader)?;
    let pieces = header.pieces.iter().map(OfPiece::bytes);
    let views = header.views.iter().map(|view| view.bytes(header.nodes));
    let numbers = pieces.chain(views).try_fold(begin, |sum, bytes| sum.checked_add(bytes?));
    if numbers != Some(content) {
        return Err(damage("its length is not that of its parts"));
    }
    let pieces = header.pieces.iter().map(|piece| piece.read(&mut reader, header.nodes));
    let pieces = pieces.collect::<io::Result<Vec<FittedPiece>>>()?;
    let views = header.views.iter().map(|view| RawView::read(view, header.nodes, &mut reader));
    let views = views.collect::<io::Result<Vec<RawView>>>()?;
    let sum = reader.sum.finalize();
    let mut end = [0; 4];
    stored.read_exact(&mut end)?;
    if sum != u32::from_le_bytes(end) {
        return Err(damage("checksum mismatch"));
    }
    check(&header, &pieces).map_err(|what| damage(&what))?;
    let Header {
        config,
        fingerprint,
        nodes,
        dim,
        sampled,
        vector_scale,
        matrix_scales,
        views: names,
        fitted_views,
        ..
    } = header;
    let views = names.into_iter().zip(views).map(|(of, raw)| raw.view(of, nodes));
    let views = views.collect::<Option<Vec<View>>>().ok_or_else(|| damage("its views have wrong columns"))?;
    let sum = format!("{sum:08x}");
    let Some(ids) = ids(nodes).map_err(Problem::Other)? else { return Ok((None, sum, fingerprint)) };
    let factors = Arc::new(FittedFactors { matrix_scales, pieces });
    let network = Network::new(ids, views);
    let model = KeptModel::new(network, config, factors, vector_scale, dim, sampled, fitted_views);
    let model = model.map_err(|error| damage(&format!("{:?}", error.to_string())))?;
    if !model.has_its_matrices() {
        return Err(damage("its matrices are not those of its views"));
    }
    Ok((Some(model), sum, fingerprint))
}

fn read_header(reader: &mut impl Read) -> std::result::Result<(Header, u64), Problem> {
    let (mut magic, mut length) = ([0; MAGIC.len()], [0; 8]);
    reader.read_exact(&mut magic)?;
    if magic != *MAGIC {
        let sentence = if magic.starts_with(FILE_TYPE) {
            let [of_file, ours] = [&magic, MAGIC]
                .map(|magic| magic[FILE_TYPE.len()..].trim_ascii_end().escape_ascii().to_string());
            format!(
                "has format {of_file}, this version of manyview reads format {ours}; fit again with --save-model"
            )
        } else {
            "is not a model of manyview".into()
        };
        return Err(Problem::Damage(sentence));
    }
    reader.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > LONGEST_HEADER {
        return Err(Problem::Damage(
            "is damaged (its header is too long); fit again with --save-model".into(),
        ));
    }
    let mut header = vec![0; length as usize];
    reader.read_exact(&mut header)?;
    let header = serde_json::from_slice(&header).map_err(io::Error::from)?;
    Ok((header, (MAGIC.len() + 8) as u64 + length))
}

/// Checks that the parts of a model fit together, so that nothing later reads beyond an end.
fn check(header: &Header, pieces: &[FittedPiece]) -> std::result::Result<(), String> {
    let (matrices, views) = (header.matrix_scales.len(), header.views.len());
    if !(1..=views).contains(&header.fitted_views) {
        return Err(format!("{} of {views} views were fitted", header.fitted_views));
    }
    if header.dim > largest_dim() as usize {
        return Err(format!("{} columns", header.dim));
    }
    let scales = [header.vector_scale].into_iter().chain(header.matrix_scales.iter().copied());
    if !all_finite(scales) {
        return Err("a scale is not finite".into());
    }
    for (of, FittedPiece { piece, explained, .. }) in header.pieces.iter().zip(pieces) {
        let added = header.fitted_views..views;
        let fits = piece.columns.end <= header.dim
            && piece.columns.len() == piece.u.width()
            && of.shares.len() == piece.views.len()
            && piece.views.iter().all(|&view| view < matrices)
            && explained.iter().all(|later| added.contains(&later.view))
            && [of.sizes.u_rows, of.sizes.v_rows] == [header.nodes; 2];
        if !fits {
            return Err(format!("the sizes of stage {} do not fit", of.stage));
        }
        let scales = piece.scales.iter().chain(&piece.weights).chain(&piece.column_scales).chain(&of.shares);
        let factors = piece.v_t.iter().chain(explained.iter().map(|later| &later.v_t)).chain([&piece.u]);
        let numbers = factors.flat_map(|factor| factor.padded()).map(|&x| f64::from(x));
        if !all_finite(scales.copied().chain(numbers)) {
            return Err(format!("a number of stage {} is not finite", of.stage));
        }
    }
    Ok(())
}

fn all_finite(mut numbers: impl Iterator<Item = f64>) -> bool {
    numbers.all(f64::is_finite)
}

/// Counts the bytes that pass through.
struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buf)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn write_view(view: &View, same: bool, writer: &mut impl Write) -> io::Result<()> {
    let upper;
    let stored = if view.directed {
        &view.adjacency
    } else {
        upper = view.adjacency.upper_triangle(0);
        &upper
    };
    for row in stored.indptr().windows(2) {
        writer.write_all(&((row[1] - row[0]) as u32).to_le_bytes())?;
    }
    stored.indices().iter().try_for_each(|col| writer.write_all(&col.to_le_bytes()))?;
    let weights = if same { &stored.values()[..stored.entries().min(1)] } else { stored.values() };
    weights.iter().try_for_each(|weight| writer.write_all(&weight.to_le_bytes()))
}

/// A view as it is stored, not checked yet.
struct RawView {
    counts: Vec<u32>,
    cols: Vec<u32>,
    weights: Vec<f64>,
}

impl RawView {
    fn read(of: &OfView, nodes: usize, reader: &mut impl Read) -> io::Result<Self> {
        let counts = read_u32(reader, nodes)?;
        let cols = read_u32(reader, of.entries)?;
        let stored = if of.same { of.entries.min(1) } else { of.entries };
        let mut weights = crate::piece::read_f64(reader, stored)?;
        if of.same {
            weights.resize(of.entries, weights.first().copied().unwrap_or(1.0));
        }
        Ok(RawView { counts, cols, weights })
    }

    /// The view; `None` if it is none.
    fn view(self, of: OfView, nodes: usize) -> Option<View> {
        let mut indptr = vec![0usize];
        for &count in &self.counts {
            indptr.push(indptr.last()? + count as usize);
        }
        let weights_are_sound = self.weights.iter().all(|&weight| weight.is_finite() && weight > 0.0);
        if *indptr.last()? != self.cols.len() || !weights_are_sound {
            return None;
        }
        for (row, pair) in indptr.windows(2).enumerate() {
            let cols = &self.cols[pair[0]..pair[1]];
            let beyond = |&col: &u32| col as usize >= nodes || (!of.directed && col as usize <= row);
            if cols.windows(2).any(|pair| pair[0] >= pair[1]) || cols.iter().any(beyond) {
                return None;
            }
        }
        let stored = Csr::new(nodes, indptr, self.cols, self.weights);
        let adjacency = if of.directed { stored } else { both_triangles(&stored) };
        Some(View { name: of.name, directed: of.directed, adjacency, counts: EdgeCounts::default() })
    }
}

/// The symmetric matrix of which a matrix has what is above the diagonal.
fn both_triangles(upper: &Csr<f64>) -> Csr<f64> {
    let lower = upper.transpose();
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..upper.rows() {
        for half in [&lower, upper] {
            let (cols, weights) = half.row(row);
            indices.extend_from_slice(cols);
            values.extend_from_slice(weights);
        }
        indptr.push(indices.len());
    }
    Csr::new(upper.cols(), indptr, indices, values)
}

fn read_u32(reader: &mut impl Read, count: usize) -> io::Result<Vec<u32>> {
    let mut bytes = [0; 4];
    (0..count).map(|_| reader.read_exact(&mut bytes).map(|()| u32::from_le_bytes(bytes))).collect()
}
