import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { directOf, runDirectly } from '../../src/database/direct.ts';
import { Project } from '../../src/database/models/project.ts';
import { ProjectMembership } from '../../src/database/models/project-membership.ts';
import { servedDatabase } from '../../src/database/select.ts';
import { transaction } from '../../src/database/transaction.ts';
import { organization, signedIn } from '../support/builders.ts';
import { fillCap } from '../support/capped.ts';
import { type Idctl, openIdctl } from '../support/idctl.ts';
import { open } from '../support/pages.ts';

// The pages of a person in many projects do not read them all (security O15).

let idctl: Idctl;
let read = 0;
beforeAll(async () => {
  idctl = await openIdctl();
  const database = servedDatabase();
  const direct = directOf(database);
  runDirectly(database, {
    ...direct,
    read: async (...statement) => {
      const rows = await direct.read(...statement);
      read += rows.length;
      return rows;
    },
  });
  database.addHook('afterFind', (found) => {
    read += Array.isArray(found) ? found.length : 1;
  });
});
afterAll(() => idctl.close());

const count = 620;

/** An organization whose owner is in all of its many projects. */
async function busy() {
  const org = await organization(idctl);
  await fillCap('projects', org.id, count);
  const projects = await Project.findAll({ where: { organizationId: org.id } });
  const more = { accountId: org.owner.id, role: 'member' as const, joinedAt: new Date() };
  const origin = { kind: 'mapping' as const, group: 'Developers' };
  await transaction(() =>
    ProjectMembership.bulkCreate(
      projects.map(({ id: projectId }) => ({ ...more, projectId, origin, synced: true })),
    ),
  );
  return { org, client: await signedIn(idctl, org.owner.email) };
}

describe('O15 a person in many projects', () => {
  test.each([
    ['the people page', '/people', 0, null],
    ['the page of an organization', '', 50, 'and 570 more'],
  ])('O15 %s does not read all projects of the person', async (_, path, shown, more) => {
    const { org, client } = await busy();
    read = 0;
    const { body, text } = await open(client, `/orgs/${org.slug}${path}`);
    expect(String(body).match(/<strong>(<a [^>]*>)?p\d+</g) ?? []).toHaveLength(shown);
    if (more !== null) expect(text).toContain(more);
    expect(read).toBeLessThan(150);
  });

  test('O15 the account page shows and reads twenty projects of an organization', async () => {
    const { client } = await busy();
    read = 0;
    const { text } = await open(client, '/');
    const [listed = ''] = /Projects: .* more/.exec(text) ?? [];
    expect(listed.match(/p\d+ \(member, from the group Developers\)/g)).toHaveLength(20);
    expect(listed).toContain('and 600 more');
    expect(read).toBeLessThan(150);
  });

  test('O15 an export reads all projects, at most 500 with one query', async () => {
    const { client } = await busy();
    const sizes: number[] = [];
    servedDatabase().addHook('afterFind', (found) => {
      if (Array.isArray(found)) sizes.push(found.length);
    });
    const { status, body } = await client.get('/api/v1/me/export');
    const names = new Set(
      body.projectMemberships.map((each: { project: { slug: string } }) => each.project.slug),
    );
    expect([status, names.size]).toEqual([200, count]);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(501);
  });
});
