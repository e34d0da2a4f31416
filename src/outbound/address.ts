import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/** The kind of an address. Only `public` ones may be reached without the operator's permission. */
export type AddressKind =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'shared'
  | 'metadata'
  | 'multicast'
  | 'reserved';

// RFC 6890 and the IANA special-purpose registries. The first matching kind wins.
const ipv4: [AddressKind, string, number][] = [
  ['metadata', '169.254.169.254', 32],
  ['metadata', '168.63.129.16', 32], // Azure's, inside a public range
  ['metadata', '100.100.100.200', 32],
  ['unspecified', '0.0.0.0', 8],
  ['loopback', '127.0.0.0', 8],
  ['private', '10.0.0.0', 8],
  ['private', '172.16.0.0', 12],
  ['private', '192.168.0.0', 16],
  ['link-local', '169.254.0.0', 16],
  ['shared', '100.64.0.0', 10],
  ['multicast', '224.0.0.0', 4],
  ['reserved', '192.0.0.0', 24],
  ['reserved', '192.0.2.0', 24],
  ['reserved', '192.88.99.0', 24],
  ['reserved', '198.18.0.0', 15],
  ['reserved', '198.51.100.0', 24],
  ['reserved', '203.0.113.0', 24],
  ['reserved', '240.0.0.0', 4],
];

const ipv6: [AddressKind, string, number][] = [
  ['metadata', 'fd00:ec2::254', 128],
  ['metadata', 'fd20:ce::254', 128],
  ['unspecified', '::', 128],
  ['loopback', '::1', 128],
  ['private', 'fc00::', 7],
  ['link-local', 'fe80::', 10],
  ['private', 'fec0::', 10],
  ['multicast', 'ff00::', 8],
  ['reserved', '2001::', 23], // Teredo and protocol assignments
  ['reserved', '2001:db8::', 32],
  ['reserved', '3fff::', 20],
];

// Outside these ranges, no Internet host has an IPv6 address.
const routable = ranges([
  ['2000::', 3],
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
]);

const kinds = [
  ...ipv4.flatMap(([kind, net, bits]) => [{ kind, list: withEmbeddings(net, bits) }]),
  ...v6Kinds(),
];

/** The kind of an IPv4 or IPv6 address, or of an IPv4 address wrapped in an IPv6 one. */
export function kindOf(address: string): AddressKind {
  const bare = withoutZone(address);
  const family = isIP(bare);
  if (family === 0) return 'reserved';
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const found = kinds.find(({ list }) => list.check(bare, type));
  if (found) return found.kind;
  return family === 4 || routable.check(bare, 'ipv6') ? 'public' : 'reserved';
}

/** The private hosts that the operator lets connections reach: `outbound.allow`, parsed once. */
export interface AllowList {
  /** Whether an entry names this host at this port, or covers it if it is an address. */
  host(host: string, port?: number): boolean;
  /** Whether an entry is this address, or a range around it, at this port. */
  address(address: string, port?: number): boolean;
}

/** One entry. Without a port it covers every port. */
interface Allowed {
  host?: string;
  list?: BlockList;
  port?: number;
}

/**
 * Parses host names, addresses (either with a port) and CIDR ranges. The first invalid entry is
 * returned as `fault`.
 */
export function allowList(entries: string[]): AllowList & { fault?: string } {
  const read = entries.map(readEntry);
  const fault = entries.find((_, at) => read[at] === null);
  const allowed = read.filter((one) => one !== null);
  const address = (text: string, port?: number) => {
    const bare = withoutZone(text);
    const family = isIPv4(bare) ? 'ipv4' : 'ipv6';
    return (
      isIP(bare) !== 0 && allowed.some((one) => isAt(one, port) && one.list?.check(bare, family))
    );
  };
  const host = (text: string, port?: number) => {
    const name = canonicalHost(text);
    return allowed.some((one) => isAt(one, port) && one.host === name) || address(name, port);
  };
  return { address, host, ...(fault === undefined ? {} : { fault }) };
}

function isAt({ port: named }: Allowed, port: number | undefined): boolean {
  return named === undefined || named === port;
}

function readEntry(entry: string): Allowed | null {
  const [, bracketed, bare, digits] = /^(?:\[([^\]]+)\]|([^:[\]/]+)):(\d{1,5})$/.exec(entry) ?? [];
  if (digits === undefined) return readHost(entry);
  const port = Number(digits);
  const place = readHost(bracketed ?? bare ?? '');
  const isPlace = place !== null && (bracketed === undefined || isIPv6(bracketed));
  return isPlace && port >= 1 && port <= 65535 ? { ...place, port } : null;
}

function readHost(entry: string): Allowed | null {
  const range = /^([^/%]+?)(?:\/(\d{1,3}))?$/.exec(entry);
  const net = range?.[1] ?? '';
  const widest = isIPv4(net) ? 32 : 128;
  const bits = Number(range?.[2] ?? widest);
  if (isIP(net) === 0 || bits > widest) {
    return /^[a-z0-9_.-]+$/i.test(entry) ? { host: canonicalHost(entry) } : null;
  }
  const list = new BlockList();
  list.addSubnet(net, bits, isIPv4(net) ? 'ipv4' : 'ipv6');
  return { list };
}

const usualPorts = [80, 443, 389, 636];

/** The entry of `outbound.allow` for a host and port, without a port that URLs omit. */
export function entryFor(host: string, port: number): string {
  if (usualPorts.includes(port)) return host;
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * A host name in the one form used for comparison: lower case, without brackets and the root's dot.
 */
export function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function v6Kinds() {
  return ipv6.map(([kind, net, bits]) => ({ kind, list: ranges([[net, bits]]) }));
}

/**
 * The range itself, and the same range in mapped, translated (RFC 6052) and 6to4 (RFC 3056)
 * addresses.
 */
function withEmbeddings(net: string, bits: number): BlockList {
  const list = new BlockList();
  list.addSubnet(net, bits, 'ipv4');
  list.addSubnet(`::ffff:${net}`, 96 + bits, 'ipv6');
  list.addSubnet(`64:ff9b::${net}`, 96 + bits, 'ipv6');
  list.addSubnet(`2002:${hextets(net)}::`, 16 + bits, 'ipv6');
  return list;
}

function hextets(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

function ranges(nets: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, bits] of nets) list.addSubnet(net, bits, 'ipv6');
  return list;
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? '';
}
