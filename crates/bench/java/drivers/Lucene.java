package drivers;

import java.util.Random;
import java.util.logging.LogManager;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Threads fill one index, delete from it, and search in it; only what does not depend on their order is printed. */
public final class Lucene {
    private static final int WORDS = 500;

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        // It would tell the time on standard error.
        LogManager.getLogManager().reset();
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
            config.setMaxBufferedDocs(200);
            try (IndexWriter writer = new IndexWriter(directory, config)) {
                Workers.print("added", Workers.run(threads, index -> add(writer, index, size)));
                writer.forceMerge(1);
                writer.commit();
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                System.out.println("documents: " + reader.numDocs());
                IndexSearcher searcher = new IndexSearcher(reader);
                Workers.print("found", Workers.run(threads, index -> search(searcher, index, size)));
            }
        }
    }

    private static long add(IndexWriter writer, int index, int size) throws Exception {
        Random random = new Random(index);
        long sum = 0;
        for (int i = 0; i < size; i++) {
            StringBuilder text = new StringBuilder();
            for (int k = 0; k < 30; k++) {
                int word = random.nextInt(WORDS) * random.nextInt(WORDS) / WORDS;
                text.append("word").append(word).append(k % 10 == 9 ? ". " : " ");
            }
            Document document = new Document();
            document.add(new StringField("id", index + "-" + i, Field.Store.YES));
            document.add(new TextField("text", text.toString(), Field.Store.YES));
            document.add(new NumericDocValuesField("rank", random.nextInt(1000)));
            writer.addDocument(document);
            sum = Workers.mix(sum, text.toString().hashCode());
            if (i % 20 == 19) {
                writer.deleteDocuments(new Term("id", index + "-" + (i - 7)));
            }
        }
        return sum;
    }

    private static long search(IndexSearcher searcher, int index, int size) throws Exception {
        Random random = new Random(1000 + index);
        long sum = 0;
        for (int i = 0; i < size / 4; i++) {
            String first = "word" + random.nextInt(WORDS);
            String second = "word" + random.nextInt(WORDS);
            BooleanQuery both = new BooleanQuery.Builder()
                .add(new TermQuery(new Term("text", first)), BooleanClause.Occur.MUST)
                .add(new TermQuery(new Term("text", second)), BooleanClause.Occur.SHOULD)
                .build();
            sum = Workers.mix(sum, searcher.count(both));
            sum = Workers.mix(sum, searcher.count(new PhraseQuery("text", first, second)));
            // Which documents share the last rank depends on the order of adding; how many there are does not.
            TopDocs top = searcher.search(both, 10);
            sum = Workers.mix(sum, top.scoreDocs.length);
            for (var hit : top.scoreDocs) {
                sum = Workers.mix(sum, Float.floatToIntBits(hit.score));
            }
        }
        return sum;
    }
}
