# shellcheck shell=bash
# What every script here needs: talk, packages, free ports, and a user for servers. Sourced.

say() { printf '%s\n' "$*" >&2; }

die() {
    say "error: $*"
    exit 1
}

is_root() { [ "$(id -u)" -eq 0 ]; }

# retry COMMAND...: up to three times, since a registry fails to answer now and then.
retry() {
    local try
    for try in 1 2 3; do
        "$@" && return
        say "failed, try $try of 3: $*"
        sleep $((try * 5))
    done
    return 1
}

# need COMMAND PACKAGE...: installs Debian packages when COMMAND is not there.
need() {
    local command=$1
    shift
    command -v "$command" >/dev/null || install_packages "$@"
}

install_packages() {
    is_root || die "missing: $*. Run 'apt-get install $*' as root, then try again."
    command -v apt-get >/dev/null || die "missing: $*. This script installs with apt-get only."
    say "installing $*"
    {
        retry apt-get update -q
        retry env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
    } </dev/null >&2 || die "apt-get could not install $*"
}

# Where fetched servers are kept between runs. Root's home is closed to the unprivileged user that
# runs the servers, so root keeps them elsewhere.
cache_dir() {
    if is_root; then
        echo "${DBLOAD_CACHE:-/var/cache/dbload/servers}"
    else
        echo "${DBLOAD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dbload/servers}"
    fi
}

# A loopback port on which nobody listens. Somebody may still take it before the caller does, so
# callers try again with another one.
free_port() {
    local port
    while :; do
        port=$((20001 + RANDOM))
        (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

# Database servers refuse to run as root.
server_user() { if is_root; then echo nobody; else id -un; fi; }

as_server_user() {
    if is_root; then
        setpriv --reuid nobody --regid "$(id -g nobody)" --clear-groups "$@"
    else
        "$@"
    fi
}

# make_certificates DIR: a certificate authority of its own and a server's certificate for localhost
# and 127.0.0.1, both good for two days.
make_certificates() {
    local dir=$1
    need openssl openssl
    {
        openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=dbload test authority" \
            -keyout "$dir/ca.key" -out "$dir/ca.crt"
        openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" \
            -keyout "$dir/server.key" -out "$dir/server.csr"
        openssl x509 -req -days 2 -in "$dir/server.csr" -CA "$dir/ca.crt" -CAkey "$dir/ca.key" \
            -CAcreateserial -out "$dir/server.crt" \
            -extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1")
    } >"$dir.openssl.log" 2>&1 || die "openssl failed: $(tail -n 3 "$dir.openssl.log")"
    chmod 600 "$dir/server.key"
}
