// Equal pieces of work over as many worker threads as Node finds processors; prints pieces a second.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const os = require('os');

function piece(x) {
    for (let i = 0; i < 1000000; i++) {
        x ^= x << 13;
        x ^= x >>> 17;
        x ^= x << 5;
    }
    return x;
}

if (isMainThread) {
    const pieces = Number(process.argv[2]);
    const workers = os.availableParallelism ? os.availableParallelism() : os.cpus().length;
    let left = pieces, ended = 0, begun = 0, ready = 0;
    const all = [];
    for (let i = 0; i < workers; i++) {
        const worker = new Worker(__filename);
        all.push(worker);
        worker.on('message', (what) => {
            if (what === 'ready' && ++ready === workers) {
                begun = process.hrtime.bigint();
                all.forEach((one) => { for (let k = 0; k < 4 && left > 0; k++, left--) one.postMessage(left); });
            } else if (what !== 'ready') {
                if (left > 0) worker.postMessage(left--);
                if (++ended === pieces) {
                    const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
                    console.log(`threads ${workers}\n${(pieces / seconds).toFixed(3)}`);
                    process.exit(0);
                }
            }
        });
    }
} else {
    parentPort.on('message', (seed) => { piece(seed); parentPort.postMessage('done'); });
    parentPort.postMessage('ready');
}
