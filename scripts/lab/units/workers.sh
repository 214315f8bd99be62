# A pool of workers: each counts for a while, records that, and rests.
work() {
    while :; do
        n=0
        while [ $n -lt 200 ]; do n=$((n + 1)); done
        echo done >>/run/workers.done
        sleep 0.7
    done
}
for _ in $(seq "$1"); do work & done
wait
