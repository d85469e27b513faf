# shellcheck shell=bash
# Throwaway MariaDB servers, of the version that the distribution has. Sourced after common.sh.

# mariadb_fetch NAME: installs server and client, once.
mariadb_fetch() {
    command -v mariadbd mariadb-install-db mariadb >/dev/null || install_packages mariadb-server
}

# mariadb_start NAME DIR: a new server with its data, socket and log in DIR; prints its settings as
# shell text. Its user `dbload` has a password and may do everything, over TCP and the socket.
# `mariatls` has a certificate, and encrypts for those who ask it to.
mariadb_start() {
    local name=$1 dir=$2 password port
    password=$(od -An -tx1 -N8 /dev/urandom | tr -d ' \n')
    mkdir -p "$dir/tmp"
    if [ "$name" = mariatls ]; then make_certificates "$dir"; fi
    if is_root; then chown -R "$(server_user)" "$dir"; fi
    as_server_user mariadb-install-db --no-defaults --datadir="$dir/data" --skip-test-db \
        --auth-root-authentication-method=normal --tmpdir="$dir/tmp" >"$dir.install.log" 2>&1 ||
        die "mariadb-install-db failed: $(tail -n 3 "$dir.install.log")"
    port=$(mariadb_launch "$dir")
    mysql_make_user "$dir/socket" "$password"
    if [ "$name" = mariatls ]; then
        local address="dbload:$password@127.0.0.1:$port/test"
        echo "export DBLOAD_TEST_MYSQL_TLS_URL='mysql://$address?ssl-mode=VERIFY_IDENTITY&ssl-ca=$dir/ca.crt'"
        return
    fi
    mysql_print_exports "$name" "$dir" "$password" "$port"
}

# mariadb_run DIR PORT: the server itself. Nothing here must survive a crash, and the disk of the
# machine is not what is looked at.
mariadb_run() {
    local tls=()
    if [ -f "$1/server.crt" ]; then
        tls=(--ssl-ca="$1/ca.crt" --ssl-cert="$1/server.crt" --ssl-key="$1/server.key")
    fi
    as_server_user mariadbd --no-defaults --datadir="$1/data" --tmpdir="$1/tmp" \
        --socket="$1/socket" --pid-file="$1/pid" --port="$2" \
        --bind-address=127.0.0.1,127.0.0.2 --innodb-flush-log-at-trx-commit=0 \
        --innodb-buffer-pool-size=256M --max-connections=300 "${tls[@]}"
}

# mariadb_restart NAME DIR: killed, and started again at the same port.
mariadb_restart() {
    mysql_kill "$2"
    mariadb_run "$2" "$(cat "$2.port")" >>"$2/log" 2>&1 </dev/null &
    mysql_wait "$2" $! || die "MariaDB did not start again: $(tail -n 5 "$2/log")"
}

# mariadb_launch DIR: starts the server on a free port and prints the port.
mariadb_launch() {
    local dir=$1 port
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        mariadb_run "$dir" "$port" >"$dir/log" 2>&1 </dev/null &
        if mysql_wait "$dir" $!; then
            echo "$port" | tee "$dir.port"
            return
        fi
        grep -q "Address already in use" "$dir/log" || break
    done
    die "MariaDB did not start: $(tail -n 5 "$dir/log")"
}

mariadb_stop() { mysql_kill "$2"; }

# mysql_wait DIR PID: until the server answers; false when it has ended.
mysql_wait() {
    local dir=$1 pid=$2
    for _ in {1..600}; do
        kill -0 "$pid" 2>/dev/null || return 1
        if mariadb-admin --no-defaults --socket="$dir/socket" -u root ping >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    die "no answer within a minute: $(tail -n 5 "$dir/log")"
}

# mysql_kill DIR: the data goes with the server, so there is nothing to be written first.
mysql_kill() {
    local pid
    pid=$(cat "$1/pid") && kill -KILL "$pid" || return 1
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

mysql_make_user() {
    mariadb --no-defaults --socket="$1" -u root <<SQL
create database test;
create user dbload@localhost identified by '$2';
create user dbload@'127.0.0.1' identified by '$2';
grant all on *.* to dbload@localhost with grant option;
grant all on *.* to dbload@'127.0.0.1' with grant option;
SQL
}

mysql_print_exports() {
    local name=$1 dir=$2 password=$3 port=$4
    echo "export DBLOAD_TEST_MYSQL='$name' DBLOAD_TEST_MYSQL_SOCKET='$dir/socket'"
    echo "export DBLOAD_TEST_MYSQL_URL='mysql://dbload:$password@127.0.0.1:$port/test'"
}
