/* Latch.java - a candidate that acts, once in a millisecond, while Curator's LeaderLatch says that it leads.
 *
 *   java Latch SERVERS PATH SESSION_MS RECORDS CANDIDATE
 *
 * It acts in its own process, as programs on Curator do, and writes the records of act.c. SIGTERM makes it stop
 * acting first, and give up the lead then.
 */
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.RetryForever;

public final class Latch implements LeaderLatchListener {
    private final FileOutputStream records;
    private final int candidate;
    private boolean leads;
    private int leaderships;

    private Latch(FileOutputStream records, int candidate) {
        this.records = records;
        this.candidate = candidate;
    }

    @Override
    public synchronized void isLeader() {
        leads = true;
        leaderships++;
        notifyAll();
    }

    @Override
    public synchronized void notLeader() {
        leads = false;
    }

    /* The process id has at most 22 bits: with the number of the leadership each of them is an instance. */
    private synchronized void act() throws IOException, InterruptedException {
        while (!leads) {
            wait();
        }
        int instance = (leaderships << 22) ^ (int) ProcessHandle.current().pid();
        ByteBuffer record = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
        record.putLong(System.nanoTime()).putLong(0).putInt(instance).putInt(candidate);
        records.write(record.array());
        wait(1);
    }

    public static void main(String[] words) throws Exception {
        int sessionMs = Integer.parseInt(words[2]);
        CuratorFramework client =
            CuratorFrameworkFactory.newClient(words[0], sessionMs, sessionMs, new RetryForever(100));
        LeaderLatch latch = new LeaderLatch(client, words[1], words[4]);
        Latch leader = new Latch(new FileOutputStream(words[3], true), Integer.parseInt(words[4]));

        latch.addListener(leader);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            leader.notLeader();
            try {
                latch.close();
            } catch (IOException e) {
                System.err.println(e);
            }
            client.close();
        }));
        client.start();
        latch.start();
        while (true) {
            leader.act();
        }
    }
}
