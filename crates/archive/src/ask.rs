//! Questions in SQL, answered by DataFusion over the files that count.
//!
//! The engine is told of every file and what stands in its path, so that it lists nothing itself: which files make up the archive is decided in one place.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, SchemaRef};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileScanConfigBuilder, FileSource, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::context::{SQLOptions, SessionConfig, SessionContext};
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;

use crate::error::Error;
use crate::files::{File, Files, Narrow};
use crate::schema::Table;
use crate::secrets;
use crate::store::{Archive, line};
use crate::verify::Closely;

/// The engine takes so much memory at most; what a question needs beyond that goes to disk.
const MEMORY: usize = 256 << 20;
/// A name under which the engine finds the store; it stands in no message.
const STORE: &str = "untorn://archive";

/// What an archive answers to a question.
#[derive(Debug)]
pub struct Answer {
    pub columns: SchemaRef,
    pub rows: Vec<RecordBatch>,
    /// Files that could not be read; the answer is about the others.
    pub complaints: Vec<Error>,
}

impl Archive {
    /// Answers a query over the tables `runs`, `regions`, `findings`, `profiles` and `events`, which also have the columns `project` and `day`.
    pub fn ask(&self, sql: &str, narrow: &Narrow) -> Result<Answer, Error> {
        let mut files = self.files(&Table::ALL, narrow)?;
        let mut complaints = self.verify(&mut files, Closely::Footer);
        let mut answer = self.runtime.block_on(self.answer(sql, &files, true));
        if matches!(&answer, Err(error) if is_out_of_memory(error)) {
            // Sorting takes longer and goes to disk.
            answer = self.runtime.block_on(self.answer(sql, &files, false));
        }
        match answer {
            Ok((columns, rows)) => Ok(Answer {
                columns,
                rows,
                complaints,
            }),
            Err(error) => {
                // A file may be broken behind its footer; that is looked for only where something went wrong.
                let broken = self.verify(&mut files, Closely::Pages);
                if broken.is_empty() {
                    return Err(Error::Question(said(&error)));
                }
                complaints.extend(broken);
                let again = self.runtime.block_on(self.answer(sql, &files, true));
                let (columns, rows) = again.map_err(|error| Error::Question(said(&error)))?;
                Ok(Answer {
                    columns,
                    rows,
                    complaints,
                })
            }
        }
    }

    async fn answer(
        &self,
        sql: &str,
        files: &Files,
        joins_in_memory: bool,
    ) -> Result<(SchemaRef, Vec<RecordBatch>), DataFusionError> {
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_limit(MEMORY, 1.0)
            .build_arc()?;
        let store_url = ObjectStoreUrl::parse(STORE)?;
        runtime.register_object_store(store_url.as_ref(), Arc::clone(&self.store));
        let mut config = SessionConfig::new().with_information_schema(true);
        config.options_mut().optimizer.prefer_hash_join = joins_in_memory;
        let state = SessionStateBuilder::new_with_default_features()
            .with_config(config)
            .with_runtime_env(runtime)
            .build();
        let context = SessionContext::new_with_state(state);
        for table in Table::ALL {
            let files = files.table(table).to_vec();
            context.register_table(table.name(), Arc::new(Listed::new(table, files)))?;
        }
        // A question changes nothing, neither in the archive nor elsewhere.
        let asking = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        let asked = context.sql_with_options(sql, asking).await?;
        let columns = Arc::new(asked.schema().as_arrow().clone());
        Ok((columns, asked.collect().await?))
    }
}

fn is_out_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// What the engine says, on one line and without its own prefixes.
fn said(error: &DataFusionError) -> String {
    secrets::without(&line(&error.find_root()))
}

/// A table as the files that count at this moment.
#[derive(Debug)]
struct Listed {
    columns: TableSchema,
    files: Vec<File>,
}

impl Listed {
    fn new(table: Table, files: Vec<File>) -> Self {
        let partition = |name: &str| Arc::new(Field::new(name, DataType::Utf8, false));
        let columns = TableSchema::builder(table.columns())
            .with_table_partition_cols(vec![partition("project"), partition("day")])
            .build();
        Self { columns, files }
    }

    /// The files in as many groups as threads read them, of about the same size.
    fn groups(&self, count: usize) -> Vec<FileGroup> {
        let mut groups: Vec<(u64, Vec<PartitionedFile>)> = vec![(0, Vec::new()); count.max(1)];
        for file in &self.files {
            let values = [&file.project, &file.day].map(|value| ScalarValue::from(value.as_str()));
            let part =
                PartitionedFile::from(file.meta.clone()).with_partition_values(values.into());
            if let Some((sum, group)) = groups.iter_mut().min_by_key(|(sum, _)| *sum) {
                *sum += file.meta.size;
                group.push(part);
            }
        }
        let filled = groups.into_iter().filter(|(_, group)| !group.is_empty());
        filled.map(|(_, group)| FileGroup::new(group)).collect()
    }
}

#[async_trait]
impl TableProvider for Listed {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.columns.table_schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let source: Arc<dyn FileSource> = Arc::new(ParquetSource::new(self.columns.clone()));
        let url = ObjectStoreUrl::parse(STORE)?;
        let config = FileScanConfigBuilder::new(url, source)
            .with_file_groups(self.groups(state.config().target_partitions()))
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
