import { afterAll, beforeAll, expect, test } from 'vitest';
import { disableUser } from '../../src/services/people/users/operations.ts';
import { removeDomain } from '../../src/services/tenancy/domains/operations.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import { deleteOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { disableSso, removeSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh } from '../support/builders.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { answerTo, postAnswer, samlConnected, signInBySaml, startSaml } from '../support/saml.ts';

// What came through a SAML connection ends as what came through an OpenID Connect one: see the kill
// matrix. An answer that waits for its browser is checked again when the browser comes.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** A person who is signed in by SAML, and whose next sign-in waits for the browser. */
async function scene() {
  const at = await samlConnected(idctl);
  const who = { email: `${fresh('ada')}@${at.domain}`, subject: fresh('sub') };
  const { client } = await signInBySaml(idctl, at, who);
  const me = () => client.get('/api/v1/me');
  const user: string = (await me()).body.id;
  const other = idctl.client({ keepCookies: true });
  const { id, relayState } = await startSaml(other, at.domain);
  const response = await answerTo(idctl, { org: at.org.id, requestId: id, person: who });
  const posted = await postAnswer(idctl.client(), at.org.id, response, relayState);
  expect([(await me()).status, posted.status]).toEqual([200, 302]);
  return { ...at, who, user, me, go: () => other.get(String(posted.headers['location'])) };
}

type Scene = Awaited<ReturnType<typeof scene>>;

const events: [string, (at: Scene) => Promise<unknown>, { session: number }][] = [
  [
    'the account is disabled',
    ({ user }) => disableUser(idctl.operator(), { user }),
    { session: 401 },
  ],
  [
    'the member is removed',
    ({ org, user }) => removeMember(idctl.operator(), { org: org.slug, user }),
    { session: 401 },
  ],
  [
    'the connection is disabled',
    ({ org }) => disableSso(idctl.operator(), { org: org.slug }),
    { session: 200 },
  ],
  [
    'the connection is removed',
    ({ org }) => removeSso(idctl.operator(), { org: org.slug }),
    { session: 401 },
  ],
  [
    'the domain is removed',
    ({ org, domain }) => removeDomain(idctl.operator(), { org: org.slug, domain }),
    { session: 401 },
  ],
  [
    'the organization is deleted',
    ({ org }) => deleteOrganization(idctl.operator(), { org: org.slug }),
    { session: 401 },
  ],
];

test.each(events)(
  'P2 S11 after %s, a session by SAML is as the matrix says, and an answer that waits does not sign the person in',
  async (_, end, { session }) => {
    const at = await scene();
    await end(at);
    const went = await at.go();
    expect([(await at.me()).status, went.status >= 400]).toEqual([session, true]);
    const anew = await signInBySaml(idctl, at, at.who).catch(() => null);
    expect(anew === null || anew.answer.status >= 400).toBe(true);
  },
);

test('S11 without such an event, the answer that waits signs the person in', async () => {
  const at = await scene();
  expect((await at.go()).status).toBeLessThan(400);
});
