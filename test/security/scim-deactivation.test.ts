import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { putProjectMember } from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn, verifiedDomain } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { type OpenIdProvider, startOpenIdProvider } from '../support/openid-provider.ts';
import { clientOf, filtered, scimClient } from '../support/scim-client.ts';
import { connected, registration, signInAt } from '../support/sso.ts';

let provider: OpenIdProvider;
let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] } });
  const { clientId, clientSecret } = registration;
  const redirect = `${idctl.baseUrl}/auth/sso/callback`;
  provider = await startOpenIdProvider({
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirect] }],
  });
});
afterAll(async () => {
  await provider.stop();
  await idctl.close();
});

/** A person that SCIM created, and who has signed in through the organization's provider. */
async function employee() {
  const { org, domain } = await connected(idctl, provider.issuer);
  const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
  const client = clientOf(idctl, org, token);
  const sub = fresh('sub');
  const email = `${sub}@${domain}`;
  provider.people.set(sub, { email, email_verified: true, name: 'Grace Hopper' });
  const made = await client.create({
    userName: email,
    name: { givenName: 'Grace', familyName: 'Hopper' },
  });
  const { client: browser, answer } = await signInAt(idctl, provider, domain, sub);
  expect(answer.status).toBe(200);
  return { org, domain, client, sub, email, id: made.id, browser, session: answer.body };
}

test('I5 after the answer to a deactivation, cookie, refresh token and PAT get nothing of the organization, and SSO does not add the person again', async () => {
  const { org, client, domain, sub, email, id, browser, session } = await employee();
  const { user } = session;
  const { slug: project } = await createProject(idctl.operator(), {
    org: org.slug,
    name: 'Website',
  });
  await putProjectMember(idctl.operator(), { org: org.slug, project, user: email, role: 'admin' });
  const pat = await createToken(idctl.operator(), { user: user.id, name: 'ci' });
  const place = `/api/v1/orgs/${org.slug}`;
  const withPat = { authorization: `Bearer ${pat.token}` };
  expect((await browser.get(place)).status).toBe(200);
  expect((await idctl.client().get(place, withPat)).status).toBe(200);

  expect(
    (await client.patch(id, { op: 'replace', path: 'active', value: false })).body.active,
  ).toBe(false);
  // The organization owns the address: every session has ended.
  expect((await browser.get(place)).status).toBe(401);
  expect(
    (await browser.post('/api/v1/auth/refresh', { refreshToken: session.refreshToken })).status,
  ).toBe(401);
  for (const path of [
    place,
    `${place}/projects`,
    `${place}/projects/${project}/members`,
    `${place}/members`,
  ]) {
    expect((await idctl.client().get(path, withPat)).status, path).toBe(404);
  }
  expect((await idctl.client().get('/api/v1/me', withPat)).body.organizations).toEqual([]);

  const { answer } = await signInAt(idctl, provider, domain, sub);
  expect(answer).toMatchObject({ status: 401, body: { code: 'signin_failed' } });
  expect((await client.get(`/Users/${id}`)).body.active).toBe(false);

  await client.patch(id, { op: 'replace', path: 'active', value: true });
  expect((await signInAt(idctl, provider, domain, sub)).answer.status).toBe(200);
  expect((await idctl.client().get(place, withPat)).status).toBe(200);
});

test('a SCIM client finds a member who joined through SSO, with an address and a name in parts, and cannot create the member again', async () => {
  const { org, domain } = await connected(idctl, provider.issuer);
  const { token } = await rotateScimToken(idctl.operator(), { org: org.slug });
  const client = clientOf(idctl, org, token);
  const sub = fresh('sub');
  const email = `${sub}@${domain}`;
  provider.people.set(sub, { email, email_verified: true, name: 'Grace Brewster Hopper' });
  const { answer } = await signInAt(idctl, provider, domain, sub);
  const [found] = (await client.get(filtered(`userName eq "${email}"`))).body.Resources;
  expect(found).toMatchObject({
    userName: email,
    emails: [{ value: email }],
    name: { givenName: 'Grace', familyName: 'Brewster Hopper' },
    active: true,
  });
  expect((await client.send('POST', '/Users', { userName: email })).status).toBe(409);
  expect((await client.send('DELETE', `/Users/${found.id}`)).status).toBe(204);
  const { status } = await idctl
    .client()
    .get('/api/v1/me', { authorization: `Bearer ${answer.body.accessToken}` });
  expect(status).toBe(401);
});

test('I5 if the organization does not own the address’s domain, a deactivation does not end the person’s own session', async () => {
  const client = await scimClient(idctl);
  const member = await person(idctl);
  const other = await organization(idctl);
  await addMember(idctl.operator(), {
    org: other.slug,
    email: String(member.email),
    role: 'member',
  });
  const { id } = await client.create({ userName: member.email });
  const browser = await signedIn(idctl, member.email);
  expect((await browser.get(`/api/v1/orgs/${client.org.slug}`)).status).toBe(200);
  expect((await client.send('DELETE', `/Users/${id}`)).status).toBe(204);
  expect((await browser.get(`/api/v1/orgs/${client.org.slug}`)).status).toBe(404);
  expect((await browser.get(`/api/v1/orgs/${other.slug}`)).status).toBe(200);
});

test('I5 if the address is on the organization’s own domain, a deactivation ends every session, however it began', async () => {
  const client = await scimClient(idctl);
  const domain = await verifiedDomain(idctl, client.org.slug);
  const { email } = await person(idctl, `${fresh('own')}@${domain}`);
  const { id } = await client.create({ userName: email });
  const browser = await signedIn(idctl, email);
  await client.patch(id, { op: 'replace', path: 'active', value: false });
  expect((await browser.get('/api/v1/me')).status).toBe(401);
});

test('I5 under load, no request that begins after the answer to a deactivation sees the organization', async () => {
  const { org, client, email, id, session } = await employee();
  const pat = await createToken(idctl.operator(), { user: session.user.id, name: 'ci' });
  const headers = { authorization: `Bearer ${pat.token}` };
  const path = `/api/v1/orgs/${org.slug}`;
  let gone = false;
  const late: number[] = [];
  const hammer = async () => {
    for (let n = 0; n < 40; n += 1) {
      const after = gone;
      const { status } = await idctl.client().get(path, headers);
      if (after) late.push(status);
    }
  };
  const load = Promise.all([hammer(), hammer(), hammer(), hammer()]);
  await new Promise((resolve) => setTimeout(resolve, 30));
  await client.send('PUT', `/Users/${id}`, { userName: email, active: false });
  gone = true;
  await load;
  late.push((await idctl.client().get(path, headers)).status);
  expect(new Set(late)).toEqual(new Set([404]));
});

test('if the answer to a POST is lost and the client sends it again, there is one User and one event', async () => {
  const client = await scimClient(idctl);
  const userName = `${fresh('lost')}@elsewhere.test`;
  const { hostname, port } = new URL(idctl.baseUrl);
  const { connect } = await import('node:net');
  const body = JSON.stringify({ userName });
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      const head = [
        `POST ${client.base}/Users HTTP/1.1`,
        `Host: ${hostname}`,
        `Authorization: Bearer ${client.token}`,
        'Content-Type: application/scim+json',
        `Content-Length: ${body.length}`,
      ];
      // Closes the connection without reading an answer.
      socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () =>
        setTimeout(() => socket.destroy(), 20),
      );
    });
    socket.on('error', () => {}).on('close', () => resolve());
  });
  const again = await client.send('POST', '/Users', { userName });
  expect([201, 409]).toContain(again.status);
  await expect.poll(async () => (await client.events('scim.user.provisioned')).length).toBe(1);
  expect((await client.get(filtered(`userName eq "${userName}"`))).body).toMatchObject({
    totalResults: 1,
    Resources: [{ active: true }],
  });
});
