# shellcheck shell=bash
# Throwaway MySQL servers of the version in Debian's newest suite. Sourced after mariadb.sh, whose
# client and helpers serve both.

mysql_home() { echo "$(cache_dir)/mysql-sid"; }

# mysql_fetch NAME: a folder of Debian's newest suite with the server in it, once: 560 MB.
mysql_fetch() {
    local home work
    home=$(mysql_home)
    mariadb_fetch "$1"
    [ -d "$home" ] && return
    is_root || die "the MySQL server comes by debootstrap, which root has to run once"
    need debootstrap debootstrap
    say "fetching MySQL, which takes some minutes"
    mkdir -p "$(cache_dir)"
    work=$(mktemp -d "$home.XXXXXX")
    debootstrap --variant=minbase --include=mysql-server-core sid "$work" >"$home.log" 2>&1 ||
        die "debootstrap failed: $(tail -n 3 "$home.log")"
    chmod a+rx "$work"
    mv -T "$work" "$home" 2>/dev/null || [ -d "$home" ]
}

# mysqld_run OPTION...: the server with the libraries of its own folder, and no need for a chroot.
mysqld_run() {
    local home
    home=$(mysql_home)
    as_server_user "$home/lib64/ld-linux-x86-64.so.2" \
        --library-path "$home/usr/lib/x86_64-linux-gnu:$home/usr/lib/mysql/private" \
        "$home/usr/sbin/mysqld" --no-defaults --basedir="$home/usr" \
        --lc-messages-dir="$home/usr/share/mysql" --plugin-dir="$home/usr/lib/mysql/plugin" "$@"
}

# mysql_start NAME DIR: see mariadb_start. Accounts use caching_sha2_password, TCP offers TLS.
mysql_start() {
    local name=$1 dir=$2 password port
    password=$(od -An -tx1 -N8 /dev/urandom | tr -d ' \n')
    mkdir -p "$dir/tmp"
    if is_root; then chown -R "$(server_user)" "$dir"; fi
    mysqld_run --initialize-insecure --datadir="$dir/data" --tmpdir="$dir/tmp" \
        >"$dir.install.log" 2>&1 || die "mysqld failed: $(tail -n 3 "$dir.install.log")"
    port=$(mysql_launch "$dir")
    mysql_make_user "$dir/socket" "$password"
    mysql_print_exports "$name" "$dir" "$password" "$port"
}

# mysql_launch DIR: starts the server on a free port and prints the port.
mysql_launch() {
    local dir=$1 port
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        mysqld_run --datadir="$dir/data" --tmpdir="$dir/tmp" --socket="$dir/socket" \
            --pid-file="$dir/pid" --port="$port" --bind-address=127.0.0.1 --mysqlx=OFF \
            --local-infile=ON --secure-file-priv=NULL --innodb-flush-log-at-trx-commit=0 \
            --innodb-buffer-pool-size=256M --skip-log-bin --max-connections=300 \
            >"$dir/log" 2>&1 </dev/null &
        if mysql_wait "$dir" $!; then
            echo "$port"
            return
        fi
        grep -q "Address already in use" "$dir/log" || break
    done
    die "MySQL did not start: $(tail -n 5 "$dir/log")"
}

mysql_stop() { mysql_kill "$2"; }
