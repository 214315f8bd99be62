import java.util.stream.LongStream;

/** Equal pieces of work over Java's common pool, which sizes itself; prints pieces a second. */
class Spin {
    static long piece(long x) {
        for (int i = 0; i < 1000000; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    public static void main(String[] arguments) {
        int pieces = Integer.parseInt(arguments[0]);
        long sum = LongStream.range(0, 50).parallel().map(Spin::piece).sum();
        long begun = System.nanoTime();
        sum += LongStream.range(0, pieces).parallel().map(i -> piece(88172645463325252L + i)).sum();
        double seconds = (System.nanoTime() - begun) / 1e9;
        System.out.printf("threads %d%n%.3f%n", Runtime.getRuntime().availableProcessors(), sum == 0 ? 0 : pieces / seconds);
    }
}
