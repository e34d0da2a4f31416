import { afterAll, beforeAll, expect, test } from 'vitest';
import { requireAuthority } from '../../src/services/foundation/authority/require.ts';
import { collectOutside } from '../../src/services/provisioning/document/collect.ts';
import { sentDocument } from '../../src/services/provisioning/document/schema.ts';
import { readOrganizationState } from '../../src/services/provisioning/document/state.ts';
import { addMapping } from '../../src/services/provisioning/mappings/operations.ts';
import { createProject } from '../../src/services/tenancy/projects/operations.ts';
import { plan } from '../support/documents.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { scimClient } from '../support/scim-client.ts';

let idctl: Idctl;
beforeAll(async () => {
  idctl = await openIdctl();
});
afterAll(() => idctl.close());

test('a plan with prune lists the people who lose a role of a SCIM group, and reads only the mapped groups of these people', async () => {
  const client = await scimClient(idctl);
  const org = client.org.slug;
  const operator = idctl.operator();
  await createProject(operator, { org, name: 'Web', slug: 'web' });
  await addMapping(operator, { org, group: 'dev', project: 'web', role: 'admin' });
  await addMapping(operator, { org, group: 'it', orgRole: 'admin' });
  await addMapping(operator, { org, group: 'kept', project: 'web', role: 'member' });
  const person = async (name: string): Promise<{ value: string }> => {
    return { value: (await client.create({ userName: `${name}@${org}.test` })).id };
  };
  const [ada, ben, eve] = [await person('ada'), await person('ben'), await person('eve')];
  const groups = { dev: [ada], it: [ben], kept: [ada, eve], added: [ada, ben, eve], other: [ada] };
  for (const [displayName, members] of Object.entries(groups))
    await client.send('POST', '/Groups', { displayName, externalId: `${displayName}-1`, members });

  const mappings = [
    { group: 'kept', project: 'web', role: 'member' },
    { group: 'added', project: 'web', role: 'viewer' },
    { group: 'added-1', project: 'web', role: 'viewer' },
  ];
  const document = { idctl: 1, mappings };
  expect((await plan(operator, org, document, true)).losing).toEqual([
    { email: `ada@${org}.test`, project: 'web', from: 'admin', to: 'member' },
    { email: `ben@${org}.test`, from: 'admin', to: 'member' },
  ]);
  const { organization } = await requireAuthority(operator, 'document.see', org);
  const state = await readOrganizationState(operator, organization);
  const read = async (given: object, prune = true) =>
    (
      await collectOutside(operator, organization, {
        state,
        document: sentDocument.parse({ idctl: 1, ...given }),
        prune,
      })
    ).pushed;
  const emails = new Map(state.members.map(({ accountId, email }) => [accountId, email]));
  const told = Object.fromEntries(
    [...(await read(document))].map(([id, names]) => [emails.get(id), names.toSorted()]),
  );
  expect(told).toEqual({
    [`ada@${org}.test`]: ['added', 'added-1', 'kept'],
    [`ben@${org}.test`]: ['added', 'added-1'],
  });
  expect((await read(document, false)).size + (await read({})).size).toBe(0);
});
