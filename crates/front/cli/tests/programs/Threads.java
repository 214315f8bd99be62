import java.nio.file.Files;
import java.nio.file.Path;

/** Three named threads wait until each is seated on one CPU, and print it. */
public class Threads {
    static String allowed() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/thread-self/status")))
                if (line.startsWith("Cpus_allowed_list:")) return line.substring(18).strip();
        } catch (java.io.IOException error) {
            return error.toString();
        }
        return "?";
    }

    static void seated(String wanted) {
        while (!allowed().equals(wanted)) Thread.onSpinWait();
        System.out.println(Thread.currentThread().getName() + " " + allowed());
    }

    public static void main(String[] wanted) throws InterruptedException {
        for (int i = 0; i < wanted.length; i++) {
            String cpu = wanted[i];
            Thread thread = new Thread(() -> seated(cpu), "seated-" + i);
            thread.start();
            thread.join();
        }
    }
}
