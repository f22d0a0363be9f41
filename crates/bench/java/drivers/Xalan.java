package drivers;

import java.io.StringReader;
import java.io.StringWriter;
import java.util.Random;
import javax.xml.transform.Templates;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;
import org.apache.xalan.processor.TransformerFactoryImpl;

/** Threads turn documents into pages by templates that they share. */
public final class Xalan {
    private static final String STYLE = """
        <xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
          <xsl:output method="html" indent="yes"/>
          <xsl:key name="by-maker" match="item" use="@maker"/>
          <xsl:template match="/shop">
            <html><body>
              <xsl:for-each select="item[generate-id() = generate-id(key('by-maker', @maker)[1])]">
                <xsl:sort select="@maker"/>
                <h1><xsl:value-of select="@maker"/> <xsl:value-of select="count(key('by-maker', @maker))"/></h1>
                <p><xsl:value-of select="sum(key('by-maker', @maker)/price)"/></p>
                <xsl:apply-templates select="key('by-maker', @maker)[price &gt; 50]">
                  <xsl:sort select="price" data-type="number" order="descending"/>
                </xsl:apply-templates>
              </xsl:for-each>
            </body></html>
          </xsl:template>
          <xsl:template match="item">
            <xsl:param name="label" select="concat('no. ', position(), ' of ', last())"/>
            <li class="{translate(@maker, 'abc', 'ABC')}">
              <xsl:choose>
                <xsl:when test="contains(name, '7')"><b><xsl:value-of select="name"/></b></xsl:when>
                <xsl:otherwise><xsl:value-of select="substring-before(concat(name, '-'), '-')"/></xsl:otherwise>
              </xsl:choose>
              <xsl:value-of select="$label"/>
              <xsl:if test="price = 99"><xsl:message terminate="yes">too dear</xsl:message></xsl:if>
            </li>
          </xsl:template>
        </xsl:stylesheet>
        """;

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        TransformerFactory factory = new TransformerFactoryImpl();
        Templates templates = factory.newTemplates(new StreamSource(new StringReader(STYLE)));
        Workers.print("pages", Workers.run(threads, index -> {
            long sum = 0;
            for (int i = 0; i < size; i++) {
                sum = Workers.mix(sum, page(templates, new Random(index * 1000L + i)));
            }
            return sum;
        }));
    }

    private static long page(Templates templates, Random random) throws TransformerException {
        Transformer transformer = templates.newTransformer();
        transformer.setErrorListener(new Silent());
        StringWriter page = new StringWriter();
        try {
            transformer.transform(new StreamSource(new StringReader(shop(random))), new StreamResult(page));
            return Workers.sum(page.toString());
        } catch (TransformerException stopped) {
            return Workers.mix(stopped.getMessage().hashCode(), page.toString().length());
        }
    }

    private static String shop(Random random) {
        StringBuilder shop = new StringBuilder("<shop>");
        int dearest = random.nextInt(5) == 0 ? 100 : 99;
        for (int i = 0; i < 150; i++) {
            shop.append("<item maker='").append("abcdefgh".charAt(random.nextInt(8))).append("nd co'><name>thing-")
                .append(random.nextInt(100)).append("</name><price>").append(random.nextInt(dearest))
                .append("</price></item>");
        }
        return shop.append("</shop>").toString();
    }

    /** Keeps messages off standard error, where threads would mix them. */
    private static final class Silent implements javax.xml.transform.ErrorListener {
        @Override
        public void warning(TransformerException problem) {}

        @Override
        public void error(TransformerException problem) throws TransformerException {
            throw problem;
        }

        @Override
        public void fatalError(TransformerException problem) throws TransformerException {
            throw problem;
        }
    }
}
