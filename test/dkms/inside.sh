#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The part of run.sh that runs in a Debian root (see root.sh): everything that a
# user of DKMS sees, once from the tarball and once from the .deb. Prints
# `ok - NAME` and `not ok - NAME` lines; the built modules come to
# /mnt/modules/RELEASE/.
#
#	inside.sh VERSION FIRST SECOND	the headers packages of two kernels,
#					each perhaps with /SUITE behind its name
set -eu

version=$1
first=$2
second=$3
log=/mnt/last.log

# check NAME COMMAND...: it succeeds; what it says is shown when not.
check()
{
	name=$1
	shift
	if "$@" >"$log" 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		tail -n 40 "$log" | sed 's/^/# /'
	fi
}

# is NAME GOT WANTED
is()
{
	if [ "$2" = "$3" ]; then
		echo "ok - $1"
	else
		echo "not ok - $1"
		echo "# got '$2', not '$3'"
	fi
}

# install PACKAGE[/SUITE] or a .deb. No initramfs: nothing boots from this root.
install()
{
	INITRD=No apt-get -q -y --no-install-recommends install "$1"
}

# The releases whose headers are here.
releases()
{
	for build in /lib/modules/*/build; do
		[ ! -e "$build" ] || basename "${build%/build}"
	done
}

# The file of an installed module, compressed or not.
ko()
{
	find "/lib/modules/$1/updates/dkms" -name "$2.ko*"
}

# field NAME MODULE RELEASE: what modinfo says of an installed module.
field()
{
	modinfo -F "$1" "$(ko "$3" "$2")" 2>&1
}

# installed RELEASE: both modules are there and are what they should be.
installed()
{
	for module in leanacct leanacct_klp; do
		is "$1: modinfo shows the version of $module" \
			"$(field version $module "$1")" "$version"
		is "$1: modinfo shows the vermagic of $module" \
			"$(field vermagic $module "$1" | cut -d ' ' -f 1)" "$1"
	done
	check "$1: dkms status says installed" \
		sh -c "dkms status leanacct/$version -k $1 | grep -q ': installed\$'"
}

# signature FILE: of the module in FILE, by the certificate /root/mok.pem. It stands
# behind the module, its length (big-endian) 32 bytes before the end.
signature()
{
	size=$(tail -c 32 "$1" | head -c 4 | od -An -tu1 |
		awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }')
	head -c -$((size + 40)) "$1" >/tmp/module
	tail -c $((size + 40)) "$1" | head -c "$size" >/tmp/signature
	openssl cms -verify -binary -noverify -certfile /root/mok.pem \
		-inform DER -in /tmp/signature -content /tmp/module -out /dev/null
}

# nothing_left NAME: of what DKMS made, and of what was put there for it.
nothing_left()
{
	is "$1 leaves nothing" "$(
		find /lib/modules /var/lib/dkms /usr/src /usr/sbin /etc \
			-name '*leanacct*' 2>&1
		find /lib/modules -path '*/updates/*' 2>&1)" ""
}

# refused RELEASE WHY: with dkms's own status for it, before it looks for headers.
refused()
{
	rc=0
	dkms build leanacct/"$version" -k "$1" >"$log" 2>&1 || rc=$?
	is "dkms refuses $1, $2: $(grep -o 'BUILD_EXCLUSIVE.*' "$log" | head -n 1)" "$rc" 77
}

# fits RELEASE: dkms lets it through, and then finds no headers.
fits()
{
	rc=0
	dkms build leanacct/"$version" -k "$1" >"$log" 2>&1 || rc=$?
	is "dkms would build for $1" "$((rc != 0 && rc != 77)) $(grep -c 'cannot be found' "$log")" "1 1"
}

echo "# dkms $(dpkg-query -W -f '${Version}' dkms)"
check "apt-get update" apt-get -q update

# --- from the tarball ---------------------------------------------------------

check "apt install dkms $first" install "$first"
one=$(releases)
tar -C /usr/src -xf "/mnt/leanacct-$version.tar.gz"
check "dkms add" dkms add "leanacct/$version"
check "dkms build for $one" dkms build "leanacct/$version" -k "$one"
check "dkms install for $one" dkms install "leanacct/$version" -k "$one"
installed "$one"
is "$one: signed with the key that dkms makes" \
	"$(field signer leanacct "$one")" "DKMS module signing key"

check "apt install $second: AUTOINSTALL builds for it" install "$second"
two=$(releases | grep -vxF "$one" || :)
installed "$two"

refused 5.10.0-30-amd64 "before 6.1"
refused 6.0.0-6-amd64 "before 6.1"
refused 4.19.0-27-amd64 "before 6.1"
for release in 6.1.0-1-amd64 6.9.12-amd64 6.10.0-rt-amd64 7.0.1-amd64 10.1.0; do
	fits $release
done
for option in HAVE_STATIC_CALL_INLINE LIVEPATCH KPROBES; do
	build=/lib/modules/6.12.0-without/build
	mkdir -p $build/include/config
	sed "/^CONFIG_$option=/d" "/lib/modules/$one/build/.config" |
		tee $build/.config >$build/include/config/auto.conf
	refused 6.12.0-without "without CONFIG_$option"
	rm -rf /lib/modules/6.12.0-without
done

check "dkms remove --all" dkms remove "leanacct/$version" --all
rm -rf "/usr/src/leanacct-$version"
nothing_left "dkms remove --all"

# --- from the .deb, signed with a key of one's own ----------------------------

check "a key, as docs/install.md makes it" openssl req -new -x509 -newkey rsa:2048 \
	-nodes -days 36500 -subj '/CN=leanacct test key' \
	-keyout /root/mok.key -outform DER -out /root/mok.der
openssl x509 -inform DER -in /root/mok.der -out /root/mok.pem
cat >/etc/dkms/framework.conf.d/mok.conf <<'KEY'
mok_signing_key=/root/mok.key
mok_certificate=/root/mok.der
KEY

check "apt install leanacct-dkms.deb" install "/mnt/leanacct-dkms.deb"
for release in $one $two; do
	installed "$release"
	is "$release: signed with the key" \
		"$(field signer leanacct "$release")" "leanacct test key"
	mkdir -p "/mnt/modules/$release"
	for module in leanacct leanacct_klp; do
		file=$(ko "$release" $module)
		case $file in
		*.xz)	xz -dc "$file" ;;
		*)	cat "$file" ;;
		esac >"/mnt/modules/$release/$module.ko"
	done
	check "$release: the signature holds" signature "/mnt/modules/$release/leanacct.ko"
done
check "the command leanacct is in the PATH" leanacct help
check "apt purge leanacct-dkms" apt-get -q -y purge leanacct-dkms
nothing_left "apt purge"
