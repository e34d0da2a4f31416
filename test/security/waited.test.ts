import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hold } from '../../src/database/hold.ts';
import { AccessToken } from '../../src/database/models/access-token.ts';
import { GroupMapping } from '../../src/database/models/group-mapping.ts';
import { transaction, transactionsInHand } from '../../src/database/transaction.ts';
import { turnsOf } from '../../src/services/foundation/limits/turns.ts';
import { revokeSession } from '../../src/services/people/sessions/operations.ts';
import { revokeToken } from '../../src/services/people/tokens/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import {
  changeMemberRole,
  listMembers,
  removeMember,
} from '../../src/services/tenancy/memberships/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { dialect } from '../support/database.ts';
import type { Answer } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';
import { team } from '../support/team.ts';
import { signedInPerson, tokenOf } from '../support/tokens.ts';

// The role or the credential ends while a request that it allowed waits.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

interface Case {
  /** Ends what allows the request. */
  end: () => Promise<unknown>;
  request: () => Promise<Answer>;
  /** Whether the request has written. */
  written: () => Promise<boolean>;
  refusal: { status: number | string; code?: string };
}

const ended = { status: 401, code: 'invalid_credential' };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const asOperator = () => idctl.operator();

/** An organization with two owners. `end` demotes the first. */
async function demotion() {
  const { org, people, clients } = await team(idctl);
  const set = (user: string, role: 'owner' | 'member') =>
    changeMemberRole(asOperator(), { org: org.id, user, role });
  await set(people.member.id, 'owner');
  const end = () => set(people.owner.id, 'member');
  return { org, people, client: clients.owner, end, refusal: { status: 403, code: 'forbidden' } };
}

const cases: Record<string, () => Promise<Case>> = {
  'a demoted owner does not make another owner': async () => {
    const { org, people, client, ...rest } = await demotion();
    const { admin } = people;
    return {
      ...rest,
      request: () =>
        client.send('PATCH', `/api/v1/orgs/${org.id}/members/${admin.id}`, {
          body: { role: 'owner' },
        }),
      written: async () => {
        const { items } = await listMembers(asOperator(), listMembers.input.parse({ org: org.id }));
        return items.some(({ userId, role }) => userId === admin.id && role === 'owner');
      },
    };
  },
  'a session that has ended does not leave a token': async () => {
    const { id: user, accessToken } = await signedInPerson(idctl);
    const here = bearer(accessToken);
    const { items } = (await idctl.client().get('/api/v1/me/sessions', here)).body;
    return {
      end: () => revokeSession(asOperator(), { id: items[0].id }),
      request: () => idctl.client().post('/api/v1/me/tokens', { name: 'kept' }, here),
      written: async () => (await AccessToken.count({ where: { accountId: user } })) > 0,
      refusal: ended,
    };
  },
  'a revoked token does not write': async () => {
    const { id, token, user } = await tokenOf(idctl, { scope: 'write' });
    const name = async () =>
      (await idctl.client().get('/api/v1/me', bearer((await tokenOf(idctl, { user })).token))).body
        .name;
    return {
      end: () => revokeToken(asOperator(), { id }),
      request: () =>
        idctl.client().send('PATCH', '/api/v1/me', {
          body: { name: 'Mallory' },
          headers: bearer(token),
        }),
      written: async () => (await name()) === 'Mallory',
      refusal: ended,
    };
  },
  'a replaced SCIM token does not create a user': async () => {
    const client = await scimClient(idctl);
    const userName = `mallory@${client.org.slug}.example.com`;
    const schemas = ['urn:ietf:params:scim:schemas:core:2.0:User'];
    const members = () =>
      listMembers(asOperator(), listMembers.input.parse({ org: client.org.id }));
    return {
      end: () => rotateScimToken(asOperator(), { org: client.org.id }),
      request: () => client.send('POST', '/Users', { schemas, userName }),
      written: async () => (await members()).items.length > 1,
      refusal: { status: '401' },
    };
  },
};

/** Sends the request, and waits until it is answered or `waits`. */
async function sent(request: () => Promise<Answer>, waits: () => boolean) {
  const answer = request();
  let answered = false;
  void answer.finally(() => {
    answered = true;
  });
  while (!answered && !waits()) await sleep(5);
  return { answer, answered };
}

// On SQLite, a request waits for the one writer. On PostgreSQL, it does not, and comes first.
test.each(Object.entries(cases))(
  'P2 %s, even if the request waits for the writer',
  async (_, make) => {
    const { end, request, written, refusal } = await make();
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const ending = transaction(async () => {
      begun.resolve();
      await go.promise;
      await end();
    });
    await begun.promise;
    const { answer, answered } = await sent(
      request,
      () => dialect === 'sqlite' && transactionsInHand() > 1,
    );
    go.resolve();
    await ending;
    const { status, body } = await answer;
    if (answered) return expect([status < 300, await written()]).toEqual([true, true]);
    expect({ status, ...body }).toMatchObject(refusal);
    expect(await written()).toBe(false);
  },
);

test('P2 a demoted owner does not change mappings, even if the request waits for its turn', async () => {
  const { org, client, end, refusal } = await demotion();
  await createProject(asOperator(), { org: org.id, name: 'Web', slug: 'web' });
  const { computing } = turnsOf(idctl.app);
  const free = Promise.withResolvers<void>();
  const turn = computing.run(org.id, () => free.promise);
  const path = `/api/v1/orgs/${org.id}/group-mappings/import`;
  const mappings = [{ group: 'dev', project: 'web', role: 'viewer' }];
  const { answer } = await sent(
    () => client.post(path, { mappings }),
    () => computing.load().waiting > 0,
  );
  await end();
  free.resolve();
  await turn;
  const { status, body } = await answer;
  expect({ status, ...body }).toMatchObject(refusal);
  expect(await GroupMapping.count({ where: { organizationId: org.id } })).toBe(0);
});

/** Sends the request while a transaction holds the row, and ends its right before it can write. */
test('P2 a removed owner does not make another owner, even if the request waits for a row', async () => {
  const { org, people, client } = await demotion();
  const { id: accountId } = people.admin;
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const holding = transaction(async () => {
    await hold.membership({ organizationId: org.id, accountId }, 'whole');
    begun.resolve();
    await go.promise;
  });
  await begun.promise;
  const path = `/api/v1/orgs/${org.id}/members/${accountId}`;
  const { answer } = await sent(
    () => client.send('PATCH', path, { body: { role: 'owner' } }),
    () => transactionsInHand() > 1,
  );
  // On SQLite, the removal waits for the writer too. So the request comes first there.
  await sleep(100);
  const removal = removeMember(asOperator(), { org: org.id, user: people.owner.id });
  if (dialect === 'postgres') await removal;
  go.resolve();
  await Promise.all([holding, removal]);
  expect((await answer).status).toBe(dialect === 'postgres' ? 404 : 200);
});
