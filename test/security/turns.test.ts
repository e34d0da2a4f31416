import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Organization } from '../../src/database/models/organization.ts';
import { select } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { samlTurns } from '../../src/outbound/saml/thread.ts';
import { turnsOf } from '../../src/services/foundation/limits/turns.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { planWaiting } from '../../src/services/provisioning/mappings/replan.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { renameOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { fresh, organization, person, signedIn } from '../support/builders.ts';
import type { Answer, Client } from '../support/http.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { samlConnected, signInBySaml } from '../support/saml.ts';
import { scimClient } from '../support/scim-client.ts';

// One organization does not delay the others: long work takes its turn (security O15).

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl({ outbound: { allow: ['127.0.0.1'] }, orgs: { creation: 'anyone' } });
});
afterAll(() => idctl.close());

/** An organization, and its owner's client. */
async function tenant() {
  const org = await organization(idctl);
  const client = await signedIn(idctl, org.owner.email);
  return { ...org, client, at: `/api/v1/orgs/${org.slug}` };
}

type Tenant = Awaited<ReturnType<typeof tenant>>;

type Kind = keyof ReturnType<typeof turnsOf>;

/** Holds a turn of the organization, of its creator or of a sender until the returned function is called. */
async function hold(id: string, kind: Kind = 'computing') {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const running = turnsOf(idctl.app)[kind].run(id, () => {
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

const document = { idctl: 1 };
const load = (kind: Kind = 'computing') => turnsOf(idctl.app)[kind].load();
const waits = (count: number) => expect.poll(() => load().waiting, { interval: 5 }).toBe(count);

const computing: [string, (client: Client, at: string) => Promise<Answer>][] = [
  ['plan', (client, at) => client.post(`${at}/plan`, { document })],
  ['apply', (client, at) => client.post(`${at}/apply`, { document, digest: 'another' })],
  ['export', (client, at) => client.get(`${at}/export`)],
  ['file of events', (client, at) => client.get(`${at}/events?format=csv`)],
  ['import', (client, at) => client.post(`${at}/group-mappings/import`, { mappings: [] })],
  [
    'dry run of an import',
    (client, at) => client.post(`${at}/group-mappings/import?dryRun=true`, { mappings: [] }),
  ],
  [
    'preview',
    (client, at) =>
      client.post(`${at}/group-mappings/preview`, { user: 'a@b.test', groups: ['dev'] }),
  ],
  [
    'search for people shut out',
    (client, at) => client.post(`${at}/signin-settings/people-shut-out`, { github: false }),
  ],
];

describe('O15 work that computes', () => {
  test.each(computing)(
    'O15 a %s waits while the organization computes, and then runs',
    async (_, send) => {
      const { id, client, at } = await tenant();
      const release = await hold(id);
      let answered = false;
      const answering = send(client, at).finally(() => {
        answered = true;
      });
      await waits(1);
      await pause(50);
      expect(answered).toBe(false);
      await release();
      expect([200, 409]).toContain((await answering).status);
      expect(load()).toEqual({ running: 0, waiting: 0 });
    },
  );

  test('O15 an organization with twelve plans waiting does not delay the first plan of another', async () => {
    const [greedy, other, third] = [await tenant(), await tenant(), await tenant()];
    const release = await hold(greedy.id);
    const releaseThird = await hold(third.id);
    const order: string[] = [];
    const planOf = ({ client, at, slug }: Tenant) =>
      client.post(`${at}/plan`, { document }).then(({ status }) => {
        order.push(slug);
        return status;
      });
    const greedyPlans = Array.from({ length: 12 }, () => planOf(greedy));
    await waits(12);
    const first = planOf(other);
    await waits(13);
    await releaseThird();
    expect(await first).toBe(200);
    expect(order).toEqual([other.slug]);
    await release();
    expect(await Promise.all(greedyPlans)).toEqual(Array(12).fill(200));
  });

  test('O15 two organizations compute at the same time; a third one waits', async () => {
    const tenants = [await tenant(), await tenant(), await tenant()];
    const [one, two, three] = tenants;
    const release = await hold(one?.id ?? '');
    await hold(two?.id ?? '');
    const planning = three?.client.post(`${three.at}/plan`, { document });
    await waits(1);
    await release();
    expect((await planning)?.status).toBe(200);
  });

  test('O15 a plan whose turn does not come within five seconds gets 503 with Retry-After, and does not run later', async () => {
    const { id, client, at } = await tenant();
    const release = await hold(id);
    const began = performance.now();
    const answer = await client.post(`${at}/group-mappings/import`, {
      mappings: [{ group: 'dev', orgRole: 'member' }],
    });
    expect(performance.now() - began).toBeGreaterThan(4900);
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: {
        code: 'overloaded',
        hint: 'Wait until an earlier request has ended, then try again.',
      },
    });
    await release();
    expect(load()).toEqual({ running: 0, waiting: 0 });
    expect((await client.get(`${at}/group-mappings`)).body.items).toEqual([]);
  });

  test('O15 the right is proved before a place is taken: a stranger is refused while the organization computes', async () => {
    const { id, at, slug } = await tenant();
    await hold(id);
    const stranger = await person(idctl);
    const outside = await signedIn(idctl, stranger.email);
    const member = await person(idctl);
    await addMember(idctl.operator(), { org: slug, email: member.email ?? '', role: 'member' });
    const inside = await signedIn(idctl, member.email);
    for (const [name, send] of computing) {
      expect([name, (await send(outside, at)).status]).toEqual([name, 404]);
      expect([name, (await send(inside, at)).status]).toEqual([name, 403]);
    }
    expect(load()).toEqual({ running: 1, waiting: 0 });
  });

  test('O15 the right to save a secret of a document is proved before a place is taken', async () => {
    const { id, slug, at, client } = await tenant();
    const made = await client.post('/api/v1/me/tokens', { name: 'ci', scope: 'read' });
    expect(made.status).toBe(201);
    const reader = idctl.client({ headers: { authorization: `Bearer ${made.body.token}` } });
    await hold(id);
    const sso = {
      emailDomain: `${slug}.test`,
      issuer: 'https://idp.test',
      clientId: 'c',
      clientSecret: { value: 'secret' },
    };
    const answer = await reader.post(`${at}/plan`, { document: { idctl: 1, sso } });
    expect(answer).toMatchObject({ status: 403, body: { code: 'scope_required' } });
    expect(load()).toEqual({ running: 1, waiting: 0 });
  });

  test('O15 a dry run that waits for its turn keeps no other organization from writing', async () => {
    const [waiting, other] = [await tenant(), await tenant()];
    const release = await hold(waiting.id);
    const url = `${waiting.at}/group-mappings/import?dryRun=true`;
    const answering = waiting.client.post(url, {
      mappings: [{ group: 'dev', orgRole: 'member' }],
    });
    await waits(1);
    expect((await other.client.send('PATCH', other.at, { body: { name: 'Renamed' } })).status).toBe(
      200,
    );
    expect(load().waiting).toBe(1);
    await release();
    expect(await answering).toMatchObject({ status: 200, body: { added: [{ group: 'dev' }] } });
    expect((await waiting.client.get(`${waiting.at}/group-mappings`)).body.items).toEqual([]);
  });

  test('O15 an apply that looks up host names leaves the turn to other work', async () => {
    const { id, client, at } = await tenant();
    const webhooks = [{ url: 'https://127.0.0.1/hooks' }];
    const body = { document: { ...document, webhooks } };
    const { digest } = (await client.post(`${at}/plan`, body)).body;
    const releases = [await hold(id, 'network'), await hold(id, 'network')];
    const applying = client.post(`${at}/apply`, { ...body, digest });
    await expect.poll(() => load('network').waiting, { interval: 5 }).toBe(1);
    expect(load()).toEqual({ running: 0, waiting: 0 });
    expect((await client.get(`${at}/export`)).status).toBe(200);
    await Promise.all(releases.map((release) => release()));
    expect(await applying).toMatchObject({ status: 200, body: { applied: true } });
  });

  test('O15 the operator does not wait', async () => {
    const { id, slug } = await tenant();
    await hold(id);
    const { exportOrganization } = await import(
      '../../src/services/provisioning/document/operations.ts'
    );
    expect(await exportOrganization(idctl.operator(), { org: slug })).toMatchObject({ idctl: 1 });
    await renameOrganization(idctl.operator(), { org: slug, name: 'Other' });
  });
});

test('O15 a third file of events waits until an earlier one is sent; other organizations do not wait', async () => {
  const [here, other] = [await tenant(), await tenant()];
  const release = await hold(here.id, 'download');
  await hold(here.id, 'download');
  const third = here.client.get(`${here.at}/events?format=csv`);
  await expect.poll(() => load('download').waiting, { interval: 5 }).toBe(1);
  expect((await other.client.get(`${other.at}/events?format=csv`)).status).toBe(200);
  await release();
  expect((await third).status).toBe(200);
});

describe('O15 organizations that one account created', () => {
  /** A person who has created two organizations, and the paths of these. */
  async function founder() {
    const { id, email } = await person(idctl);
    const client = await signedIn(idctl, email);
    const made = [];
    for (let count = 0; count < 2; count += 1)
      made.push((await client.post('/api/v1/orgs', { name: fresh('own') })).body.slug);
    return { id, client, paths: made.map((slug) => `/api/v1/orgs/${slug}`) };
  }

  const probe = { issuer: 'http://127.0.0.1:1', clientId: 'idctl', clientSecret: 'secret' };
  const works: [Kind, number, (client: Client, at: string) => Promise<Answer>][] = [
    ['computing', 1, (client, at) => client.post(`${at}/plan`, { document })],
    ['network', 2, (client, at) => client.post(`${at}/sso/test`, probe)],
  ];

  test.each(works)(
    'O15 organizations that one account created share a turn: %s; another account’s work runs beside them',
    async (kind, places, send) => {
      const [greedy, other] = [await founder(), await founder()];
      const releases = [];
      for (let count = 0; count < places; count += 1) releases.push(await hold(greedy.id, kind));
      const late = greedy.paths.map((at) => send(greedy.client, at));
      await expect.poll(() => load(kind).waiting, { interval: 5 }).toBe(2);
      for (const at of other.paths) expect((await send(other.client, at)).status).toBe(200);
      expect(load(kind)).toEqual({ running: places, waiting: 2 });
      await Promise.all(releases.map((release) => release()));
      expect((await Promise.all(late)).map(({ status }) => status)).toEqual([200, 200]);
    },
  );

  test('O15 organizations that one account created share a turn: answers of SAML providers', async () => {
    const at = await samlConnected(idctl);
    const { id: createdBy } = await person(idctl);
    await transaction(() => Organization.update({ createdBy }, { where: { id: at.org.id } }));
    const held = Promise.withResolvers<void>();
    const holding = samlTurns.run('another', () => held.promise);
    onTestFinished(() => held.resolve());
    // If the answer had another key, it would get its turn before the second piece of this account.
    const pieces = [1, 2].map(() => samlTurns.run(createdBy, async () => samlTurns.load().waiting));
    const answering = signInBySaml(idctl, at, { email: `${fresh('ada')}@${at.domain}` });
    await expect.poll(() => samlTurns.load().waiting, { interval: 5 }).toBe(3);
    held.resolve();
    await holding;
    expect(await Promise.all(pieces)).toEqual([2, 1]);
    expect((await answering).answer.status).toBe(200);
  });

  test('O15 a job takes the same turn as the requests', async () => {
    const { id, send } = await provisioned(51);
    const { id: createdBy } = await person(idctl);
    await transaction(() => Organization.update({ createdBy }, { where: { id } }));
    const release = await hold(createdBy);
    expect((await send()).status).toBe(201);
    const planning = planWaiting(idctl.operator(), { anew: () => idctl.operator() });
    await waits(1);
    await release();
    await planning;
    expect(load()).toEqual({ running: 0, waiting: 0 });
  });
});

/** An organization with a mapping, and a push of the mapped group with `count` people. */
async function provisioned(count: number) {
  const client = await scimClient(idctl);
  const { id, slug: org } = client.org;
  await createProject(idctl.operator(), { org, name: 'Web', slug: 'web' });
  await addMapping(idctl.operator(), { org, group: 'dev', project: 'web', role: 'member' });
  const members: { value: string }[] = [];
  for (let at = 0; at < count; at += 1)
    members.push({ value: (await client.create({ userName: `p${at}@${org}.test` })).id });
  return { id, send: () => client.send('POST', '/Groups', { displayName: 'dev', members }) };
}

describe('O15 groups that SCIM pushes', () => {
  /** Pushes a mapped group of `count` people, while the organization computes. */
  async function push(count: number) {
    const { id, send } = await provisioned(count);
    const release = await hold(id);
    await hold(fresh('another'));
    const { status } = await send();
    const roles = async () => {
      const rows = await select<{ id: string }>(
        `SELECT m.account_id AS id FROM project_memberships m JOIN projects p ON p.id = m.project_id
          WHERE p.organization_id = $1`,
        [id],
      );
      return rows.length;
    };
    return { status, roles, release };
  }

  const plan = () => planWaiting(idctl.operator(), { anew: () => idctl.operator() });

  test('O15 a push of 50 people is planned in its transaction, however busy the daemon is', async () => {
    const { status, roles } = await push(50);
    expect([status, await roles()]).toEqual([201, 50]);
  });

  test('O15 a push of 51 people is answered 201, and its job waits for the turn for as long as it takes', async () => {
    const { status, roles, release } = await push(51);
    expect([status, await roles()]).toEqual([201, 0]);
    const planning = plan();
    await waits(1);
    await pause(6000);
    expect([load().waiting, await roles()]).toEqual([1, 0]);
    await release();
    await planning;
    expect(await roles()).toBe(51);
  });
});

test('O15 an organization whose people are being planned does not delay the people of another', async () => {
  const jobs = () => planWaiting(idctl.operator(), { anew: () => idctl.operator() });
  const listed = async () => {
    const { id, send } = await provisioned(51);
    await send();
    return id;
  };
  const waitingFor = async (id: string) =>
    (await select('SELECT 1 AS one FROM scim_replans WHERE organization_id = $1', [id])).length;
  const first = await listed();
  const release = await hold(first);
  const planning = jobs();
  await waits(1);
  const second = await listed();
  await jobs();
  expect([await waitingFor(first), await waitingFor(second)]).toEqual([51, 0]);
  await release();
  await planning;
  expect(await waitingFor(first)).toBe(0);
});

describe('O15 large bodies', () => {
  const large = { document: { idctl: 1, description: 'x'.repeat(256 * 1024) } };
  const waitsForBody = (count: number) =>
    expect.poll(() => load('body').waiting, { interval: 5 }).toBe(count);

  /** Holds both places of the tenant's owner. */
  async function full({ owner }: Tenant) {
    const releases = [await hold(owner.id, 'body'), await hold(owner.id, 'body')];
    return () => Promise.all(releases.map((release) => release()));
  }

  test('O15 a third large body of an account waits until an earlier one is answered; others do not wait', async () => {
    const [greedy, other] = [await tenant(), await tenant()];
    const release = await full(greedy);
    expect((await other.client.post(`${other.at}/plan`, large)).status).toBe(400);
    expect((await greedy.client.post(`${greedy.at}/plan`, { document })).status).toBe(200);
    const tooLong = { ...large, more: 'x'.repeat(8 * 1024 * 1024) };
    expect((await greedy.client.post(`${greedy.at}/plan`, tooLong)).status).toBe(413);
    const third = greedy.client.post(`${greedy.at}/plan`, large);
    await waitsForBody(1);
    await release();
    expect((await third).status).toBe(400);
    await expect.poll(() => load('body')).toEqual({ running: 0, waiting: 0 });
  });

  test('O15 a large body whose place does not come within five seconds gets 503 with Retry-After', async () => {
    const { owner, client, at } = await tenant();
    await hold(owner.id, 'body');
    await hold(owner.id, 'body');
    expect(await client.post(`${at}/plan`, large)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      body: { code: 'overloaded' },
    });
  });

  test('O15 large bodies that are slow to arrive take no place; of one sender, eight arrive at a time', async () => {
    const [slow, other] = [await scimClient(idctl), await scimClient(idctl)];
    const { hostname, port } = new URL(idctl.baseUrl);
    const head = [
      `POST ${slow.base}/Groups HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${slow.token}`,
      'Content-Type: application/scim+json',
      `Content-Length: ${256 * 1024 + 100}`,
    ];
    const sockets = Array.from({ length: 9 }, () => {
      const socket = connect(Number(port), hostname);
      socket.write(`${head.join('\r\n')}\r\n\r\n{`);
      return socket;
    });
    onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
    await expect.poll(() => load('arriving'), { interval: 5 }).toEqual({ running: 8, waiting: 1 });
    expect(load('push')).toEqual({ running: 0, waiting: 0 });
    const pushed = await other.send('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'x'.repeat(1024 * 1024),
    });
    expect(pushed.status).toBe(400);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => load('arriving')).toEqual({ running: 0, waiting: 0 });
  });

  test('O15 a large push of a group waits for its place as long as it takes', async () => {
    const { org, send } = await scimClient(idctl);
    const releases = [await hold(org.id, 'push'), await hold(org.id, 'push')];
    const pushing = send('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'x'.repeat(1024 * 1024),
    });
    await expect.poll(() => load('push').waiting, { interval: 5 }).toBe(1);
    await pause(5500);
    expect(load('push').waiting).toBe(1);
    await Promise.all(releases.map((release) => release()));
    expect((await pushing).status).toBe(400);
  });
});
