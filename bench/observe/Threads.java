import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Semaphore;

/** A schedule on threads of Java. The messages are permits of semaphores, eight at most. */
public final class Threads {
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> lines = Files.readAllLines(Path.of(arguments[0]));
        String[] head = lines.get(0).split(" ");
        int tasks = Integer.parseInt(head[0]);
        int rounds = Integer.parseInt(head[1]);
        int work = Integer.parseInt(head[2]);
        Semaphore[][] boxes = new Semaphore[tasks][tasks];
        for (Semaphore[] row : boxes) {
            for (int to = 0; to < tasks; to++) {
                row[to] = new Semaphore(0);
            }
        }
        Semaphore[][] room = new Semaphore[tasks][tasks];
        for (Semaphore[] row : room) {
            for (int to = 0; to < tasks; to++) {
                row[to] = new Semaphore(8);
            }
        }
        Thread[] threads = new Thread[tasks];
        for (int task = 0; task < tasks; task++) {
            int own = task;
            String[] steps = lines.get(task + 1).trim().split(" ");
            threads[task] = new Thread(() -> play(own, steps, rounds, work, boxes, room), "w" + task);
            threads[task].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void play(int own, String[] steps, int rounds, int work, Semaphore[][] boxes,
            Semaphore[][] room) {
        long sum = 0;
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < work; i++) {
                sum += i ^ sum;
            }
            for (String step : steps) {
                int other = Integer.parseInt(step.substring(1));
                if (step.charAt(0) == '+') {
                    room[own][other].acquireUninterruptibly();
                    boxes[own][other].release();
                } else {
                    boxes[other][own].acquireUninterruptibly();
                    room[other][own].release();
                }
            }
        }
        if (sum == 42) {
            System.out.println();
        }
    }
}
