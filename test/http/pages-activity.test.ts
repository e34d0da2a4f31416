import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '../../src/database/transaction.ts';
import { eventAbout, recordEvent } from '../../src/services/foundation/events/record.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { team } from '../support/team.ts';

// The page that tells admins what happened in their organization.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' } });
});
afterAll(() => idctl.close());

const sentencesOn = ({ body }: Opened) =>
  [...String(body).matchAll(/<li>\s*<div><strong>[\d:]+ UTC<\/strong><p>(.*?)<\/p>/g)].map(
    ([, text = '']) => text.replace(/<[^>]*>/g, ''),
  );
const linkOn = ({ body }: Opened, rel: string) =>
  new RegExp(`href="([^"]*)" rel="${rel}"`).exec(String(body))?.[1]?.replaceAll('&amp;', '&');

test('X10 only admins and owners see the activity and its link', async () => {
  const { org, clients } = await team(idctl);
  const path = `/orgs/${org.slug}/activity`;
  const statuses = await Promise.all(
    [clients.owner, clients.admin, clients.member, clients.stranger].map(
      async (client) => (await open(client, path)).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 403, 404]);
  expect((await open(clients.admin, `/orgs/${org.slug}`)).body).toContain(path);
  expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(path);
});

test('the activity tells in sentences who did what to whom, the newest first', async () => {
  const { org, people, clients } = await team(idctl);
  const api = `/api/v1/orgs/${org.slug}`;
  await clients.owner.send('PATCH', '/api/v1/me', { body: { name: 'Grace Hopper' } });
  await clients.owner.send('PATCH', `${api}/members/${people.member.id}`, {
    body: { role: 'admin' },
  });
  await clients.member.send('DELETE', `${api}/members/me`);
  const page = await open(clients.admin, `/orgs/${org.slug}/activity`);
  expect(sentencesOn(page)).toEqual([
    'Ada Byron left the organization.',
    'Grace Hopper made Ada Byron an admin.',
    'The operator of this service added Ada Byron as a member.',
    'The operator of this service added Ada Byron as an admin.',
    'The operator of this service added Ada Byron as an owner.',
    `The operator of this service created the organization ${org.name}.`,
  ]);
  const [, link = ''] = /(\/orgs\/[^"]*)">Grace Hopper</.exec(String(page.body)) ?? [];
  const hers = await open(clients.admin, link);
  expect(sentencesOn(hers)).toEqual([
    'Grace Hopper made Ada Byron an admin.',
    'The operator of this service added Ada Byron as an owner.',
  ]);
  expect(hers.body).toContain(`value="${people.owner.email}"`);
});

test('the activity has pages of fifty, which keep the search', async () => {
  const { org, clients } = await team(idctl);
  await transaction(async () => {
    for (let at = 0; at < 120; at += 1) {
      const about = eventAbout('project', { id: `p${at}`, name: `p${at}` }, org.id);
      await recordEvent(idctl.operator(), { kind: 'project.created', ...about });
    }
  });
  const numbersOn = (page: Opened) =>
    sentencesOn(page).map((text) => Number(/project p(\d+)\.$/.exec(text)?.[1]));
  const from = (first: number, count: number) =>
    Array.from({ length: count }, (_, at) => first - at);
  const first = await open(clients.admin, `/orgs/${org.slug}/activity?kind=project.*`);
  expect([numbersOn(first), linkOn(first, 'prev')]).toEqual([from(119, 50), undefined]);
  const second = await open(clients.admin, linkOn(first, 'next') ?? '');
  const third = await open(clients.admin, linkOn(second, 'next') ?? '');
  expect([numbersOn(second), numbersOn(third)]).toEqual([from(69, 50), from(19, 20)]);
  expect(linkOn(third, 'next')).toBeUndefined();
  const back = await open(clients.admin, linkOn(third, 'prev') ?? '');
  expect(numbersOn(back)).toEqual(numbersOn(second));
  const start = await open(clients.admin, linkOn(back, 'prev') ?? '');
  expect([numbersOn(start), linkOn(start, 'prev')]).toEqual([from(119, 50), undefined]);
  expect(start.body).toContain('<option value="project.*" selected>');
});

test('X10 the search limits kind, person and days, and keeps what was typed', async () => {
  const { org, people, clients } = await team(idctl);
  const domain = `${fresh('d')}.test`;
  await addDomain(idctl.operator(), { org: org.slug, domain });
  const search = (query: Record<string, string>) =>
    open(clients.admin, `/orgs/${org.slug}/activity?${new URLSearchParams(query)}`);
  const all = { kind: 'domain.*', person: '', from: '', to: '' };
  expect(sentencesOn(await search(all))).toEqual([
    `The operator of this service added the domain ${domain}.`,
  ]);
  const one = await search({ ...all, kind: 'domain.added' });
  expect(one.body).toContain('<option value="domain.added" selected>A domain was claimed</option>');
  const today = new Date().toISOString().slice(0, 10);
  const late = await search({
    kind: '',
    person: people.admin.email,
    from: today,
    to: '2020-01-01',
  });
  expect([late.text, late.body]).toEqual([
    expect.stringContaining('There are no such events.'),
    expect.stringMatching(/name="to" type="date" autocomplete="off" value="2020-01-01"/),
  ]);
  expect(late.body).toContain(`value="${people.admin.email}"`);
  const hour = await search({ from: '1h' });
  expect(hour.body).toContain('name="from" type="text" autocomplete="off" value="1h"');
});

test('X10 a wrong search comes back with what was typed, and the fault at its field', async () => {
  const { org, clients } = await team(idctl);
  const wrong = { kind: 'nothing', person: '"><b>Ben', from: 'soon', to: '2026-02-30' };
  const path = `/orgs/${org.slug}/activity?${new URLSearchParams(wrong)}`;
  const page = await open(clients.owner, path);
  expect(page.status).toBe(400);
  expect(page.text).toContain('Person must be an e-mail address or an id.');
  expect(page.text).toContain('From must be a day such as 2026-11-20');
  expect(page.body).toContain('value="&quot;&gt;&lt;b&gt;Ben"');
  for (const name of ['kind', 'person', 'from', 'to'])
    expect(page.body).toMatch(
      new RegExp(`name="${name}"[^>]* aria-describedby="[^"]*refused" aria-invalid="true"`),
    );
  expect(sentencesOn(page)).toEqual([]);
  // The form is for those who may see the activity.
  expect((await open(clients.member, path)).status).toBe(403);
  expect((await open(clients.stranger, path)).status).toBe(404);
});

test('the activity gives the reason of a refusal, and how often it was repeated', async () => {
  const { org, clients } = await team(idctl);
  const subject = { type: 'client', id: 'client-x', name: 'Wiki' };
  const data = {
    reason: 'wrong_password',
    count: 3,
    lastAt: '2026-11-20T12:05:00.000Z',
    references: [],
  };
  await transaction(() =>
    recordEvent(idctl.operator(), {
      kind: 'client.refused',
      organizationId: org.id,
      subject,
      data,
    }),
  );
  const page = await open(clients.admin, `/orgs/${org.slug}/activity?kind=client.*`);
  expect(sentencesOn(page)).toEqual(['Access to the application Wiki was refused.']);
  expect(page.text).toContain('The password is wrong.');
  expect(page.text).toContain('3 times, the last on 20 November 2026 at 12:05 UTC');
});

test('the activity links files of the whole search, which a browser gets with its session', async () => {
  const { org, people, clients } = await team(idctl);
  const path = `/orgs/${org.slug}/activity`;
  const page = await open(clients.admin, `${path}?kind=member.*&person=${people.member.email}`);
  const links = [...String(page.body).matchAll(/href="([^"]*\/download[^"]*)"/g)].map(
    ([, link = '']) => link.replaceAll('&amp;', '&'),
  );
  expect(links).toHaveLength(2);
  const [csv, lines] = await Promise.all(links.map((link) => open(clients.admin, link)));
  expect([csv?.status, String(csv?.body).split('\n')[1]]).toEqual([
    200,
    expect.stringContaining(`member.added,operator,,Ada Byron,${people.member.id},`),
  ]);
  expect(JSON.parse(String(lines?.body))).toMatchObject({ kind: 'member.added' });
  const [link = ''] = links;
  for (const [client, status] of [
    [clients.member, 403],
    [clients.stranger, 404],
  ] as const)
    expect((await client.get(link, { accept: 'text/html' })).status).toBe(status);
  // Without a session, the link leads to the sign-in.
  const asked = await open(idctl.client({ keepCookies: true }), link);
  expect(asked.text).toContain('E-mail address or company domain');
  expect((await open(clients.admin, `${path}?to=2020-01-01`)).body).not.toContain('/download');
});
