# Clients that keep the servers busy, and leave an emulated computer time for other work.
redis-cli -r -1 -i 0.1 incr requests >/dev/null &
while :; do
    wget -q -O /dev/null http://127.0.0.1:8080/
    sleep 0.3
done &
echo 'SELECT count(*) FROM pg_class;' >/run/select.sql
pgbench -h /run/postgresql -U postgres -n -c 2 -R 5 -T 100000 -f /run/select.sql postgres >/dev/null 2>&1 &
wait
