import { isIPv6 } from 'node:net';

/** What stands for one client: an IPv4 address, or the /64 of an IPv6 one, for nobody is given less (security P8). */
export function networkOf(address: string | null): string {
  const bare = address?.split('%')[0] ?? 'unknown';
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.toLowerCase().split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail?.split(':').filter((group) => group !== '') ?? [];
  const gap = tail === undefined ? 0 : 8 - before.length - after.length;
  const groups = [...before, ...Array<string>(gap).fill('0'), ...after];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
