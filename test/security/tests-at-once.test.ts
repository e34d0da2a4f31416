import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createOutbound } from '../../src/outbound/create.ts';
import { defaultLimits } from '../../src/outbound/limits.ts';
import { turnsOf } from '../../src/services/foundation/limits/turns.ts';
import { createClient } from '../../src/services/tenancy/clients/operations.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
import { testSso } from '../../src/services/tenancy/sso/test.ts';
import { addWebhook } from '../../src/services/tenancy/webhooks/operations.ts';
import { fresh, signedIn } from '../support/builders.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { answering, type Receiver, startReceiver } from '../support/receiver.ts';
import { connected } from '../support/sso.ts';

// The provider answers only when the test lets it.

let receiver: Receiver;
let idctl: Idctl;
const held: (() => void)[] = [];
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.behave((response, one) => {
    held.push(() => answering(404)(response, one));
  });
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  // A busy machine may take longer than the ten seconds that a provider has.
  const patient = { ...defaultLimits, total: 60_000 };
  idctl.app.outbound = createOutbound(idctl.app.config, () => undefined, patient);
});
afterAll(async () => {
  await receiver.stop();
  await idctl.close();
});

test('S9 O15 an organization can run two tests of connections or domains at once; a third waits five seconds and is refused, and another organization can still test', async () => {
  const issuer = (name: string) => receiver.url.replace('/hooks', `/${name}`);
  const { org } = await connected(idctl, issuer('one'));
  const { domain } = await addDomain(idctl.operator(), {
    org: org.slug,
    domain: `${fresh('late')}.test`,
  });
  const owner = await signedIn(idctl, org.owner.email);
  const at = `/api/v1/orgs/${org.slug}`;
  const running: Promise<Answer>[] = [];
  // Each test has its own issuer, because tests of one issuer share its discovery document.
  const test = (name: string) => ({
    issuer: issuer(name),
    clientId: 'idctl',
    clientSecret: 'secret',
  });
  for (let turn = 0; turn < 2; turn += 1)
    running.push(owner.post(`${at}/sso/test`, test(`turn${turn}`)));
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(2);
  const directory = {
    uri: 'ldap://127.0.0.1:1',
    tls: false,
    bindDn: 'cn=idctl',
    bindPassword: 'secret',
    searchBase: 'dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
  const { webhook, client } = await webhookAndClient(org.slug);
  const began = performance.now();
  const late = [
    owner.post(`${at}/sso/test`, test('late')),
    owner.post(`${at}/ldap/test`, directory),
    owner.post(`${at}/domains/${domain}/verify`, {}),
    owner.post(`${at}/webhooks/${webhook}/test`, {}),
    owner.post(`${at}/clients/${client}/test`, {}),
  ];
  for (const further of late)
    expect(await further).toMatchObject({
      status: 503,
      headers: { 'retry-after': '10' },
      body: {
        code: 'overloaded',
        hint: 'Wait until an earlier request has ended, then try again.',
      },
    });
  expect(performance.now() - began).toBeGreaterThan(4900);
  const other = await connected(idctl, issuer('other'));
  const elsewhere = await signedIn(idctl, other.org.owner.email);
  running.push(elsewhere.post(`/api/v1/orgs/${other.org.slug}/sso/test`, test('elsewhere')));
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(3);
  receiver.behave(answering(404));
  for (const answer of held) answer();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(3).fill(200));
  expect((await owner.post(`${at}/sso/test`, test('after'))).status).toBe(200);
}, 60_000);

test('O15 a test that waits for its turn runs as soon as another one ends', async () => {
  const { org } = await connected(idctl, receiver.url.replace('/hooks', '/next'));
  const owner = await signedIn(idctl, org.owner.email);
  const at = `/api/v1/orgs/${org.slug}`;
  const [first, second] = [await hold(org.id), await hold(org.id)];
  const waiting = owner.post(`${at}/sso/test`, {});
  await expect.poll(() => turnsOf(idctl.app).network.load().waiting).toBe(1);
  await first();
  expect((await waiting).status).toBe(200);
  await second();
});

test('O15 at most twenty tests run in a process; the operator’s do not wait', async () => {
  const { org } = await connected(idctl, receiver.url.replace('/hooks', '/many'));
  const owner = await signedIn(idctl, org.owner.email);
  const all = await Promise.all(Array.from({ length: 20 }, (_, at) => hold(`tenant ${at >> 1}`)));
  const waiting = owner.post(`/api/v1/orgs/${org.slug}/sso/test`, {});
  await expect.poll(() => turnsOf(idctl.app).network.load()).toEqual({ running: 20, waiting: 1 });
  expect(await testSso(idctl.operator(), { org: org.slug })).toMatchObject({ ok: false });
  await all[0]?.();
  expect((await waiting).status).toBe(200);
  await Promise.all(all.map((release) => release()));
});

/** Holds a turn of the organization until the returned function is called, or the test ends. */
async function hold(id: string) {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const running = turnsOf(idctl.app).network.run(id, () => {
    begun.resolve();
    return ended.promise;
  });
  const release = () => {
    ended.resolve();
    return running;
  };
  onTestFinished(release);
  await begun.promise;
  return release;
}

async function webhookAndClient(org: string) {
  const url = receiver.url;
  const operator = idctl.operator();
  const { id } = await addWebhook(operator, { org, url, events: ['*'] });
  const client = createClient.input.parse({
    org,
    name: 'Wiki',
    redirectUris: ['https://wiki.test/'],
  });
  return { webhook: id, client: (await createClient(operator, client)).clientId };
}
