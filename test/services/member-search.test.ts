import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { peopled } from '../support/peopled.ts';
import { scimClient } from '../support/scim-client.ts';

// Members are found by a part of their name or address, page by page, and by role.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

describe('the search for members', () => {
  test('finds a part of the name or address, in any case', async () => {
    const { org, found } = await peopled(idctl, [
      'Grace Hopper',
      'Ömer Çelik',
      '100% Bob_',
      'Bobby',
    ]);
    expect(await found({ q: 'hopp' })).toEqual(['Grace Hopper']);
    expect(await found({ q: 'ÖMER ç' })).toEqual(['Ömer Çelik']);
    expect(await found({ q: `${org.slug}-3@EXAMPLE` })).toEqual(['Bobby']);
    expect(await found({ q: 'bob' })).toEqual(['100% Bob_', 'Bobby']);
    expect(await found({ q: '0%' })).toEqual(['100% Bob_']);
    expect(await found({ q: 'b_' })).toEqual(['100% Bob_']);
    expect(await found({ q: '\\' })).toEqual([]);
    expect(await found({ q: 'nobody' })).toEqual([]);
  });

  test('filters by role', async () => {
    const { org, found } = await peopled(idctl, ['Grace Hopper']);
    expect(await found({ role: 'owner' })).toEqual(['Ada Byron']);
    expect(await found({ role: 'member', q: 'ada' })).toEqual([]);
    expect(await found({ role: 'owner', q: (org.owner.email ?? '').slice(0, 8) })).toHaveLength(1);
  });

  test('a page leads to the next one and back, with and without a search', async () => {
    const names = Array.from({ length: 7 }, (_, at) => `Person ${at}`);
    const { list } = await peopled(idctl, names);
    for (const q of [{}, { q: 'person' }]) {
      const seen: string[][] = [];
      let page = await list({ ...q, limit: '3' });
      expect(page.previousCursor).toBeNull();
      for (;;) {
        seen.push(page.items.map(({ name }: { name: string }) => name));
        if (page.nextCursor === null) break;
        page = await list({ ...q, limit: '3', cursor: page.nextCursor });
      }
      expect(seen.flat().filter((name) => name !== 'Ada Byron')).toEqual(names);
      const back: string[][] = [];
      while (page.previousCursor !== null) {
        page = await list({ ...q, limit: '3', before: page.previousCursor });
        back.unshift(page.items.map(({ name }: { name: string }) => name));
      }
      expect(back).toEqual(seen.slice(0, -1));
    }
  });

  test('O7 finds only members of this organization', async () => {
    await peopled(idctl, ['Grace Hopper']);
    const { found } = await peopled(idctl, []);
    expect(await found({ q: 'hopper' })).toEqual([]);
    expect(await found({ q: 'example.test' })).toEqual(['Ada Byron']);
  });
});

describe('I4 O8 the search for a person that SCIM added at a foreign address', () => {
  test('I4 O8 finds what the SCIM client wrote, and nothing of the account', async () => {
    const rival = await scimClient(idctl);
    const stranger = await person(idctl);
    await rival.create({ userName: stranger.email ?? '', displayName: 'Nobody Known' });
    const owner = await signedIn(idctl, rival.org.owner.email);
    const found = async (q: string) => {
      const path = `/api/v1/orgs/${rival.org.slug}/members?role=member&q=${encodeURIComponent(q)}`;
      return (await owner.get(path)).body.items.map(({ name }: { name: string }) => name);
    };
    expect(await found('byron')).toEqual([]);
    expect(await found('y known')).toEqual(['Nobody Known']);
    expect(await found(stranger.email ?? '')).toEqual(['Nobody Known']);
    const domain = await verifiedDomain(idctl, rival.org.slug);
    const own = await person(idctl, `eve@${domain}`);
    await rival.create({ userName: own.email ?? '', displayName: 'Nobody Known' });
    expect(await found('byron')).toEqual(['Ada Byron']);
  });
});
