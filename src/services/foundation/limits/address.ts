import { isIPv6 } from 'node:net';

/** The network that counts as one client: an IPv4 address, or an IPv6 /64 (security P8). */
export function networkOf(address: string | null): string {
  return blockOf(address, 4);
}

/** The /48 of an IPv6 address, the most that a site gets; an IPv4 address as it is. */
export function siteOf(address: string | null): string {
  return blockOf(address, 3);
}

/** The first groups of an IPv6 address as a block of addresses; an IPv4 address as it is. */
function blockOf(address: string | null, length: 3 | 4): string {
  const bare = address?.split('%')[0] ?? 'unknown';
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

/** The mailbox of a canonical address, without a `+tag` (security P10). For limits alone. */
export function mailboxOf(email: string): string {
  return email.replace(/(?<=[^@])\+[^@]*(?=@)/, '');
}
