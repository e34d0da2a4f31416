import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebhookDelivery } from '../../src/database/models/webhook-delivery.ts';
import { listEvents } from '../../src/services/foundation/events/operations.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import type { Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { clientOf, filtered, scimClient } from '../support/scim-client.ts';

// An organization adds addresses on domains that it has not verified. Nothing that it sees may show
// whether there was an account.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
});
afterAll(() => idctl.close());

/** The view as text. Constants replace the ids, the times, and the word in the person's address. */
function blurred(view: unknown, word: string): string {
  return JSON.stringify(view, null, 1)
    .replace(new RegExp(word, 'gi'), 'WORD')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, 'TIME');
}

/** Runs the steps with an organization's SCIM client; returns all that the organization sees. */
async function watched(
  word: string,
  exists: boolean,
  steps: (email: string) => Step[],
): Promise<string> {
  const org = await organization(idctl);
  const owner = await signedIn(idctl, org.owner.email);
  const { token } = (await owner.post(`/api/v1/orgs/${org.slug}/scim-token`)).body;
  const client = clientOf(idctl, org, token);
  const webhook = await addWebhook(idctl.operator(), {
    org: org.slug,
    url: 'http://127.0.0.1:1/',
    events: ['*'],
  });
  const email = `${word}@elsewhere.test`;
  if (exists) await person(idctl, email);
  const seen: unknown[] = [];
  let id = '';
  for (const step of steps(email)) {
    const { status, body, headers } = await step(client, id);
    id = body?.id ?? id;
    seen.push({ status, body, etag: headers['etag'] });
    seen.push(await views(owner, org.slug));
    seen.push((await client.get(`/Users/${id}`)).body, (await client.get('/Users')).body);
    seen.push((await client.get(filtered(`emails eq "${email}"`))).body);
    const same = { body: { role: 'member' } };
    const found = await owner.send('PATCH', `/api/v1/orgs/${org.slug}/members/${email}`, same);
    seen.push(found.status, found.body.name);
  }
  seen.push((await listEvents(idctl.operator(), { org: org.slug, limit: 200 })).items);
  const sent = await WebhookDelivery.findAll({ where: { webhookId: webhook.id }, order: ['id'] });
  seen.push(sent.map(({ event, body }) => [event, JSON.parse(body)]));
  const own = [org.id, org.slug, org.name, org.owner.email ?? '', token.slice(0, 9)];
  return own.reduce((text, each) => text.replaceAll(each, 'OWN'), blurred(seen, word));
}

type Step = (
  client: ReturnType<typeof clientOf>,
  id: string,
) => Promise<Awaited<ReturnType<ReturnType<typeof clientOf>['send']>>>;

/** The lists of members, sorted by name because their order by id is random, and of SCIM users. */
async function views(owner: Client, org: string) {
  const at = (path: string) => `/api/v1/orgs/${org}/${path}`;
  const read = async (path: string) => {
    const { items } = (await owner.get(at(path))).body;
    return items.toSorted((one: Item, other: Item) => one.name.localeCompare(other.name));
  };
  const [project] = (await owner.get(at('projects'))).body.items;
  const { id } = project ?? (await owner.post(at('projects'), { name: 'Site' })).body;
  const members = await read('members');
  const added = [];
  for (const { userId } of members) {
    const { status, body } = await owner.send('PUT', at(`projects/${id}/members/${userId}`), {
      body: { role: 'viewer' },
    });
    added.push({ status, body });
  }
  const users = (await owner.get(at('scim-users'))).body;
  return { members, added, inProject: await read(`projects/${id}/members`), users };
}

interface Item {
  userId: string;
  name: string;
}

const patch =
  (...operations: object[]): Step =>
  (client, id) =>
    client.patch(id, ...operations);
const off = patch({ op: 'replace', path: 'active', value: false });
const on = patch({ op: 'replace', path: 'active', value: true });
const renamed = patch({ op: 'replace', path: 'name.formatted', value: 'Another Name' });
const moved = (email: string) =>
  patch({ op: 'replace', path: 'emails', value: [{ value: email }] });

const journeys: [string, (email: string) => Step[]][] = [
  [
    'a User without a name',
    (email) => [(client) => client.send('POST', '/Users', { userName: email }), off, on],
  ],
  [
    'a User with a name, renamed by PATCH and PUT',
    (email) => [
      (client) => client.send('POST', '/Users', { userName: email, name: { formatted: 'A Name' } }),
      renamed,
      (client, id) =>
        client.send('PUT', `/Users/${id}`, { userName: email, displayName: 'Third Name' }),
    ],
  ],
  [
    'a User named by login, who moves to another address, leaves and comes back',
    (email) => [
      (client) =>
        client.send('POST', '/Users', {
          userName: `login-${email.split('@')[0]}`,
          emails: [{ value: email }],
        }),
      moved(`other-${email}`),
      (client, id) => client.send('DELETE', `/Users/${id}`),
      (client) =>
        client.send('POST', '/Users', {
          userName: `login-${email.split('@')[0]}`,
          emails: [{ value: email }],
        }),
    ],
  ],
  [
    'a User without an address who gets the address, and a second User with the same address',
    (email) => [
      (client) => client.send('POST', '/Users', { userName: `login-${email.split('@')[0]}` }),
      moved(email),
      (client) => client.send('POST', '/Users', { userName: email, active: false }),
      on,
    ],
  ],
];

test.each(journeys)(
  'I4 no answer tells whether a foreign address had an account: %s',
  async (_, steps) => {
    const unknown = await watched(fresh('victim'), false, steps);
    const existing = await watched(fresh('victim'), true, steps);
    expect(existing).toBe(unknown);
  },
  30_000,
);

test('I4 an account without an address gets one on the organization’s own domain, once the domain is verified', async () => {
  const client = await scimClient(idctl);
  const domain = `${fresh('d')}.test`;
  const { id } = await client.create({ userName: fresh('login') });
  const say = (email: string) =>
    client.patch(id, { op: 'replace', path: 'emails', value: [{ value: email }] });
  await say(`early@${domain}`);
  const owner = await signedIn(idctl, client.org.owner.email);
  const emails = async () =>
    (await owner.get(`/api/v1/orgs/${client.org.slug}/members`)).body.items.map(
      ({ email }: { email: string | null }) => email,
    );
  expect(await emails()).toContain(null);
  await verifiedDomain(idctl, client.org.slug, domain);
  await say(`late@${domain}`);
  expect(await emails()).toContain(`late@${domain}`);
});
