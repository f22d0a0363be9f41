package drivers;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A web server and its clients in one process, over the loopback. */
public final class Jetty {
    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        QueuedThreadPool pool = new QueuedThreadPool(threads + 6, threads + 6);
        Server server = new Server(pool);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        Shop shop = new Shop();
        server.setHandler(shop);
        server.start();
        int port = connector.getLocalPort();
        Workers.print("client", Workers.run(threads, index -> client(port, index, size)));
        server.stop();
        int sold = 0;
        for (int amount : shop.sold.values()) {
            sold += amount;
        }
        System.out.println("sold " + sold + " to " + shop.sold.size());
    }

    private static final class Shop extends Handler.Abstract {
        final ConcurrentHashMap<String, Integer> sold = new ConcurrentHashMap<>();

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            String path = Request.getPathInContext(request);
            if (path.startsWith("/missing")) {
                return false;
            }
            if (path.startsWith("/broken")) {
                response.setStatus(500);
                callback.succeeded();
                return true;
            }
            String amount = Request.extractQueryParameters(request).getValue("amount");
            int all = sold.merge(path, Integer.parseInt(amount), Integer::sum);
            String page = "<p>" + path + " has " + all + "</p>" + "-".repeat(all % 100);
            response.getHeaders().put("Content-Type", "text/html");
            response.write(true, ByteBuffer.wrap(page.getBytes(StandardCharsets.UTF_8)), callback);
            return true;
        }
    }

    /** Asks for pages that no other client asks for, all over one connection. */
    private static long client(int port, int index, int size) throws Exception {
        Random random = new Random(index);
        long sum = 0;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            BufferedReader in =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            for (int i = 0; i < size; i++) {
                String path = switch (i % 40) {
                    case 17 -> "/missing/" + index;
                    case 31 -> "/broken/" + index;
                    default -> "/shop/" + index + "/" + random.nextInt(50) + "?amount=" + (1 + random.nextInt(9));
                };
                String request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nX-Number: " + i + "\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                sum = Workers.mix(sum, Workers.sum(answer(in)));
            }
        }
        return sum;
    }

    /** Status and body, without headers such as the date. */
    private static String answer(BufferedReader in) throws Exception {
        StringBuilder answer = new StringBuilder(in.readLine());
        int length = 0;
        for (String line = in.readLine(); !line.isEmpty(); line = in.readLine()) {
            if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                length = Integer.parseInt(line.substring(15).trim());
            }
        }
        for (int i = 0; i < length; i++) {
            answer.append((char) in.read());
        }
        return answer.toString();
    }
}
