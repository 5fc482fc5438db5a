//! Takes rows and writes columns; used by both Parquet files.

use ::parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
pub use ::parquet::data_type::ByteArray;
use ::parquet::data_type::{ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::KeyValue;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{ColumnPath, Type};
use std::io::Write;
use std::sync::Arc;

/// Rows in a row group. A row group is held in memory until it is written.
const GROUP: usize = 65_536;

/// The definition level of an element of a list: the list is present and has elements.
const LISTED: i16 = 2;

/// The kind of value that a column holds.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    /// u64 that is often repeated: sizes, causes.
    Number,
    /// u64 that mostly grows: indices and times.
    Rising,
    /// f64.
    Float,
    /// A list of f64; the column may have nulls.
    Floats,
    /// Text with few different values.
    Text,
}

/// The values of one column that are not yet written.
enum Values {
    Numbers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
}

struct Column {
    values: Values,
    /// Definition levels: 1 for a value (`LISTED` for an element of a list), 0 for null. Unused
    /// by a column without nulls.
    levels: Vec<i16>,
    /// Repetition levels of a list: 0 for the first element, 1 for the others.
    repeats: Option<Vec<i16>>,
    optional: bool,
}

/// Writes rows of columns in row groups of 65,536.
pub struct Columns<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<Column>,
    rows: usize,
    /// The column that takes the next value of the row.
    next: usize,
}

impl<W: Write + Send> Columns<W> {
    /// Creates a file with these columns (name, kind, whether nulls are possible) and key-value
    /// notes.
    pub fn new(
        out: W,
        columns: &[(String, Kind, bool)],
        notes: &[(&str, &str)],
    ) -> Result<Columns<W>, ParquetError> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by("tailcut".to_string())
            .set_key_value_metadata(Some(
                notes.iter().map(|&(k, v)| KeyValue::new(k.to_string(), v.to_string())).collect(),
            ));
        for (name, kind, _) in columns {
            let path = ColumnPath::from(name.as_str());
            if *kind == Kind::Rising {
                // Every value is new, so a dictionary would only cost space. Differences are
                // small.
                properties = properties
                    .set_column_dictionary_enabled(path.clone(), false)
                    .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
            }
        }
        let fields: Result<Vec<_>, _> =
            columns.iter().map(|(name, kind, optional)| field(name, *kind, *optional)).collect();
        let schema = Type::group_type_builder("schema").with_fields(fields?).build()?;
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        let columns = columns
            .iter()
            .map(|&(_, kind, optional)| Column {
                values: match kind {
                    Kind::Number | Kind::Rising => Values::Numbers(Vec::new()),
                    Kind::Float | Kind::Floats => Values::Floats(Vec::new()),
                    Kind::Text => Values::Texts(Vec::new()),
                },
                levels: Vec::new(),
                repeats: (kind == Kind::Floats).then(Vec::new),
                optional,
            })
            .collect();
        Ok(Columns { writer, columns, rows: 0, next: 0 })
    }

    /// Adds the next value of the row, a number.
    pub fn number(&mut self, value: u64) {
        let column = self.column(true);
        // Parquet stores unsigned integers as signed ones with a logical type.
        let Values::Numbers(values) = &mut column.values else { panic!("not a number column") };
        values.push(value as i64);
    }

    /// Adds the next value of the row, a float.
    pub fn float(&mut self, value: f64) {
        let column = self.column(true);
        let Values::Floats(values) = &mut column.values else { panic!("not a float column") };
        values.push(value);
    }

    /// Adds the next value of the row, a list that is not empty.
    pub fn floats(&mut self, list: &[f64]) {
        assert!(!list.is_empty(), "an empty list would be null");
        let column = &mut self.columns[self.next];
        self.next += 1;
        let (Values::Floats(values), Some(repeats)) = (&mut column.values, &mut column.repeats) else {
            panic!("not a column of lists")
        };
        values.extend_from_slice(list);
        column.levels.extend(list.iter().map(|_| LISTED));
        repeats.extend((0..list.len()).map(|i| i16::from(i > 0)));
    }

    /// Adds the next value of the row, a text.
    pub fn text(&mut self, value: &ByteArray) {
        let column = self.column(true);
        let Values::Texts(values) = &mut column.values else { panic!("not a text column") };
        values.push(value.clone());
    }

    /// Adds a null as the next value of the row.
    pub fn null(&mut self) {
        assert!(self.column(false).optional, "a null in a column without nulls");
    }

    /// Ends the row.
    pub fn end_row(&mut self) -> Result<(), ParquetError> {
        assert_eq!(self.next, self.columns.len(), "a row has a value for each column");
        self.next = 0;
        self.rows += 1;
        if self.rows == GROUP { self.flush() } else { Ok(()) }
    }

    /// Writes the remaining rows and the footer, and returns the output.
    pub fn finish(mut self) -> Result<W, ParquetError> {
        self.flush()?;
        self.writer.into_inner()
    }

    fn column(&mut self, present: bool) -> &mut Column {
        let column = &mut self.columns[self.next];
        self.next += 1;
        if column.optional {
            column.levels.push(i16::from(present));
            column.repeats.iter_mut().for_each(|r| r.push(0));
        }
        column
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in &mut self.columns {
            let mut writer = group.next_column()?.expect("as many columns as in the schema");
            let levels = column.optional.then_some(column.levels.as_slice());
            match &mut column.values {
                Values::Numbers(values) => {
                    writer.typed::<Int64Type>().write_batch(values, levels, None)?;
                    values.clear();
                }
                Values::Floats(values) => {
                    writer.typed::<DoubleType>().write_batch(values, levels, column.repeats.as_deref())?;
                    values.clear();
                }
                Values::Texts(values) => {
                    writer.typed::<ByteArrayType>().write_batch(values, levels, None)?;
                    values.clear();
                }
            }
            column.levels.clear();
            column.repeats.iter_mut().for_each(Vec::clear);
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn field(name: &str, kind: Kind, optional: bool) -> Result<Arc<Type>, ParquetError> {
    if kind == Kind::Floats {
        return list(name);
    }
    let (physical, logical) = match kind {
        Kind::Number | Kind::Rising => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Kind::Float | Kind::Floats => (Physical::DOUBLE, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let repetition = if optional { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    Type::primitive_type_builder(name, physical)
        .with_logical_type(logical)
        .with_repetition(repetition)
        .build()
        .map(Arc::new)
}

/// The type of a column whose values are lists of f64 or null: the three levels that the format
/// prescribes.
fn list(name: &str) -> Result<Arc<Type>, ParquetError> {
    let element = Type::primitive_type_builder("element", Physical::DOUBLE)
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    let each = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(name)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(each)])
        .build()
        .map(Arc::new)
}
