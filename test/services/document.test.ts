import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { applyOrganization } from '../../src/services/provisioning/document/operations.ts';
import { assertDomain } from '../../src/services/tenancy/domains/operations.ts';
import { showSso } from '../../src/services/tenancy/sso/operations.ts';
import { fresh } from '../support/builders.ts';
import { apply, documents, exported, foundEmpty, plan, type Sent } from '../support/documents.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

/** The document as an export shows it: the client secret is `unchanged`. */
function keeping(document: Sent): Sent {
  const { sso } = document;
  return sso === null
    ? document
    : { ...document, sso: { ...Object(sso), clientSecret: { unchanged: true } } };
}

const runs = { numRuns: 10 };

test('a generated document that has been applied changes nothing when applied again, and the export equals it', async () => {
  const { slug, people } = await foundEmpty(idctl);
  const operator = () => idctl.operator();
  await fc.assert(
    fc.asyncProperty(documents(slug, people), async (document) => {
      await apply(operator(), slug, document, true);
      expect(await exported(operator(), slug)).toEqual(keeping(document));
      const again = await plan(operator(), slug, document, true);
      expect(again).toMatchObject({ changes: [], kept: [], losing: [], blocked: [] });
      const own = await plan(operator(), slug, await exported(operator(), slug), true);
      expect(own).toMatchObject({ changes: [], kept: [], losing: [], blocked: [] });
    }),
    runs,
  );
}, 240_000);

test('if one plan is applied twice at once, one apply succeeds and the other is refused as outdated', async () => {
  const { slug, people } = await foundEmpty(idctl);
  const [first = '', second = ''] = people;
  const members = [{ email: first, role: 'owner' }];
  await apply(idctl.operator(), slug, { idctl: 1, members });
  const document = { idctl: 1, members: [...members, { email: second, role: 'admin' }] };
  const { digest } = await plan(idctl.operator(), slug, document);
  const given = { org: slug, document, prune: false, digest };
  const both = await Promise.allSettled(
    [1, 2].map(() => applyOrganization(idctl.operator(), applyOrganization.input.parse(given))),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'plan_outdated', kind: 'conflict' },
  });
});

test('an apply is refused as outdated if its document, prune or a secret differs from the plan', async () => {
  const { slug } = await foundEmpty(idctl, 0);
  const project = { slug: 'web', name: 'Web' };
  const document = { idctl: 1, projects: [project] };
  const { digest } = await plan(idctl.operator(), slug, document);
  for (const other of [
    { document: { idctl: 1, projects: [{ ...project, name: 'Other' }] } },
    { prune: true },
  ]) {
    const given = applyOrganization.input.parse({ org: slug, document, digest, ...other });
    await expect(applyOrganization(idctl.operator(), given)).rejects.toMatchObject({
      code: 'plan_outdated',
    });
  }
  const secret = (value: string) => ({ idctl: 1, sso: { ...connection, clientSecret: { value } } });
  const planned = await plan(idctl.operator(), slug, secret('one'));
  const given = { org: slug, document: secret('two'), digest: planned.digest };
  await expect(
    applyOrganization(idctl.operator(), applyOrganization.input.parse(given)),
  ).rejects.toMatchObject({ code: 'plan_outdated' });
  expect(await exported(idctl.operator(), slug)).toMatchObject({ projects: [], sso: null });
});

const connection = {
  emailDomain: 'acme.test',
  issuer: 'https://idp.test',
  clientId: 'c',
  enabled: true,
};

test('a connection for an unverified domain is saved disabled and listed as blocked, until the domain is verified', async () => {
  const { slug } = await foundEmpty(idctl, 0);
  const domain = `${fresh('d')}.test`;
  const sso = { ...connection, emailDomain: domain, clientSecret: { value: 's' } };
  const document = { idctl: 1, domains: [{ domain }], sso };
  const first = await apply(idctl.operator(), slug, document);
  expect(first).toMatchObject({
    applied: true,
    changes: [{ section: 'domains' }, { section: 'sso', action: 'add' }],
    blocked: [{ section: 'sso', code: 'domain_unverified' }],
  });
  expect(await showSso(idctl.operator(), { org: slug })).toMatchObject({ enabled: false });
  const waiting = await plan(idctl.operator(), slug, document);
  expect(waiting).toMatchObject({ changes: [], blocked: [{ section: 'sso' }] });
  await assertDomain(idctl.operator(), { org: slug, domain });
  const second = await apply(idctl.operator(), slug, document);
  expect(second).toMatchObject({
    changes: [{ section: 'sso', fields: [{ field: 'enabled', from: false, to: true }] }],
    blocked: [],
  });
  expect(await showSso(idctl.operator(), { org: slug })).toMatchObject({ enabled: true });
});

test('entries that the document does not list are kept, or removed with prune', async () => {
  const { slug, people } = await foundEmpty(idctl);
  const [owner = '', other = ''] = people;
  const whole = {
    idctl: 1,
    domains: [{ domain: `${fresh('d')}.test` }],
    projects: [
      { slug: 'app', name: 'App', members: [{ email: other, role: 'admin' }] },
      { slug: 'web', name: 'Web', members: [{ email: other, role: 'member' }] },
    ],
    mappings: [
      { group: 'dev', project: 'web', role: 'member' },
      { group: 'it', orgRole: 'admin' },
    ],
    members: [
      { email: owner, role: 'owner' },
      { email: other, role: 'admin' },
    ],
    sso: { ...connection, enabled: false, emailDomain: 'a.test', clientSecret: { value: 's' } },
  };
  await apply(idctl.operator(), slug, whole);
  expect((await plan(idctl.operator(), slug, whole)).changes).toEqual([]);
  expect((await exported(idctl.operator(), slug))['mappings']).toEqual([
    whole.mappings[1],
    whole.mappings[0],
  ]);
  const little = {
    idctl: 1,
    domains: [],
    projects: [{ slug: 'web', name: 'Web', members: [] }],
    mappings: [],
    members: [{ email: owner, role: 'owner' }],
    sso: null,
  };
  const kept = await apply(idctl.operator(), slug, little);
  expect(kept.changes).toEqual([]);
  expect(kept.losing).toEqual([]);
  expect(kept.kept).toHaveLength(7);
  const pruned = await apply(idctl.operator(), slug, little, true);
  expect(pruned.kept).toEqual([]);
  expect(pruned.losing).toEqual([
    { email: other, from: 'admin', to: null },
    { email: other, project: 'app', from: 'admin', to: null },
    { email: other, project: 'web', from: 'member', to: null },
  ]);
  expect(await exported(idctl.operator(), slug)).toMatchObject(little);
});
