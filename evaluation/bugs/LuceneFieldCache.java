import org.apache.lucene.analysis.WhitespaceAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.search.FieldCache;
import org.apache.lucene.store.RAMDirectory;

/** Two searches need the values of one field for the first time: both look them up in the cache, read the index, and store them. */
public class LuceneFieldCache {
    public static void main(String[] arguments) throws Exception {
        RAMDirectory directory = new RAMDirectory();
        IndexWriter writer = new IndexWriter(directory, new WhitespaceAnalyzer(), true);
        for (int i = 0; i < 20; i++) {
            Document document = new Document();
            document.add(new Field("number", String.valueOf(i), Field.Store.NO, Field.Index.UN_TOKENIZED));
            writer.addDocument(document);
        }
        writer.close();
        Rounds.race(150, 2, number -> {
            IndexReader reader = IndexReader.open(directory);
            Runnable ask = () -> {
                try {
                    FieldCache.DEFAULT.getInts(reader, "number");
                } catch (java.io.IOException e) {
                    throw new IllegalStateException(e);
                }
            };
            return new Runnable[] {ask, ask};
        });
    }
}
