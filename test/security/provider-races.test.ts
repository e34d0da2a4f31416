import { afterAll, beforeAll, expect, test } from 'vitest';
import { directOf, runDirectly } from '../../src/database/direct.ts';
import { select, servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { removeMember } from '../../src/services/tenancy/memberships/operations.ts';
import {
  putProjectMember,
  removeProjectMember,
} from '../../src/services/tenancy/projects/members.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { application, browserOf, walk, walkToDenial } from '../support/relying-party.ts';

// A person loses access after a request has read who they are, and before it writes.

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** Runs `change` once, right after the next request of an application has read its rows. */
function afterNextReading(change: () => Promise<unknown>): void {
  const sequelize = servedDatabase();
  const direct = directOf(sequelize);
  runDirectly(sequelize, {
    ...direct,
    async read(sql, ...more) {
      const rows = await direct.read(sql, ...more);
      if (/ FROM clients c\b/.test(sql)) {
        runDirectly(sequelize, direct);
        await change();
      }
      return rows;
    },
  });
}

const modelsOf = async (clientRow: string) =>
  (
    await select<{ model: string }>('SELECT model FROM provider_records WHERE client_id = $1', [
      clientRow,
    ])
  ).map(({ model }) => model);

test('O10 a member who is removed during an authorization request gets no code', async () => {
  const app = await application(idctl);
  const browser = await browserOf(idctl, app.email);
  await app.signIn(browser);
  const { path } = await app.begin();
  const membership = { org: app.org.slug, user: app.member.id };
  afterNextReading(() => removeMember(idctl.operator(), membership));
  const { page, back } = await walkToDenial(browser, path);
  expect([page.status, back.searchParams.get('error')]).toEqual([403, 'access_denied']);
  expect(await modelsOf(app.row.id)).toEqual([]);
});

test('O10 a person who loses the project role during a token request gets no token', async () => {
  const app = await application(idctl);
  const { slug: org } = app.org;
  const { id, slug: project } = await createProject(idctl.operator(), { org, name: 'Web' });
  await transaction(() => app.row.update({ projectId: id, role: 'viewer' }));
  const membership = { org, project, user: app.email };
  await putProjectMember(idctl.operator(), { ...membership, role: 'viewer' });
  const browser = await browserOf(idctl, app.email);
  const { path, checks } = await app.begin();
  const code = new URL(await walk(browser, path)).searchParams.get('code') ?? '';
  afterNextReading(() => removeProjectMember(idctl.operator(), membership));
  const { body } = await idctl.client().form('/api/v1/oauth/token', {
    grant_type: 'authorization_code',
    redirect_uri: 'https://app.example.test/callback',
    client_id: app.clientId,
    client_secret: app.secret,
    code,
    code_verifier: checks.pkceCodeVerifier,
  });
  expect(body.error).toBe('invalid_grant');
  expect((await modelsOf(app.row.id)).toSorted()).toEqual(['AuthorizationCode', 'Grant']);
});
