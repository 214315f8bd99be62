#!/bin/sh
# Shows the files of {machine} to a container, then runs a command there: mount.sh lscpu
# It needs root and the right to mount. On a computer: unshare -m mount.sh lscpu
set -e
here=$(cd "$(dirname "$0")" && pwd)

read_only() {
    mount -o remount,bind,ro,nosuid,nodev,noexec "$1"
}

# The kernel's folder of devices accepts no lists of core kinds. Another one that has them, and all
# other devices, takes its place.
if [ -n "$(ls -d "$here"/sys/devices/cpu_* /sys/devices/cpu_* 2>/dev/null)" ]; then
    devices=$(mktemp -d)
    mount -t tmpfs -o mode=755 seatmap "$devices"
    for path in "$here"/sys/devices/cpu_*; do
        if [ -d "$path" ]; then cp -R "$path" "$devices"; fi
    done
    for path in /sys/devices/*; do
        name=${path##*/}
        case $name in cpu_*) continue ;; esac
        mkdir "$devices/$name"
        mount -o rbind "$path" "$devices/$name"
    done
    mount -o rbind "$devices" /sys/devices
    umount -l "$devices"
    rmdir "$devices"
    read_only /sys/devices
fi

for path in sys/devices/system/cpu sys/devices/system/node sys/bus/cpu/devices \
    sys/bus/node/devices sys/fs/cgroup proc/cpuinfo proc/stat proc/cgroups; do
    if [ -e "/$path" ]; then
        mount -o bind "$here/$path" "/$path"
        read_only "/$path"
    fi
done
exec "$@"
