#!/bin/sh
# A PostgreSQL server of an existing cluster, and eight clients of pgbench, each a thread. Prints transactions in a second.
# usage: postgres.sh PROGRAMS CLUSTER SOCKETS SECONDS
"$1/postgres" -D "$2" > /dev/null 2>&1 &
server=$!
until "$1/pg_isready" -h "$3" -q; do sleep 0.05; done
"$1/pgbench" -h "$3" -U postgres -S -n -c 8 -j 8 -T "$4" postgres 2> /dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
kill -INT $server
wait $server
