import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allowList } from '../../src/outbound/allow-list.ts';
import { type AddressKind, kindOf } from '../../src/text/address.ts';

const table: [AddressKind, string[]][] = [
  [
    'public',
    [
      '8.8.8.8',
      '1.1.1.1',
      '172.15.255.255',
      '172.32.0.0',
      '100.63.255.255',
      '100.128.0.0',
      '11.0.0.1',
    ],
  ],
  [
    'public',
    ['2606:4700::1111', '2620:fe::fe', '::ffff:8.8.8.8', '64:ff9b::808:808', '2002:808:808::1'],
  ],
  [
    'loopback',
    ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ],
  ['loopback', ['64:ff9b::127.0.0.1', '2002:7f00:1::', '2002:7f00:0001:ffff::1']],
  ['unspecified', ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0']],
  [
    'private',
    ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::', 'fec0::1'],
  ],
  ['private', ['::ffff:10.1.2.3', '64:ff9b::c0a8:101', '2002:a00:1::1']],
  ['link-local', ['169.254.1.1', 'fe80::1', 'febf::1', 'fe80::1%eth0', '::ffff:169.254.1.1']],
  ['shared', ['100.64.0.1', '100.127.255.255', '::ffff:100.64.0.1']],
  [
    'metadata',
    ['169.254.169.254', '::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '168.63.129.16'],
  ],
  ['metadata', ['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254']],
  ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
  [
    'reserved',
    ['192.0.0.192', '198.18.0.1', '203.0.113.9', '240.0.0.1', '255.255.255.255', '2001:db8::1'],
  ],
  [
    'reserved',
    ['::127.0.0.1', '::10.0.0.1', '::ffff:0:10.0.0.1', '64:ff9b:1::a00:1', '2001::1', '100::1'],
  ],
  ['reserved', ['', 'localhost', '127.1', '0x7f.0.0.1', '1.2.3.4.5', '127.0.0.1:80']],
];

describe('S9 the class of an address', () => {
  test.each(table.flatMap(([kind, list]) => list.map((address) => [address, kind] as const)))(
    'S9 %s counts as %s',
    (address, kind) => {
      expect(kindOf(address)).toBe(kind);
    },
  );

  test('S9 an IPv4 address has the same class when it is mapped, translated or in 6to4', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
        const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
        const forms = [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`];
        for (const form of forms) expect(kindOf(form)).toBe(kindOf(address));
        expect(kindOf(`::${hex}`)).not.toBe('public');
      }),
    );
  });

  test('S9 an IPv6 address outside global unicast is not public', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const [first] = new URL(`http://[${address}]/`).hostname.slice(1).split(':');
        if (!/^[23]...$/.test(first ?? '') && !/^\[(::ffff:|64:ff9b::)/.test(`[${address}`)) {
          expect(kindOf(address)).not.toBe('public');
        }
      }),
    );
  });
});

describe('S9 outbound.allow', () => {
  const allow = allowList(['127.0.0.1', '10.0.0.0/8', 'fd00::/8', 'IdP.Internal.']);

  test('S9 accepts names, addresses and ranges', () => {
    expect(allow.fault).toBeUndefined();
    expect(
      ['idp.internal', 'IDP.INTERNAL.', '127.0.0.1', '10.9.9.9', '[fd00::5]'].map(allow.host),
    ).not.toContain(false);
    expect(['::ffff:10.0.0.1', '10.0.0.1'].map(allow.address)).not.toContain(false);
  });

  test('S9 covers nothing beside its entries', () => {
    const others = [
      'internal',
      'x.idp.internal',
      '127.0.0.2',
      '11.0.0.1',
      '[fe80::1]',
      'localhost',
    ];
    expect(others.map(allow.host)).not.toContain(true);
  });

  test('S9 an entry with a port covers that port and no other', () => {
    const ports = allowList(['idp.internal:8443', '10.1.2.3:636', '[::1]:8443']);
    expect(ports.fault).toBeUndefined();
    const covered = (host: string, port: number) => ports.host(host, port);
    expect([
      covered('IDP.internal.', 8443),
      covered('10.1.2.3', 636),
      covered('[::1]', 8443),
    ]).toEqual([true, true, true]);
    expect([ports.address('10.1.2.3', 636), ports.address('::1', 8443)]).toEqual([true, true]);
    const others = [covered('idp.internal', 443), covered('10.1.2.3', 389), covered('::1', 443)];
    expect([...others, ports.address('10.1.2.3', 22), ports.address('10.1.2.4', 636)]).toEqual(
      Array(5).fill(false),
    );
  });

  test.each([
    '10.0.0.0/',
    '10.0.0.0/33',
    'fd00::/129',
    'https://idp.internal',
    'idp.internal:0',
    'idp.internal:65536',
    'idp.internal:https',
    '10.0.0.0/8:443',
    '[fd00::/8]:443',
    '[idp.internal]:443',
    'fd00::5:',
    '*',
    '10.0.0.0/8/8',
  ])('S9 names %s as the wrong entry', (entry) => {
    expect(allowList(['idp.internal', entry]).fault).toBe(entry);
    expect(allowList([entry]).address('8.8.8.8')).toBe(false);
  });
});
