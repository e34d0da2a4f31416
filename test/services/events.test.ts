import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { Account } from '../../src/database/models/account.ts';
import { Event } from '../../src/database/models/event.ts';
import { transaction } from '../../src/database/transaction.ts';
import { listAllEvents, sweepEvents } from '../../src/services/foundation/events/operations.ts';
import { recordEvent, tallyEvent } from '../../src/services/foundation/events/record.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { dialect } from '../support/database.ts';
import { pagesOf, readAll } from '../support/events.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { team } from '../support/team.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ events: { retention: '30d' } });
});
afterAll(() => idctl.close());

test('spec §6 a cursor reads each event once and in order, and later the new events', async () => {
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  const path = `/api/v1/orgs/${slug}/events`;
  const add = (domain: string) => addDomain(idctl.operator(), { org: slug, domain });
  const names = [1, 2, 3].map(() => `${fresh('d')}.test`);
  for (const name of names) await add(name);
  const read = pagesOf(client, `${path}?kind=domain.added`);
  const before = await readAll(read);
  expect(before.events.map(({ subject }) => subject?.name)).toEqual(names);
  const later = `${fresh('d')}.test`;
  await add(later);
  const after = await readAll(read, before.cursor);
  expect(after.events.map(({ subject }) => subject?.name).at(-1)).toBe(later);
  expect([before.cursor, after.cursor]).toEqual([
    before.events.at(-1)?.id,
    after.events.at(-1)?.id,
  ]);
  if (dialect === 'sqlite') {
    expect([before.repeats, after.repeats, after.events.length]).toEqual([0, 0, 1]);
    expect([before.more, after.more]).toEqual([[true, false], [false]]);
  }
  expect(await client.get(`${path}?kind=domain.verifed`)).toMatchObject({ status: 400 });
});

test('spec §6 events of one millisecond keep their order, also those that are counted', async () => {
  const { id: organizationId } = await organization(idctl);
  const about = (name: string) => ({ organizationId, subject: { type: 'client', id: name, name } });
  const names = Array.from({ length: 40 }, (_, at) => `c${at}`);
  await transaction(async () => {
    for (const name of names) {
      const data = { reason: 'not_a_member' as const };
      const what = { kind: 'client.refused' as const, ...about(name), data };
      await tallyEvent(idctl.operator(), what, { of: name, apart: '' });
    }
  });
  const { items } = await listAllEvents(idctl.operator(), { limit: 200, kind: 'client.refused' });
  expect(items.map(({ subject }) => subject?.name)).toEqual(names);
});

test('spec §6 a list can be limited to a kind or a group of kinds, and to events since a time or within a period', async () => {
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  await pause(2);
  const at = new Date().toISOString();
  await addDomain(idctl.operator(), { org: slug, domain: `${fresh('d')}.test` });
  const kinds = async (query: string) => {
    const { body } = await client.get(`/api/v1/orgs/${slug}/events?${query}`);
    return body.items?.map(({ kind }: { kind: string }) => kind) ?? body.errors[0].path;
  };
  const all = ['organization.created', 'member.added', 'domain.added'];
  expect(await kinds('kind=*')).toEqual(all);
  expect(await kinds('kind=member.*')).toEqual(['member.added']);
  expect(await kinds(`since=${at}`)).toEqual(['domain.added']);
  expect(await kinds(`since=${at}&kind=member.*`)).toEqual([]);
  expect(await kinds('since=1d')).toEqual(all);
  expect(await kinds('since=99999d')).toEqual(all);
  for (const wrong of ['since=soon', 'kind=mem*', 'kind=member', 'kind=.*']) {
    expect(await kinds(wrong)).toBe(wrong.slice(0, wrong.indexOf('=')));
  }
});

test('spec §6 a list can be limited to a period, of days, times or ages', async () => {
  const { slug, owner } = await organization(idctl);
  const client = await signedIn(idctl, owner.email);
  await pause(2);
  const at = new Date();
  await addDomain(idctl.operator(), { org: slug, domain: `${fresh('d')}.test` });
  const kinds = async (query: Record<string, string>) => {
    const path = `/api/v1/orgs/${slug}/events?${new URLSearchParams(query)}`;
    const { body } = await client.get(path);
    return body.items?.map(({ kind }: { kind: string }) => kind) ?? body.errors[0].path;
  };
  const early = ['organization.created', 'member.added'];
  const time = at.toISOString();
  const day = (days: number) =>
    new Date(at.getTime() + days * 86_400_000).toISOString().slice(0, 10);
  expect(await kinds({ from: time })).toEqual(['domain.added']);
  expect(await kinds({ to: time })).toEqual(early);
  expect(await kinds({ from: day(0), to: day(0) })).toEqual([...early, 'domain.added']);
  expect(await kinds({ from: day(1) })).toEqual([]);
  expect(await kinds({ to: day(-1) })).toEqual([]);
  expect(await kinds({ to: '1d' })).toEqual([]);
  expect(await kinds({ from: '1d', since: time })).toEqual(['domain.added']);
  expect(await kinds({ from: time, since: '1d' })).toEqual(['domain.added']);
  for (const field of ['from', 'to', 'since'])
    for (const wrong of ['2026-02-30', 'soon', '2026-11-20T12:00', '9d9'])
      expect(await kinds({ [field]: wrong })).toBe(field);
});

test('spec §6 a list can be limited to what a person did, and what happened to them', async () => {
  const { org, people, clients } = await team(idctl);
  const { owner, admin, member } = people;
  const path = `/api/v1/orgs/${org.slug}`;
  await clients.owner.send('PATCH', `${path}/members/${member.id}`, { body: { role: 'admin' } });
  await clients.member.post(`${path}/projects`, { name: 'Website' });
  await clients.owner.send('PATCH', `${path}/members/${member.id}`, { body: { role: 'member' } });
  await clients.member.send('DELETE', `${path}/members/me`);
  const kinds = async (person: string, more = '') => {
    const { body } = await clients.admin.get(`${path}/events?person=${person}${more}`);
    return body.items.map(({ kind }: { kind: string }) => kind);
  };
  const changed = ['member.role.changed', 'project.created', 'member.role.changed'];
  const all = ['member.added', ...changed, 'member.removed'];
  expect(await kinds(member.id)).toEqual(all);
  expect(await kinds(owner.email)).toEqual([
    'member.added',
    'member.role.changed',
    'member.role.changed',
  ]);
  expect(await kinds(member.id, '&kind=member.role.*')).toEqual(
    changed.filter((_, at) => at !== 1),
  );
  expect(await kinds(member.id, '&from=1d&to=1d')).toEqual([]);
  expect(await kinds(admin.email.toUpperCase())).toEqual(['member.added']);
  const pages = await readAll(pagesOf(clients.admin, `${path}/events?person=${member.id}`));
  expect(pages.events.map(({ kind }) => kind)).toEqual(all);
  if (dialect === 'sqlite') expect([pages.repeats, pages.more]).toEqual([0, [true, true, false]]);
  const wrong = await clients.admin.get(`${path}/events?person=Ben`);
  expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, 'person']);
});

describe('I4 the address of a person who has left', () => {
  test('I4 finds their events only if it is on a domain of the organization', async () => {
    const { org, people, clients } = await team(idctl);
    const { member } = people;
    const path = `/api/v1/orgs/${org.slug}`;
    const found = async (person: string) => {
      const { body } = await clients.admin.get(`${path}/events?person=${person}`);
      return body.items.length;
    };
    expect(await found(member.email)).toBe(1);
    await clients.member.send('DELETE', `${path}/members/me`);
    const hidden = `${fresh('new')}@elsewhere.test`;
    const move = (email: string) =>
      transaction(() => Account.update({ email }, { where: { id: member.id } }));
    await move(hidden);
    expect([await found(hidden), await found('nobody@elsewhere.test')]).toEqual([0, 0]);
    const own = `${fresh('own')}@${await verifiedDomain(idctl, org.slug)}`;
    await move(own);
    expect([await found(own), await found(member.id)]).toEqual([2, 2]);
  });
});

test('O7 the events of a person in another organization are not found', async () => {
  const [one, other] = [await team(idctl), await team(idctl)];
  const { body } = await one.clients.admin.get(
    `/api/v1/orgs/${one.org.slug}/events?person=${other.people.member.id}`,
  );
  expect(body.items).toEqual([]);
});

/** The cursor after the latest event. */
async function nowCursor(ctx: Context): Promise<string | undefined> {
  const { cursor } = await readAll((cursor) => listAllEvents(ctx, { limit: 200, cursor }));
  return cursor;
}

test('only the operator lists the events of all organizations, and events without an organization', async () => {
  const from = await nowCursor(idctl.operator());
  const { id } = await person(idctl);
  const { slug } = await organization(idctl);
  const after = await listAllEvents(idctl.operator(), { limit: 50, cursor: from });
  const address = expect.stringContaining('@');
  expect(after.items[0]).toMatchObject({
    kind: 'user.created',
    subject: { id },
    organization: null,
    address,
  });
  expect(after.items.at(-1)).toMatchObject({ kind: 'member.added', organization: slug, address });
  const within = await listAllEvents(idctl.operator(), { limit: 50, cursor: from, org: slug });
  expect(within.items.map(({ kind }) => kind)).toEqual(['organization.created', 'member.added']);
  expect(within.items[0]).not.toHaveProperty('address');
  const owner = { kind: 'user', accountId: id, name: 'x', via: 'session', sessionId: id } as const;
  await expect(listAllEvents(idctl.as(owner), { limit: 1 })).rejects.toMatchObject({
    code: 'forbidden',
  });
});

test('events older than events.retention are deleted, however many; the others stay', async () => {
  const ctx = idctl.operator();
  await transaction(async () => {
    for (let n = 0; n < 2500; n += 1) await recordEvent(ctx, { kind: 'user.enabled' });
  });
  await sweepEvents(idctl.operator());
  expect(await Event.count({ where: { kind: 'user.enabled' } })).toBe(2500);
  idctl.wait(30 * 86_400);
  await transaction(() => recordEvent(idctl.operator(), { kind: 'user.disabled' }));
  idctl.wait(60);
  await sweepEvents(idctl.operator());
  expect((await Event.findAll()).map(({ kind }) => kind)).toEqual(['user.disabled']);
}, 60_000);

/**
 * Records `user.disabled` in a transaction that stays open. Returns a function that commits it; so
 * does the end of the test.
 */
async function recordSlowly(ctx: Context): Promise<() => Promise<void>> {
  const gate = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  const slow = transaction(async () => {
    await recordEvent(ctx, { kind: 'user.disabled' });
    written.resolve();
    await gate.promise;
  });
  await written.promise;
  const commit = () => {
    gate.resolve();
    return slow;
  };
  onTestFinished(commit);
  return commit;
}

test.runIf(dialect === 'postgres')(
  'spec §6 the events of a slow transaction are not skipped: the cursor waits, and a later event may come twice',
  async () => {
    const ctx = idctl.operator();
    const cursor = await nowCursor(ctx);
    const commit = await recordSlowly(ctx);
    await transaction(() => recordEvent(ctx, { kind: 'user.enabled' }));
    const early = await listAllEvents(ctx, { limit: 50, cursor });
    expect(early.items.map(({ kind }) => kind)).toEqual(['user.enabled']);
    await commit();
    const read = (after?: string) => listAllEvents(ctx, { limit: 50, cursor: after });
    const late = await readAll(read, early.nextCursor);
    expect(late.events.map(({ kind }) => kind).slice(-2)).toEqual([
      'user.disabled',
      'user.enabled',
    ]);
    expect(late.cursor).toBe(late.events.at(-1)?.id);
  },
);

test.runIf(dialect === 'postgres')(
  'spec §6 during a slow transaction, the cursor stays before its events even if later events fill a page, and hasMore is false',
  async () => {
    const ctx = idctl.operator();
    const cursor = await nowCursor(ctx);
    const commit = await recordSlowly(ctx);
    for (let n = 0; n < 4; n += 1)
      await transaction(() => recordEvent(ctx, { kind: 'user.enabled' }));
    const read = (after?: string | null) =>
      listAllEvents(ctx, { limit: 2, cursor: after ?? undefined });
    let page = await read(cursor);
    while (page.hasMore) page = await read(page.nextCursor);
    expect(await read(page.nextCursor)).toEqual(page);
    await commit();
    const { events } = await readAll(read, page.nextCursor);
    expect(events.map(({ kind }) => kind).slice(-5)).toEqual([
      'user.disabled',
      ...Array(4).fill('user.enabled'),
    ]);
  },
);
