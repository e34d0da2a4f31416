import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deliverWebhooks } from '../../src/services/tenancy/webhooks/delivery/deliver.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type Opened, open } from '../support/pages.ts';
import { answering, isSignedBy, type Receiver, startReceiver } from '../support/receiver.ts';
import { team } from '../support/team.ts';

// The page with the settings of an organization, and the pages of its webhooks.

let idctl: Idctl;
let receiver: Receiver;
beforeAll(async () => {
  idctl = await openIdctl({ limits: { enabled: 'off' }, outbound: { allow: ['127.0.0.1'] } });
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver?.stop();
  await idctl?.close();
});
beforeEach(() => {
  receiver.behave(answering(204));
  receiver.received.length = 0;
});

const of = ({ slug }: { slug: string }) => `/orgs/${slug}/settings`;
const turn = () => ({
  stop: new AbortController().signal,
  anew: () => idctl.as({ kind: 'system', name: 'webhooks' }),
});
const deliver = () => deliverWebhooks(turn().anew(), turn());
const secretIn = ({ body }: Opened) =>
  /<code class="secret">(whsec_[^<]*)</.exec(String(body))?.[1] ?? '';

/** A team with a webhook to the receiver, which an admin added on the page. */
async function hooked(events = '') {
  const all = await team(idctl);
  const page = await open(all.clients.admin, of(all.org));
  const added = await page.submit(`${of(all.org)}/webhooks`, { url: receiver.url, events });
  const [, at = ''] = /href="([^"]*\/webhooks\/[\w-]{36})"/.exec(added.body) ?? [];
  return { ...all, at, added };
}

describe('the settings', () => {
  test('X10 only admins and owners open them; only owners see name and deletion', async () => {
    const { org, clients, at } = await hooked();
    for (const path of [of(org), at, `${at}/remove`]) {
      const roles = ['owner', 'admin', 'member', 'stranger'] as const;
      const statuses = roles.map(async (role) => (await open(clients[role], path)).status);
      expect([path, ...(await Promise.all(statuses))]).toEqual([path, 200, 200, 403, 404]);
    }
    const page = await open(clients.admin, of(org));
    expect(page.text).not.toMatch(/Rename|Delete organization/);
    expect((await clients.admin.form(`${of(org)}/name`, { name: 'Mine' })).status).toBe(403);
    expect((await open(clients.admin, `${of(org)}/delete`)).status).toBe(403);
    expect((await open(clients.member, `/orgs/${org.slug}`)).body).not.toContain(of(org));
  });

  test('an owner renames the organization; a refused form keeps what was typed', async () => {
    const { org, clients } = await team(idctl);
    const page = await open(clients.owner, of(org));
    const long = 'x'.repeat(201);
    const refused = await page.submit(`${of(org)}/name`, { name: long });
    expect(refused.text).toContain('Name must have at most 200 characters.');
    expect(refused.body).toContain(`value="${long}"`);
    const renamed = await refused.submit(`${of(org)}/name`, { name: 'Acme <b>Ltd' });
    expect(renamed.text).toContain('The organization was renamed.');
    expect(renamed.body).toContain('<h1>Settings of Acme &lt;b&gt;Ltd</h1>');
  });

  test('X10 an owner deletes the organization, after a page that says who loses what', async () => {
    const { org, clients } = await team(idctl);
    const asks = await open(clients.owner, `${of(org)}/delete`);
    expect(asks.text).toContain(`Delete ${org.name} (3 members)?`);
    expect(asks.text).toMatch(
      /projects, domains, connections, applications and webhooks are deleted too\. The accounts .* stay/,
    );
    expect((await open(clients.member, `/orgs/${org.slug}`)).status).toBe(200);
    const gone = await asks.submit(`${of(org)}/delete`);
    expect([gone.status, gone.text]).toEqual([
      200,
      expect.stringContaining('The organization was deleted.'),
    ]);
    expect((await open(clients.owner, of(org))).status).toBe(404);
  });
});

describe('a webhook', () => {
  test('X10 its secret is shown once, and signs; a new one signs after a rotation', async () => {
    const { clients, at, added } = await hooked();
    const secret = secretIn(added);
    expect(secret).not.toBe('');
    const page = await open(clients.admin, at);
    expect(page.body).not.toContain(secret);
    const tested = await page.submit(`${at}/test`);
    expect(tested.text).toContain('ok The webhook accepted the message and answered 204.');
    expect(receiver.received.map((one) => isSignedBy(secret, one))).toEqual([true]);
    const next = secretIn(await page.submit(`${at}/rotate`));
    expect(next).not.toBe(secret);
    await page.submit(`${at}/test`);
    const [, second] = receiver.received;
    expect(second && isSignedBy(next, second)).toBe(true);
    receiver.behave(answering(500));
    expect((await page.submit(`${at}/test`)).text).toContain('failed The webhook answered 500.');
  });

  test('is changed, switched off and on, and removed after a page that asks', async () => {
    const { org, clients, at } = await hooked('member.*');
    const page = await open(clients.admin, at);
    const saved = await page.submit(at, { enabled: 'true', events: 'domain.added\r\nscim.*' });
    expect(saved.text).toContain('The webhook was changed.');
    expect((await open(clients.admin, of(org))).text).toContain('domain.added, scim.*');
    const wrong = await saved.submit(at, { enabled: 'true', events: 'domain.lost' });
    expect(wrong.text).toContain('Events, line 1, domain.lost is not a kind of event');
    expect(wrong.body).toMatch(/<textarea[^>]* aria-invalid="true">\s*domain\.lost</);
    const off = await saved.submit(at, { enabled: 'false' });
    expect(off.text).toContain('What happens now is not sent later.');
    const stored = await clients.admin.get(`/api/v1/orgs/${org.slug}/webhooks`);
    expect(stored.body.items[0]).toMatchObject({ enabled: false });
    const asks = await open(clients.admin, `${at}/remove`);
    expect(asks.text).toContain(`Remove the webhook to ${receiver.url} and its 0 waiting events?`);
    const removed = await asks.submit(`${at}/remove`);
    expect(removed.text).toContain('The webhook was removed.');
    expect((await open(clients.admin, at)).status).toBe(404);
  });

  test('shows its last messages, and sends one again', async () => {
    const { org, clients, at } = await hooked('project.*');
    receiver.behave(answering(500));
    await clients.admin.post(`/api/v1/orgs/${org.slug}/projects`, { name: 'Website' });
    await deliver();
    const page = await open(clients.admin, at);
    expect(page.text).toMatch(/project\.created waiting The answer was 500\. .*1 attempt/);
    receiver.behave(answering(204));
    const [, retry = ''] = /action="([^"]*\/retry)"/.exec(page.body) ?? [];
    expect((await page.submit(retry)).text).toContain('The message is sent again');
    await deliver();
    expect((await open(clients.admin, at)).text).toContain('project.created delivered');
    const off = await page.submit(at, { enabled: 'false' });
    const refused = await off.submit(retry);
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('The webhook is disabled.'),
    ]);
    expect(refused.body).toContain(`<a href="${at}">Enable it first</a>`);
  });

  test('a refused address keeps what was typed', async () => {
    const { org, clients } = await team(idctl);
    const page = await open(clients.admin, of(org));
    const given = { url: 'http://10.0.0.1/hooks', events: 'scim.*' };
    const refused = await page.submit(`${of(org)}/webhooks`, given);
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining(given.url)]);
    expect(refused.body).toMatch(/<input id="url"[^>]* aria-invalid="true">/);
    expect(refused.body).toContain('scim.*</textarea>');
    expect(refused.text).not.toMatch(/outbound|idctl\.yaml/);
  });
});
