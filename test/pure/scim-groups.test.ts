import { expect, test } from 'vitest';
import { readAllRows } from '../../src/services/foundation/page.ts';
import { readGroupPatch } from '../../src/services/provisioning/scim/groups/patch.ts';
import { readGroup } from '../../src/services/provisioning/scim/groups/read.ts';
import { turnsDuring } from '../support/turns.ts';

const id = (at: number) => `0199c3a4-7c1e-7d55-8d1f-${String(at).padStart(12, '0')}`;
const members = Array.from({ length: 2000 }, (_, at) => ({ value: id(at) }));

test('in every request, a long list of members does not block the event loop', async () => {
  const operation = { op: 'add', path: 'members', value: members };
  const one = (member: object) => ({ ...operation, value: [member] });
  const body = { displayName: 'dev', members };
  const works: [least: number, work: () => Promise<unknown>][] = [
    [9, () => readGroup(body)],
    // readGroupPatch first checks all keys of an operation, so these take more turns.
    [18, () => readGroupPatch({ Operations: [operation] })],
    [18, () => readGroupPatch({ Operations: [{ op: 'replace', value: body }] })],
    [18, () => readGroupPatch({ Operations: [{ ...operation, op: 'remove' }] })],
    [18, () => readGroupPatch({ Operations: members.map(one) })],
  ];
  for (const [least, work] of works)
    expect(await turnsDuring(work())).toBeGreaterThanOrEqual(least);
});

test('all rows of a long list are read, a bounded number at a time', async () => {
  const rows = Array.from({ length: 2500 }, (_, at) => ({ id: id(at) }));
  const counts: number[] = [];
  const load = async (after: string, count: number) => {
    const some = rows.filter((row) => row.id > after).slice(0, count);
    counts.push(some.length);
    return some;
  };
  expect(await readAllRows(load)).toEqual(rows);
  expect(counts).toEqual([1000, 1000, 500]);
});

test('a list of members is read up to the first invalid member', async () => {
  const trap = {
    get value(): string {
      throw new Error('read too far');
    },
  };
  const value = [{ value: id(1) }, 0, trap];
  const refused = { code: 'scim_invalid', message: 'members: this organization has no User 0.' };
  await expect(readGroup({ displayName: 'dev', members: value })).rejects.toMatchObject(refused);
});

test('more members or attributes than fit into a body are refused unread', async () => {
  const Operations = [{ op: 'remove', path: 'members', value: Array(110_001).fill(0) }];
  const unfit = { code: 'scim_invalid' };
  await expect(readGroupPatch({ Operations })).rejects.toMatchObject(unfit);
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`a${at}`, 0]));
  const named = { displayName: 'dev', ...many };
  await expect(readGroup(named)).rejects.toMatchObject(unfit);
  const patch = { Operations: [{ op: 'add', value: named }] };
  await expect(readGroupPatch(patch)).rejects.toMatchObject(unfit);
});

test('an element without a value is refused, and empties no group', async () => {
  const unfit = { code: 'scim_invalid', message: 'A member needs a value: the id of a User.' };
  for (const element of [{}, null, [], { id: id(1) }, { value: '' }, { value: null }]) {
    const value = [{ value: id(1) }, element];
    await expect(readGroup({ displayName: 'dev', members: [element] })).rejects.toMatchObject(
      unfit,
    );
    for (const op of ['add', 'replace', 'remove'])
      for (const given of [value, [element]]) {
        const Operations = [{ op, path: 'members', value: given }];
        await expect(readGroupPatch({ Operations })).rejects.toMatchObject(unfit);
      }
  }
});
