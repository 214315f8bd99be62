#!/bin/sh
# A Redis server on a unix socket of its own, and eight clients, each a process. Prints the requests of all clients in a
# second.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
redis-server --port 0 --unixsocket "$folder/socket" --save '' --dir "$folder" > /dev/null &
server=$!
until redis-cli -s "$folder/socket" ping > /dev/null 2>&1; do sleep 0.01; done
clients=
for client in 1 2 3 4 5 6 7 8; do
    redis-benchmark -s "$folder/socket" -q --csv -n "${1:-5000}" -c 1 -t get > "$folder/$client" 2> /dev/null &
    clients="$clients $!"
done
wait $clients
kill $server
wait $server
cat "$folder"/[1-8] | awk -F '"' '/GET/ { sum += $4 } END { printf "%.0f\n", sum }'
