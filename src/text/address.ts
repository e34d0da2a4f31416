import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

// All rules about network addresses are in this file. Decision 16 says why no package is used.

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

// RFC 6890 and the IANA special-purpose registries. The first matching kind wins. An IPv4 range
// also covers its addresses embedded in IPv6.
const special: [AddressKind, string][] = [
  ['metadata', '169.254.169.254/32'],
  ['metadata', '168.63.129.16/32'], // Azure, inside a public range
  ['metadata', '100.100.100.200/32'],
  ['unspecified', '0.0.0.0/8'],
  ['loopback', '127.0.0.0/8'],
  ['private', '10.0.0.0/8'],
  ['private', '172.16.0.0/12'],
  ['private', '192.168.0.0/16'],
  ['link-local', '169.254.0.0/16'],
  ['shared', '100.64.0.0/10'],
  ['multicast', '224.0.0.0/4'],
  ['reserved', '192.0.0.0/24'],
  ['reserved', '192.0.2.0/24'],
  ['reserved', '192.88.99.0/24'],
  ['reserved', '198.18.0.0/15'],
  ['reserved', '198.51.100.0/24'],
  ['reserved', '203.0.113.0/24'],
  ['reserved', '240.0.0.0/4'],
  ['metadata', 'fd00:ec2::254/128'],
  ['metadata', 'fd20:ce::254/128'],
  ['unspecified', '::/128'],
  ['loopback', '::1/128'],
  ['private', 'fc00::/7'],
  ['link-local', 'fe80::/10'],
  ['private', 'fec0::/10'],
  ['multicast', 'ff00::/8'],
  ['reserved', '2001::/23'], // Teredo and protocol assignments
  ['reserved', '2001:db8::/32'],
  ['reserved', '3fff::/20'],
];

// Outside these ranges, no Internet host has an IPv6 address.
const routable = ['2000::/3', '::ffff:0:0/96', '64:ff9b::/96'];

/** Each special range with its kind, and the routable IPv6 ranges. Built at the first use. */
let ranges: { kinds: { kind: AddressKind; list: BlockList }[]; routable: BlockList } | undefined;

/** The kind of an IPv4 or IPv6 address, or of an IPv4 address wrapped in an IPv6 one. */
export function kindOf(address: string): AddressKind {
  ranges ??= { kinds: special.map(rangeOfKind), routable: listOf(routable) };
  const found = ranges.kinds.find(({ list }) => isIn(list, address));
  if (found) return found.kind;
  const bare = withoutZone(address);
  return isIPv4(bare) || isIn(ranges.routable, bare) ? 'public' : 'reserved';
}

function rangeOfKind([kind, range]: [AddressKind, string]) {
  return { kind, list: listOf(range.includes(':') ? [range] : [range, ...embeddings(range)]) };
}

/** The IPv6 ranges that embed an IPv4 range: mapped, translated (RFC 6052) and 6to4 (RFC 3056). */
function embeddings(range: string): string[] {
  const [net = '', bits] = range.split('/');
  const [a = 0, b = 0, c = 0, d = 0] = net.split('.').map(Number);
  const hextets = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const inner = 96 + Number(bits);
  return [
    `::ffff:${net}/${inner}`,
    `64:ff9b::${net}/${inner}`,
    `2002:${hextets}::/${16 + Number(bits)}`,
  ];
}

function listOf(ranges: string[]): BlockList {
  const list = new BlockList();
  for (const text of ranges) if (!addRange(list, text)) throw new Error(`${text} is not a range`);
  return list;
}

/** Parses an address, or a range such as `10.0.0.0/8`; null for any other text. */
export function parseRange(text: string): BlockList | null {
  const list = new BlockList();
  return addRange(list, text) ? list : null;
}

function addRange(list: BlockList, text: string): boolean {
  const [, net = '', digits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(net);
  const widest = family === 4 ? 32 : 128;
  const bits = Number(digits ?? widest);
  if (family === 0 || bits > widest) return false;
  list.addSubnet(net, bits, family === 4 ? 'ipv4' : 'ipv6');
  return true;
}

/** Whether an address is in a list of ranges. Ignores the zone of the address. */
export function isIn(list: BlockList, address: string): boolean {
  const bare = withoutZone(address);
  const family = isIP(bare);
  return family !== 0 && list.check(bare, family === 4 ? 'ipv4' : 'ipv6');
}

/** Whether this host is the machine itself. Accepts a host as in a URL, or without the brackets. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || (isIPv4(host) && host.startsWith('127.'));
}

/** A host name as it is compared: lower case, without brackets and without the final dot. */
export function canonicalHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/**
 * The network that counts as one client (security P8): an IPv4 address, or an IPv6 /64. One client
 * can use every address of a /64.
 */
export function networkOf(address: string | null): string {
  return blockOf(address, 4);
}

/** The /48 of an IPv6 address, the largest block that a site gets; an IPv4 address unchanged. */
export function siteOf(address: string | null): string {
  return blockOf(address, 3);
}

/** The block with the first `length` groups of an IPv6 address; an IPv4 address unchanged. */
function blockOf(address: string | null, length: 3 | 4): string {
  const bare = address === null ? 'unknown' : withoutZone(address);
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':').filter((group) => group !== '') ?? [];
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(gap).fill('0'), ...after];
  return `${groups
    .slice(0, length)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/${length * 16}`;
}

function withoutZone(address: string): string {
  return address.split('%')[0] ?? '';
}

// Letters, digits and hyphens, or an IP address. URLs allow more characters. A `;` would add a
// directive to the Content-Security-Policy of a page that names the origin.
const plainHost = /^([a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*|\[[\da-f:.]+\])$/;

/** Whether the host of a URL is a plain name or an IP address. */
export function isPlainHost(hostname: string): boolean {
  return plainHost.test(hostname);
}
