# Faults of a cluster of scripts/cluster, put in from inside with tc, nft, ip, cgroups and signals: functions for a shell
# on its node n0. Nodes are numbers.

# A command in the network namespace of the switches.
switch() { nsenter --net=/proc/1/ns/net "$@"; }

address() { echo "10.77.0.$(($1 + 1))"; }

slow_from() { on "n$1" tc qdisc replace dev eth0 root tbf rate "$2" burst 64k latency 50ms; }
slow_to() { switch tc qdisc replace dev "v$1" root tbf rate "$2" burst 64k latency 50ms; }
slow() { slow_from "$1" "$2"; slow_to "$1" "$2"; }

# What node $1 sends to node $2.
slow_way() {
    on "n$1" tc qdisc replace dev eth0 root handle 1: htb default 1
    on "n$1" tc class add dev eth0 parent 1: classid 1:1 htb rate 1gbit ceil 1gbit burst 16k cburst 16k quantum 60000
    on "n$1" tc class add dev eth0 parent 1: classid 1:2 htb rate "$3" ceil "$3" burst 16k cburst 16k quantum 60000
    on "n$1" tc filter add dev eth0 parent 1: protocol ip u32 match ip dst "$(address "$2")/32" flowid 1:2
}

uplink_from() { switch tc qdisc replace dev "up$1" root tbf rate "$2" burst 64k latency 50ms; }
uplink_to() { switch tc qdisc replace dev "down$1" root tbf rate "$2" burst 64k latency 50ms; }

# Drops what comes in at device $1 and matches the rest, in the namespace that $IN enters.
drop() {
    device=$1
    shift
    $IN nft add table netdev "bad_$device"
    $IN nft add chain netdev "bad_$device" in "{ type filter hook ingress device $device priority 0; }"
    $IN nft add rule netdev "bad_$device" in "$@" drop
}
per_million() { awk -v share="$1" 'BEGIN { printf "%d", share * 1e4 }'; }
lose_from() { IN=switch drop "v$1" ip protocol tcp numgen random mod 1000000 \< "$(per_million "$2")"; }
lose_to() { IN="on n$1" drop eth0 ip protocol tcp numgen random mod 1000000 \< "$(per_million "$2")"; }
lose_way() {
    IN="on n$2" drop eth0 ip saddr "$(address "$1")" numgen random mod 1000000 \< "$(per_million "$3")"
}
lose_uplink() { IN=switch drop "down$1" ip protocol tcp numgen random mod 1000000 \< "$(per_million "$2")"; }

mtu() { on "n$1" ip link set eth0 mtu "$2"; }

# Packets of node $1 above this size vanish, both ways.
black_hole() {
    IN=switch drop "v$1" ip length \> "$2"
    IN="on n$1" drop eth0 ip length \> "$2"
}

# Nodes $1 and $2 do not reach each other.
cut() {
    IN="on n$2" drop eth0 ip saddr "$(address "$1")"
    IN="on n$1" drop eth0 ip saddr "$(address "$2")"
}

# The processes of the measurement on node $1.
measuring_on() {
    own=$(stat -L -c %i "/run/netns/n$1")
    for folder in /proc/[0-9]*; do
        case $(tr '\0' ' ' <"$folder/cmdline" 2>/dev/null) in *"seatmap cluster measure"*) ;; *) continue ;; esac
        case $(cat "$folder/comm" 2>/dev/null) in seatmap) ;; *) continue ;; esac
        [ "$(stat -L -c %i "$folder/ns/net" 2>/dev/null)" = "$own" ] && echo "${folder#/proc/}"
    done
}

# Waits for a process or for pairs, at most until the whole measurement ($MPI) has ended.
wait_for_process() { until [ -n "$(measuring_on "$1")" ] || ! kill -0 "$MPI" 2>/dev/null; do sleep 0.05; done; }

wait_for_pairs() {
    until grep -q '"rate_mbps"' cluster.json 2>/dev/null || ! kill -0 "$MPI" 2>/dev/null; do sleep 0.05; done
}

# Stops the process on node $1 when some pairs are measured.
stop() {
    wait_for_pairs
    for process in $(measuring_on "$1"); do kill -STOP "$process"; done
}

# The processes on node $1 get this share of a CPU, in percent.
starve() {
    wait_for_process "$1"
    mkdir -p "$GROUP"
    echo 100000 >"$GROUP/cpu.cfs_period_us"
    echo "${2}000" >"$GROUP/cpu.cfs_quota_us"
    for process in $(measuring_on "$1"); do echo "$process" >"$GROUP/cgroup.procs"; done
}
