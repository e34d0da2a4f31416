import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApp } from '../../src/app.ts';
import { configSchema } from '../../src/config/schema.ts';
import { openContext } from '../../src/context.ts';
import { createKeyFile } from '../../src/crypto/key-file.ts';
import { createToken } from '../../src/services/people/tokens/operations.ts';
import { createUser } from '../../src/services/people/users/operations.ts';
import { rotateScimToken } from '../../src/services/provisioning/scim/token.ts';
import { addMember } from '../../src/services/tenancy/memberships/add.ts';
import { createOrganization } from '../../src/services/tenancy/organizations/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';

const many = (count: number) => Array.from({ length: count }, (_, at) => at);
const people = 300;

/** What the organization asks. */
export interface Neighbour {
  /** Plans a document of full size. */
  plan(): Promise<void>;
  importMappings(): Promise<void>;
  preview(): Promise<void>;
  /** Pushes a mapped group of all people, with or without one of them. */
  push(): Promise<void>;
  /** Tests a connection to a host that never answers. */
  test(): Promise<void>;
  /** The number of answers, by request and status. */
  answers: Record<string, number>;
}

/** Fills a new SQLite database with an organization, and starts a host that never answers. */
export async function openSite() {
  const folder = await mkdtemp(join(tmpdir(), 'idctl-bench-'));
  const [database, keyFile] = [`sqlite:${join(folder, 'idctl.db')}`, join(folder, 'master.key')];
  await createKeyFile(keyFile);
  const tokens = await fill(database, keyFile);
  const hanging = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => hanging.once('listening', resolve));
  const address = hanging.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    database,
    keyFile,
    env: { IDCTL_LIMITS_ENABLED: 'off', IDCTL_OUTBOUND_ALLOW: '127.0.0.1' },
    enter: (url: string) => enter(url, tokens, `http://127.0.0.1:${port}`),
    close: async () => {
      hanging.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function fill(database: string, keyFile: string) {
  const settings = configSchema.parse({ log: { level: 'fatal' } });
  const config = {
    ...settings,
    baseUrl: 'http://127.0.0.1',
    keyFile,
    database: { ...settings.database, url: database },
  };
  const app = await openApp({ config }, { migrate: 'yes' });
  const operator = openContext(app, { kind: 'operator', name: 'bench' });
  const org = 'greedy';
  const { id } = await createOrganization(operator, { name: 'Greedy', slug: org });
  const owner = { email: 'owner@greedy.test', name: 'Olga', password: 'correct horse battery' };
  await createUser(operator, owner);
  await addMember(operator, { org, email: owner.email, role: 'owner' });
  for (const at of many(20)) await createProject(operator, { org, name: `P${at}`, slug: `p${at}` });
  const given = { user: owner.email, name: 'bench', scope: 'admin' as const };
  const { token } = await createToken(operator, given);
  const scim = await rotateScimToken(operator, { org });
  await app.close();
  return { org, id, token, scim: scim.token, owner: owner.email };
}

type Tokens = Awaited<ReturnType<typeof fill>>;

async function enter(url: string, tokens: Tokens, hanging: string): Promise<Neighbour> {
  const { org, id, token, owner } = tokens;
  const at = `${url}/api/v1/orgs/${org}`;
  const scim = `${url}/scim/v2/orgs/${id}`;
  const answers: Record<string, number> = {};
  const send = async (what: string, method: string, path: string, body: string, as = token) => {
    const type = as === token ? 'application/json' : 'application/scim+json';
    const headers = { authorization: `Bearer ${as}`, 'content-type': type };
    const answer = await fetch(path, { method, headers, body });
    const name = `${what}, ${answer.status}`;
    answers[name] = (answers[name] ?? 0) + 1;
    const text = await answer.text();
    return text === '' ? {} : JSON.parse(text);
  };
  const member = (one: number) => ({ email: `m${one}@people.test`, role: 'member' });
  const mapping = (one: number) => ({ group: `group ${one}`, project: `p${one % 20}` });
  const document = JSON.stringify({
    document: {
      idctl: 1,
      members: [...many(9999).map(member), { email: owner, role: 'owner' }],
      mappings: many(10_000).map((one) => ({ ...mapping(one), role: 'member' })),
    },
  });
  const imported = JSON.stringify({
    mappings: many(9000).map((one) => ({ ...mapping(one), role: 'member' })),
    replace: true,
  });
  const previewed = JSON.stringify({
    user: owner,
    groups: many(1000).map((one) => mapping(one).group),
  });
  const tested = (one: number) =>
    JSON.stringify({ issuer: `${hanging}/${one}`, clientId: 'c', clientSecret: 's' });
  const members: { value: string }[] = [];
  for (const one of many(people)) {
    const user = JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: `s${one}@greedy.test`,
    });
    members.push({ value: (await send('user', 'POST', `${scim}/Users`, user, tokens.scim)).id });
  }
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Group'];
  const groupOf = (some: typeof members) =>
    JSON.stringify({ schemas, displayName: 'group 1', members: some });
  const group = await send('group', 'POST', `${scim}/Groups`, groupOf([]), tokens.scim);
  let turn = 0;
  const next = () => {
    turn += 1;
    return turn;
  };
  const done = async (answering: Promise<unknown>) => void (await answering);
  return {
    answers,
    plan: () => done(send('plan', 'POST', `${at}/plan`, document)),
    importMappings: () => done(send('import', 'POST', `${at}/group-mappings/import`, imported)),
    preview: () => done(send('preview', 'POST', `${at}/group-mappings/preview`, previewed)),
    push: () => {
      const some = groupOf(next() % 2 === 0 ? members : []);
      return done(send('push', 'PUT', `${scim}/Groups/${group.id}`, some, tokens.scim));
    },
    test: () => done(send('test', 'POST', `${at}/sso/test`, tested(next()))),
  };
}
