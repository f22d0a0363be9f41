package drivers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.codec.string.StringDecoder;
import io.netty.handler.codec.string.StringEncoder;
import java.net.InetAddress;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A line protocol between a server and clients on event loops, over the loopback. */
public final class Netty {
    private static final int IN_FLIGHT = 32;

    public static void main(String[] arguments) throws Exception {
        int threads = Workers.number(arguments, 0);
        int size = Workers.number(arguments, 1);
        EventLoopGroup group = new NioEventLoopGroup(threads);
        AtomicLong served = new AtomicLong();
        try {
            Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new LineBasedFrameDecoder(200), new StringDecoder(),
                            new StringEncoder(), new Answers(served));
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
            Workers.print("client", Workers.run(threads, index -> client(group, server, index, size)));
            server.close().sync();
        } finally {
            group.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
        }
        System.out.println("served " + served.get());
    }

    private static final class Answers extends SimpleChannelInboundHandler<String> {
        private final AtomicLong served;
        private long before;

        Answers(AtomicLong served) {
            this.served = served;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, String line) {
            if (line.startsWith("fail")) {
                throw new IllegalArgumentException(line);
            }
            before = Workers.mix(before, line.hashCode());
            served.incrementAndGet();
            context.writeAndFlush(line.toUpperCase() + " " + before + "\n");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable failure) {
            context.writeAndFlush(failure.getMessage() + " " + Workers.origin(failure) + "\n");
        }
    }

    private static long client(EventLoopGroup group, Channel server, int index, int size) throws Exception {
        BlockingQueue<String> answers = new ArrayBlockingQueue<>(2 * IN_FLIGHT);
        Channel channel = new Bootstrap().group(group).channel(NioSocketChannel.class)
            .handler(new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel made) {
                    made.pipeline().addLast(new LineBasedFrameDecoder(200), new StringDecoder(), new StringEncoder(),
                        new SimpleChannelInboundHandler<String>() {
                            @Override
                            protected void channelRead0(ChannelHandlerContext context, String line) {
                                answers.add(line);
                            }
                        });
                }
            }).connect(server.localAddress()).sync().channel();
        Random random = new Random(index);
        long sum = 0;
        for (int sent = 0, got = 0; got < size;) {
            while (sent < size && sent - got < IN_FLIGHT) {
                channel.write((sent % 100 == 42 ? "fail " : "line ") + random.nextInt() + "\n");
                sent++;
            }
            channel.flush();
            for (int i = 0; i < IN_FLIGHT / 2 && got < size; i++, got++) {
                sum = Workers.mix(sum, Workers.sum(answers.take()));
            }
        }
        channel.close().sync();
        return sum;
    }
}
