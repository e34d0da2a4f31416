import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound } from '../../src/outbound/create.ts';
import { defaultLimits } from '../../src/outbound/limits.ts';
import { addDomain } from '../../src/services/tenancy/domains/operations.ts';
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

test('S9 an organization can run five tests of connections or domains at once; a sixth is refused, and another organization can still test', async () => {
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
  for (let turn = 0; turn < 5; turn += 1)
    running.push(owner.post(`${at}/sso/test`, test(`turn${turn}`)));
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(5);
  const directory = {
    uri: 'ldap://127.0.0.1:1',
    tls: false,
    bindDn: 'cn=idctl',
    bindPassword: 'secret',
    searchBase: 'dc=test',
    searchFilter: '(uid={username})',
    emailAttribute: 'mail',
  };
  for (const further of [
    owner.post(`${at}/sso/test`, test('late')),
    owner.post(`${at}/ldap/test`, directory),
    owner.post(`${at}/domains/${domain}/verify`, {}),
  ])
    expect(await further).toMatchObject({
      status: 503,
      headers: { 'retry-after': '10' },
      body: { code: 'overloaded', hint: 'Wait until one of them ends, then try again.' },
    });
  const other = await connected(idctl, issuer('other'));
  const elsewhere = await signedIn(idctl, other.org.owner.email);
  running.push(elsewhere.post(`/api/v1/orgs/${other.org.slug}/sso/test`, test('elsewhere')));
  await expect.poll(() => held.length, { timeout: 20_000 }).toBe(6);
  receiver.behave(answering(404));
  for (const answer of held) answer();
  expect((await Promise.all(running)).map(({ status }) => status)).toEqual(Array(6).fill(200));
  expect((await owner.post(`${at}/sso/test`, test('after'))).status).toBe(200);
}, 60_000);
